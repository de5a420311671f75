"""Commands of the shell about next tokens, layers and scores."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from explorer import terminal_scores
from explorer.analysis.option_results import NORMALISATIONS
from explorer.analysis.scoring_results import PROTOCOLS
from explorer.models.catalogue import CAUSAL_MODEL
from explorer.shell import JsonOption, ModelOption, print_result, read, run

PromptArgument = Annotated[
    str, typer.Argument(metavar="PROMPT", help="The beginning of a text; - reads standard input.")
]
ScoredArgument = Annotated[str, typer.Argument(metavar="TEXT", help="A whole text; - reads standard input.")]
ProtocolOption = Annotated[str, typer.Option(help=f"Instead of the model's own: {', '.join(PROTOCOLS)}.")]


def next_tokens(
    prompt: PromptArgument,
    model: ModelOption = CAUSAL_MODEL,
    top_k: Annotated[int, typer.Option(help="How many tokens.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show what a causal model expects next."""
    from explorer.analysis import next_tokens

    analysis = partial(next_tokens, prompt=read(prompt), top_k=top_k)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal_scores.describe_next)


def read_layers(
    prompt: Annotated[
        str,
        typer.Argument(metavar="PROMPT", help="The beginning of a text; with ___ for a masked model; - reads stdin."),
    ],
    model: ModelOption = CAUSAL_MODEL,
    top_k: Annotated[int, typer.Option(help="Tokens of each layer.")] = 5,
    blank: Annotated[int, typer.Option(help="Of a masked model: which blank, counted from 1.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Show what each layer would say, were it the last (logit lens)."""
    from explorer.analysis import read_layers

    analysis = partial(read_layers, prompt=read(prompt), top_k=top_k, blank=blank)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal_scores.describe_layers)


def score_text(
    text: ScoredArgument,
    model: ModelOption = CAUSAL_MODEL,
    other_model: Annotated[str, typer.Option(help="A second model to compare with, word by word.")] = "",
    protocol: ProtocolOption = "",
    alternatives: Annotated[int, typer.Option(help="Of the likeliest tokens, how many stand beside each.")] = 3,
    as_json: JsonOption = False,
) -> None:
    """Show how expected a text is: surprisal of each token and word, perplexity."""
    from explorer.analysis import score_text
    from explorer.analysis.score_comparison import compare_scores

    text = read(text)
    score = run(model, partial(score_text, text=text, protocol=protocol, alternatives=alternatives),
                needs_masked_head=False)  # fmt: skip
    if not other_model:
        print_result(score, as_json, terminal_scores.describe_score)
        return
    other = run(other_model, partial(score_text, text=text, alternatives=alternatives), needs_masked_head=False)
    print_result(compare_scores(score, other), as_json, terminal_scores.describe_comparison)


def choose_option(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help='With {} where the option goes, or at its end; "" = whole sentences.')
    ],
    option: Annotated[list[str], typer.Option("--option", "-o", help="What to choose between; twice or more.")],
    model: ModelOption = CAUSAL_MODEL,
    normalise: Annotated[str, typer.Option(help=f"Rank by: {', '.join(NORMALISATIONS)}.")] = "sum",
    domain: Annotated[
        str, typer.Option(help="Of pmi: a neutral text; it ends as TEXT does behind {}, unless it has a {} of its own.")
    ] = "",
    protocol: ProtocolOption = "",
    as_json: JsonOption = False,
) -> None:
    """Choose the likeliest option, and show the sums behind it."""
    from explorer.analysis import choose_option

    options = {"options": option, "normalise": normalise, "domain": domain, "protocol": protocol}
    analysis = partial(choose_option, text=read(text), **options)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal_scores.describe_choice)


COMMANDS = (next_tokens, read_layers, score_text, choose_option)
