"""The command of the shell that searches a corpus for a word."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorer import terminal_embeddings
from explorer.embedding_commands import FormOption, LayersOption, PiecesOption
from explorer.models.catalogue import VECTOR_MODEL
from explorer.shell import JsonOption, ModelOption, find_model, print_result

if TYPE_CHECKING:
    from explorer.analysis.corpus_results import CorpusProgress

STAGES = {"checking": "looking at the file", "waiting": "waiting for the same search elsewhere"}


def search_corpus(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word, or several in a row.")],
    corpus: Annotated[
        Path, typer.Option("--corpus", "-c", help="A text file of any size, or one in gzip or xz; a sentence a line.")
    ],
    model: ModelOption = VECTOR_MODEL,
    sample: Annotated[int, typer.Option(help="Most uses; of more, as many are drawn at random.")] = 2_000,
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0,
    layer: LayersOption = None,
    pieces: PiecesOption = "mean",
    form: FormOption = None,
    use: Annotated[int, typer.Option(help="List the uses nearest to this one, counted from 0.")] = -1,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Search a corpus for a word and embed its uses; what was computed is kept, and a search that was stopped goes on.

    Stop it with Ctrl-C. The vectors are in a NumPy file whose path is told; --use shows neighbours in the last layer
    asked for.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from explorer.analysis.corpus_jobs import search_corpus
    from explorer.analysis.corpus_results import CorpusOccurrences, CorpusProgress

    registry, model = find_model(model)
    options = {"forms": form or (), "sample": sample, "seed": seed, "layers": layer, "pieces": pieces}
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    found: CorpusOccurrences | None = None
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal) as progress:
        task, stage = progress.add_task("looking at the file", total=1.0), ""
        for event in search_corpus(partial(registry.run, model), registry.card(model), corpus, word, **options):
            if isinstance(event, CorpusProgress):
                if event.stage != stage:  # the time left is that of the stage
                    stage = event.stage
                    progress.reset(task, total=1.0)
                progress.update(task, completed=event.share, description=_describe(event))
            else:
                found = event
    assert found is not None
    if use < 0:
        print_result(found, as_json, terminal_embeddings.describe_corpus)
        return
    from explorer.analysis.neighbours import find_near_uses, prepare_points
    from explorer.analysis.vectors import choose_vectors, describe_vectors

    uses, last = found.occurrences, found.layers[-1]
    points = prepare_points(choose_vectors(uses, layer=last))
    near = find_near_uses(uses, points, use=use, vector=describe_vectors(uses, layer=last), k=k)
    print_result(near, as_json, terminal_embeddings.describe_near_uses)


def _describe(event: CorpusProgress) -> str:
    if event.stage in STAGES:
        return STAGES[event.stage]
    if event.stage == "reading":
        return f"{event.sentences:,} lines read, {event.uses:,} uses"
    return f"{event.embedded:,} of {event.wanted:,} uses embedded"


COMMANDS = (search_corpus,)
