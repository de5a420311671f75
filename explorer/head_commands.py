"""Commands of the shell about attention heads."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from explorer.analysis.head_measures import MEASURES
from explorer.errors import UnsuitableText
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.shell import JsonOption, ModelOption, find_model, print_result, read, run

SharesOption = Annotated[str, typer.Option("--measure", help=f"Sort by one of: {', '.join(MEASURES)}.")]
StackOption = Annotated[
    str | None,
    typer.Option(help="Whose heads: encoder, decoder or cross.", show_default="the first that the model has"),
]
SecondOption = Annotated[
    str, typer.Option(help="The second of a pair, what was written behind the text, or what a decoder reads.")
]
HeadsOption = Annotated[
    list[str] | None,
    typer.Option("--head", help="3-5 = head 5 of layer 3, 3 = all of layer 3, decoder-3-5 of a stack; repeatable."),
]


def measure_heads(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Any texts; - reads lines of standard input; none = a built-in set."),
    ] = None,
    model: ModelOption = DEFAULT_MODEL,
    measure: SharesOption = "previous",
    stack: StackOption = None,
    second_text: SecondOption = "",
    seed: Annotated[int, typer.Option(help="Of the random tokens that induction is scored on.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure every attention head, and name the patterns that heads follow."""
    from explorer import terminal_heads
    from explorer.analysis import measure_heads

    texts = [line for line in read("-").splitlines() if line.strip()] if text == ["-"] else text or ()
    if measure not in MEASURES:
        raise UnsuitableText(f"There is no measure {measure!r}. Choose one of: {', '.join(MEASURES)}.")
    analysis = partial(measure_heads, texts=texts, stack=stack, seed=seed, second_text=second_text)
    result = run(model, analysis, needs_masked_head=False)
    if measure not in result.values and not as_json:
        raise UnsuitableText(f"{MEASURES[measure].label}: {result.left_out[measure]} Choose another --measure.")
    print_result(result, as_json, partial(terminal_heads.describe_measures, measure=measure))


def match_relations(
    treebank: Annotated[
        Path | None,
        typer.Argument(help="A CoNLL-U file of Universal Dependencies; none = the explorer's own sentences."),
    ] = None,
    model: ModelOption = DEFAULT_MODEL,
    stack: StackOption = None,
    least_count: Annotated[int, typer.Option(help="Leave out relations with fewer words.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the heads that point from a word to the word it depends on."""
    from explorer import terminal_heads
    from explorer.analysis import match_relations
    from explorer.analysis.treebank import read_conllu

    given = {}
    if treebank is not None:
        try:
            sentences = read_conllu(treebank.read_text(encoding="utf-8").splitlines())
        except (OSError, ValueError) as error:
            raise UnsuitableText(f"{treebank} cannot be read as CoNLL-U: {error}") from error
        given = {"sentences": sentences, "source": treebank.name}
    analysis = partial(match_relations, stack=stack, least_count=least_count, **given)
    print_result(run(model, analysis, needs_masked_head=False), as_json, terminal_heads.describe_relations)


def ablate_heads(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Any text, ___ = a blank; - reads standard input.")],
    head: HeadsOption = None,
    model: ModelOption = DEFAULT_MODEL,
    second_text: SecondOption = "",
    all_but: Annotated[bool, typer.Option("--all-but", help="Switch off all heads but these.")] = False,
    top_k: Annotated[int, typer.Option(help="Tokens, before and after.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Switch attention heads off, and show what changes; without --head, rank all heads by what each changes."""
    from explorer import terminal_heads
    from explorer.analysis import ablate_heads, rank_heads

    text = read(text)
    if head or all_but:
        options = {"second_text": second_text, "all_but": all_but, "top_k": top_k}
        analysis = partial(ablate_heads, text=text, heads=head or (), **options)
        print_result(run(model, analysis, needs_masked_head=False), as_json, terminal_heads.describe_ablation)
        return
    registry, model = find_model(model)
    ranking = None
    for ranking in registry.stream(model, partial(rank_heads, text=text, second_text=second_text)):
        if sys.stderr.isatty():
            typer.echo(f"{ranking.done} of {ranking.head_count} heads", err=True)
    print_result(ranking, as_json, terminal_heads.describe_ranking)


COMMANDS = (measure_heads, match_relations, ablate_heads)
