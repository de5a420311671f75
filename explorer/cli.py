"""The same functions in a shell: `explorer fill-blanks "The cat ___ on the mat." --json`.

A command reads its arguments, runs one analysis and prints its result. torch is imported when an analysis runs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from explorer import terminal
from explorer.analysis.blanks import BLANK, check_fills_blanks
from explorer.errors import ExplorerError
from explorer.models.card import Ability
from explorer.settings import settings
from explorer.training.command import pretrain

if TYPE_CHECKING:
    from explorer.models import LoadedModel, ModelCard, Registry

Result = TypeVar("Result")

app = typer.Typer(
    name="explorer",
    help="Explore pre-trained language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT", help="A sentence with ___ where a word is missing; - reads standard input.")
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="A model of the catalogue, a Hub id, or a folder; see `explorer models`.")
]
TopKOption = Annotated[int, typer.Option(help="Choices per blank.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")]
DEFAULT_MODEL = "MiniLM (masked)"


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
    _print(_run(model, partial(fill_blanks, text=_read(text), **options)), as_json, terminal.describe_fills)


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

    analysis = partial(reveal_blanks, text=_read(text), strategy=strategy, top_k=top_k)
    _print(_run(model, analysis), as_json, terminal.describe_reveal)


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
    analysis = partial(rank_candidates, text=_read(text), candidates=named, top_k=top_k)
    _print(_run(model, analysis), as_json, terminal.describe_ranking)


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

    analysis = partial(contrast_texts, text=_read(text), other_text=_read(other_text), top_k=top_k, blank=blank)
    _print(_run(model, analysis), as_json, terminal.describe_contrast)


@app.command()
def tokenize(text: TextArgument, model: ModelOption = DEFAULT_MODEL, as_json: JsonOption = False) -> None:
    """Show how a model's tokenizer cuts a text."""
    from explorer.analysis import tokenize_text

    analysis = partial(tokenize_text, text=_read(text))
    _print(_run(model, analysis, needs_masked_head=False), as_json, terminal.describe_tokens)


@app.command()
def models(
    ability: Annotated[Ability | None, typer.Option(help="Only models that can do this.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the models on offer, in teaching order."""
    cards = [card for card in _open_registry().cards() if ability is None or ability in card.abilities]
    _print(cards, as_json, terminal.describe_cards)


app.command()(pretrain)


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


def _open_registry() -> Registry:
    from explorer import open_registry

    return open_registry()


def _run(model: str, analysis: Callable[[LoadedModel], Result], *, needs_masked_head: bool = True) -> Result:
    registry = _open_registry()
    if model not in registry.names() and ("/" in model or Path(model).is_dir()):
        card = _card_of_visitor(model)
        registry, model = registry.with_card(card), card.name
    if needs_masked_head:
        check_fills_blanks(registry.card(model), BLANK)
    if sys.stderr.isatty():
        typer.echo(f"Asking {model} …", err=True)
    return registry.run(model, analysis)


def _card_of_visitor(named: str) -> ModelCard:
    """The card of a Hub id, or of any folder: who has a shell here may read its files anyway."""
    from explorer.models.visitor_card import visitor_card

    folder = Path(named).resolve()
    if not folder.is_dir():
        return visitor_card(named)
    os.environ["EXPLORER_LOCAL_MODELS"] = str(folder.parent)
    settings.cache_clear()
    return visitor_card(str(folder))


def _read(text: str) -> str:
    return sys.stdin.read().rstrip("\r\n") if text == "-" else text


def _print(result: Result, as_json: bool, describe: Callable[[Result], str]) -> None:
    if as_json:
        from explorer.analysis.exporting import to_json

        typer.echo(json.dumps(to_json(result), ensure_ascii=False, indent=2))
    else:
        typer.echo(describe(result))
