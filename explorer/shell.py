"""What the commands of the shell share: their arguments, running an analysis, printing its result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from explorer.analysis.blanks import BLANK, check_fills_blanks
from explorer.settings import settings
from explorer.training.jobs.naming import find_tuned
from explorer.training.jobs.places import jobs_folder
from explorer.training.jobs.shelf import Shelf

if TYPE_CHECKING:
    from explorer.models import LoadedModel, ModelCard, Registry

Result = TypeVar("Result")

TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT", help="A sentence with ___ where a word is missing; - reads standard input.")
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="A model of the catalogue, a Hub id, or a folder; see `explorer models`.")
]
TopKOption = Annotated[int, typer.Option(help="Choices per blank.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")]


def open_registry() -> Registry:
    """The catalogue on this machine."""
    from explorer import open_registry

    return open_registry()


def run(model: str, analysis: Callable[[LoadedModel], Result], *, needs_masked_head: bool = True) -> Result:
    """Send an analysis to a model.

    Args:
        model: A name of the catalogue, a Hub id, or a folder.
        analysis: What to compute.
        needs_masked_head: Whether to refuse, before anything is loaded, a model that fills no blanks.
    """
    registry, model = find_model(model)
    if needs_masked_head:
        check_fills_blanks(registry.card(model), BLANK)
    return registry.run(model, analysis)


def find_model(model: str) -> tuple[Registry, str]:
    """Where a model is, and its name there."""
    registry = open_registry()
    if found := find_tuned(registry, Shelf(jobs_folder()), model):
        registry, model = found
    elif model not in registry.names() and ("/" in model or Path(model).is_dir()):
        card = _card_of_visitor(model)
        registry, model = registry.with_card(card), card.name
    if sys.stderr.isatty():
        typer.echo(f"Asking {model} …", err=True)
    return registry, model


def _card_of_visitor(named: str) -> ModelCard:
    """The card of a Hub id, or of any folder: who has a shell here may read its files anyway."""
    from explorer.models.visitor_card import visitor_card

    folder = Path(named).resolve()
    if not folder.is_dir():
        return visitor_card(named)
    os.environ["EXPLORER_LOCAL_MODELS"] = str(folder.parent)
    settings.cache_clear()
    return visitor_card(str(folder))


def read(text: str) -> str:
    """A text, or standard input where it is "-"."""
    return sys.stdin.read().rstrip("\r\n") if text == "-" else text


def print_result(result: Result, as_json: bool, describe: Callable[[Result], str]) -> None:
    """Print a result as text, or as JSON."""
    if as_json:
        from explorer.analysis.exporting import to_json

        typer.echo(json.dumps(to_json(result), ensure_ascii=False, indent=2))
    else:
        typer.echo(describe(result))
