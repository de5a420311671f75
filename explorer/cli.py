"""The same functions in a shell: `explorer fill-blanks "The cat ___ on the mat." --json`.

A command reads its arguments, runs one analysis and prints its result. torch is imported when an analysis runs.
Those that write are in writing_commands.py, those about next tokens and scores in scoring_commands.py, those
about attention in attention_commands.py and head_commands.py, those about vectors in embedding_commands.py and
corpus_commands.py, those about anisotropy and similarity in anisotropy_commands.py, fine-tuning in
tuning_commands.py and job_commands.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from explorer import (
    anisotropy_commands,
    attention_commands,
    corpus_commands,
    embedding_commands,
    head_commands,
    job_commands,
    scoring_commands,
    terminal,
    tuning_commands,
    writing_commands,
)
from explorer.analysis.language_sampling import XLM_R_ALPHA
from explorer.analysis.language_sampling import sample_languages as list_shares
from explorer.analysis.objectives import NOISES, OBJECTIVE_CARDS, SHOWN_WITHOUT, TELLING, found_telling
from explorer.errors import ExplorerError
from explorer.models.card import Ability
from explorer.models.catalogue import DEFAULT_MODEL, SPAN_MODEL
from explorer.shell import JsonOption, ModelOption, TextArgument, TopKOption, open_registry, print_result, read, run
from explorer.training.command import pretrain

PlainArgument = Annotated[str, typer.Argument(metavar="TEXT", help="A text without blanks; - reads standard input.")]
SeedOption = Annotated[int, typer.Option(help="Of all random choices.")]
NoiseOption = Annotated[str, typer.Option(help=f"Of denoising: {', '.join(NOISES)}.")]
OtherTextOption = Annotated[str, typer.Option(help="Of next_sentence: the second sentence.")]

app = typer.Typer(
    name="explorer",
    help="Explore pre-trained language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def fill_blanks(
    text: TextArgument,
    model: ModelOption = DEFAULT_MODEL,
    top_k: TopKOption = 5,
    count: Annotated[int, typer.Option(help="How many ways to fill the whole text.")] = 5,
    strategy: Annotated[
        str,
        typer.Option(help="How blanks are filled together: independent, left_to_right, most_confident_first, joint."),
    ] = "joint",
    as_json: JsonOption = False,
) -> None:
    """Fill the blanks of a text, each by itself and all together."""
    from explorer.analysis import fill_blanks

    options = {"top_k": top_k, "count": count, "strategy": strategy}
    print_result(run(model, partial(fill_blanks, text=read(text), **options)), as_json, terminal.describe_fills)


@app.command()
def reveal_blanks(
    text: TextArgument,
    model: ModelOption = DEFAULT_MODEL,
    strategy: Annotated[
        str, typer.Option(help="Which blank comes next: left_to_right, most_confident_first.")
    ] = "most_confident_first",
    top_k: TopKOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Fill one blank at a time, and show how each fill changes what is expected at the rest."""
    from explorer.analysis import reveal_blanks

    analysis = partial(reveal_blanks, text=read(text), strategy=strategy, top_k=top_k)
    print_result(run(model, analysis), as_json, terminal.describe_reveal)


@app.command()
def rank_candidates(
    text: TextArgument,
    candidates: Annotated[
        list[str], typer.Option(help='Words for a blank, separated by commas; once per blank, "" for none.')
    ],
    model: ModelOption = DEFAULT_MODEL,
    top_k: Annotated[int, typer.Option(help="How many of the model's own choices stand beside them.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Rank your own words for each blank among the model's choices."""
    from explorer.analysis import rank_candidates

    named = [some.split(",") if some.strip() else [] for some in candidates]
    analysis = partial(rank_candidates, text=read(text), candidates=named, top_k=top_k)
    print_result(run(model, analysis), as_json, terminal.describe_ranking)


@app.command()
def contrast_texts(
    text: TextArgument,
    other_text: Annotated[str, typer.Argument(metavar="OTHER_TEXT", help="Another sentence with the blank.")],
    model: ModelOption = DEFAULT_MODEL,
    top_k: Annotated[int, typer.Option(help="How many words.")] = 20,
    blank: Annotated[int, typer.Option(help="Which blank of each sentence, counted from 1.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Compare what is expected in the same blank of two texts."""
    from explorer.analysis import contrast_texts

    analysis = partial(contrast_texts, text=read(text), other_text=read(other_text), top_k=top_k, blank=blank)
    print_result(run(model, analysis), as_json, terminal.describe_contrast)


@app.command()
def fill_spans(
    text: TextArgument,
    model: ModelOption = SPAN_MODEL,
    count: Annotated[int, typer.Option(help="Ways to fill each blank, and the whole text.")] = 5,
    most_tokens: Annotated[int, typer.Option(help="Longest span that an encoder-decoder may write.")] = 10,
    method: Annotated[str, typer.Option(help="How an encoder-decoder writes: beams, sampling.")] = "beams",
    seed: Annotated[int, typer.Option(help="Of the sampling.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Fill blanks with as many words as it takes: an encoder-decoder, a masked or a causal model."""
    from explorer.analysis import fill_spans

    options = {"count": count, "most_tokens": most_tokens, "method": method, "seed": seed}
    analysis = partial(fill_spans, text=read(text), **options)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal.describe_spans)


@app.command()
def compute_loss(
    text: PlainArgument,
    objective: Annotated[str, typer.Option("--objective", "-o", help=f"One of: {', '.join(OBJECTIVE_CARDS)}.")] = (
        "masked"
    ),
    model: ModelOption = DEFAULT_MODEL,
    seed: SeedOption = 0,
    noise: NoiseOption = "text_infilling",
    other_text: OtherTextOption = "",
    generator: Annotated[str, typer.Option(help="Of replaced: a masked model that draws the replacements.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a training example of a text as an objective does, and show what a model loses on it."""
    from explorer.analysis import compute_loss, draw_replacements

    text, drawn = read(text), None
    if generator:
        drawn = run(generator, partial(draw_replacements, text=text, seed=seed))
    options = {"objective": objective, "seed": seed, "noise": noise, "other_text": other_text}
    analysis = partial(compute_loss, text=text, replacements=drawn, **options)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal.describe_example)


@app.command()
def show_objective(
    text: PlainArgument,
    objective: Annotated[
        str, typer.Option("--objective", "-o", help=f"One of: {', '.join(sorted(SHOWN_WITHOUT))}.")
    ] = "next_sentence",
    model: ModelOption = DEFAULT_MODEL,
    seed: SeedOption = 0,
    noise: NoiseOption = "text_infilling",
    other_text: OtherTextOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a training example by a tokenizer alone, of an objective whose models are not at hand."""
    from explorer.analysis import show_objective

    options = {"objective": objective, "seed": seed, "noise": noise, "other_text": other_text}
    example = run(model, partial(show_objective, text=read(text), **options), needs_masked_head=False)
    print_result(example, as_json, terminal.describe_example)


@app.command()
def find_telling_example(
    text: PlainArgument,
    objective: Annotated[str, typer.Option("--objective", "-o", help=f"One of: {', '.join(TELLING)}.")] = "masked",
    model: ModelOption = DEFAULT_MODEL,
    seed: Annotated[int, typer.Option(help="After which to look.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Look for a seed whose training example shows what is special about an objective."""
    from explorer.analysis import find_telling_example

    ask = partial(find_telling_example, text=read(text), objective=objective, seed=seed)
    print_result(found_telling(run(model, ask), objective), as_json, terminal.describe_example)


@app.command()
def sample_languages(
    alpha: Annotated[float, typer.Option(help="1 = as often as there is text, 0 = all languages alike.")] = XLM_R_ALPHA,
    as_json: JsonOption = False,
) -> None:
    """Show how often XLM-R reads each language; no model is needed."""
    print_result(list_shares(alpha), as_json, terminal.describe_languages)


@app.command()
def tokenize(text: TextArgument, model: ModelOption = DEFAULT_MODEL, as_json: JsonOption = False) -> None:
    """Show how a model's tokenizer cuts a text."""
    from explorer.analysis import tokenize_text

    analysis = partial(tokenize_text, text=read(text))
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal.describe_tokens)


@app.command()
def models(
    ability: Annotated[Ability | None, typer.Option(help="Only models that can do this.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the models on offer, in teaching order."""
    cards = [card for card in open_registry().cards() if ability is None or ability in card.abilities]
    print_result(cards, as_json, terminal.describe_cards)


for command in (
    *writing_commands.COMMANDS,
    *scoring_commands.COMMANDS,
    *attention_commands.COMMANDS,
    *head_commands.COMMANDS,
    *embedding_commands.COMMANDS,
    *corpus_commands.COMMANDS,
    *anisotropy_commands.COMMANDS,
    *tuning_commands.COMMANDS,
    *job_commands.COMMANDS,
    pretrain,
):
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 = done, 1 = it cannot be done as asked, 2 = the command was not understood.

    Args:
        arguments: Instead of those of the process.
    """
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # its remarks on loading are not for this audience
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a character must not end the command
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(arguments, prog_name="explorer")
    except ExplorerError as error:
        typer.echo(f"explorer: {error}", err=True)
        sys.exit(1)
