"""The command of the shell that fine-tunes."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from explorer.errors import UnsuitableText
from explorer.shell import JsonOption, find_model
from explorer.terminal_tuning import describe_outcome, describe_step
from explorer.training.tuning.recipe import LOSSES, METHODS, TASKS, Recipe
from explorer.training.tuning.suits import fit_recipe

if TYPE_CHECKING:
    from explorer.training.tuning.examples import ExampleSet
    from explorer.training.tuning.results import TrainingStep

ALIASES = {"MiniLM": "all-MiniLM-L6-v2"}  # short names of models to start from
PLAIN = Recipe()


def fine_tune(
    task: Annotated[str, typer.Option(help=f"One of: {', '.join(TASKS)}.")] = PLAIN.task,
    model: Annotated[
        str, typer.Option("--model", "-m", help="A model of the catalogue, a Hub id, or a folder; MiniLM for short.")
    ] = "MiniLM",
    train: Annotated[
        Path | None, typer.Option(help="A csv, tsv, json or jsonl file of examples.", show_default="our own small set")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="A file of examples to measure on.", show_default="a part of the others")
    ] = None,
    scored: Annotated[
        bool, typer.Option("--scored", help="similarity without --train: our pairs with scores, not our triplets.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="What a column is, such as text=review or label=stars; for columns that are guessed wrongly."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help=f"How much moves: {', '.join(METHODS)}.")] = PLAIN.method,
    examples: Annotated[int, typer.Option(min=0, help="Learn from so many only; 0 = all.")] = 0,
    epochs: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            help="How often every example is seen.",
            show_default="3; 20 for tags, 8 for answers and whatever an encoder-decoder writes",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Examples per step.")] = PLAIN.batch_size,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Peak.",
            show_default="1e-3 where the weights rest, else 1e-4; 3e-4 where epochs are 8 or 20; 2e-3 for lora on tags "
            "and answers; for similarity 2e-5, with lora 3e-4",
        ),
    ] = None,
    length: Annotated[int, typer.Option(min=4, help="Longer texts are cut, in tokens.")] = PLAIN.length_tokens,
    evaluations: Annotated[int, typer.Option(min=0, help="How often to measure on held-out examples.")] = (
        PLAIN.evaluations
    ),
    patience: Annotated[
        int, typer.Option(min=0, help="Stop after so many measurements without a better loss; 0 = never.")
    ] = PLAIN.patience,
    lora_rank: Annotated[int, typer.Option(min=1, help="lora: rank of the matrices.")] = PLAIN.lora_rank,
    auxiliary_weight: Annotated[
        float, typer.Option(min=0, help="Causal models: weight of the language modelling loss.")
    ] = PLAIN.auxiliary_weight,
    similarity_loss: Annotated[str, typer.Option(help=f"similarity: {', '.join(LOSSES)}.")] = (PLAIN.similarity_loss),
    prefix: Annotated[
        str | None,
        typer.Option(
            help='Encoder-decoders: read before each text, such as "summarize: ".',
            show_default='"classify: " for classes that are written, else nothing',
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same order, dropout and new weights.")] = 0,
    folder: Annotated[
        Path | None, typer.Option(help="For checkpoints, from which the same command goes on, and the tuned model.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fine-tune a model on labelled examples, and measure it on held-out ones."""
    named = ((task, TASKS, "--task"), (method, METHODS, "--method"), (similarity_loss, LOSSES, "--similarity-loss"))
    for value, known, what in named:
        if value not in known:
            raise typer.BadParameter(f"{what} {value!r} is not one of: {', '.join(known)}")
    registry, name = find_model(ALIASES.get(model, model))
    wanted = {
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate or None,
        "length_tokens": length,
        "evaluations": evaluations,
        "patience": patience,
        "lora_rank": lora_rank,
        "auxiliary_weight": auxiliary_weight,
        "similarity_loss": similarity_loss,
        "prefix": prefix,
        "seed": seed,
    }
    recipe = fit_recipe(task, method, registry.card(name).abilities, wanted)
    given = read_examples(task, train, test, column or [], examples, recipe, scored=scored)

    from explorer.training.tuning.fine_tuning import fine_tune

    steps = registry.stream(name, partial(fine_tune, examples=given, recipe=recipe, folder=folder))
    for number in (signal.SIGINT, signal.SIGTERM):  # background jobs of a shell ignore SIGINT by default
        signal.signal(number, signal.default_int_handler)
    try:
        (print_steps if as_json else show_steps)(steps)
    except KeyboardInterrupt:
        steps.close()  # writes the checkpoint
        if folder is not None:
            typer.echo(f"Stopped. The same command goes on from the last checkpoint in {folder}.", err=True)
        raise
    if folder is not None:
        from explorer.training.tuning.bases import put_base

        put_base(folder / "model", lambda base: (registry, name))


def read_examples(
    task: str,
    train: Path | None,
    test: Path | None,
    columns: list[str],
    count: int,
    recipe: Recipe,
    *,
    scored: bool = False,
) -> ExampleSet:
    """What to learn from and what to measure on; the latter does not depend on how many are learnt from.

    Raises:
        UnsuitableText: A file cannot be read, or has no such column; or both a file and our scored pairs are asked for.
        UnsuitableCorpus: There are too few examples.
    """
    from explorer.training.tuning.own import own_examples
    from explorer.training.tuning.reading import guess_columns, make_examples, read_table
    from explorer.training.tuning.sampling import choose_examples, split_examples

    chosen = dict(read_column(text) for text in columns)

    def read(path: Path) -> ExampleSet:
        table = read_table(path, task=task)
        return make_examples(table, task, {**guess_columns(table, task), **chosen})

    if scored and train is not None:
        raise UnsuitableText("--scored is our own set: leave it out where --train says what is learned.")
    given = own_examples(task, scored=scored) if train is None else read(train)
    if test is not None:
        from explorer.training.tuning.making import with_held_out

        given = with_held_out(given, read(test))
    given = split_examples(given, recipe.held_out_share, seed=recipe.seed)
    return choose_examples(given, count, seed=recipe.seed)


def read_column(text: str) -> tuple[str, str]:
    """Read `ROLE=NAME`.

    Raises:
        UnsuitableText: There is no = in it.
    """
    role, sign, name = text.partition("=")
    if not sign:
        raise UnsuitableText(f"--column {text!r}: say what the column is, such as text={text}.")
    return role, name


def print_steps(steps: Iterator[TrainingStep]) -> None:
    """One JSON object a line; the last has the scores, and the outcome beside them."""
    from explorer.analysis.exporting import to_json

    for step in steps:
        line = to_json(step)
        outcome = line.pop("outcome")
        if outcome is not None:
            line = {**outcome["scores"], **line, "outcome": outcome}
        typer.echo(json.dumps(line, ensure_ascii=False))


def show_steps(steps: Iterator[TrainingStep]) -> None:
    """A bar while it works, then what came of it."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task("reading the examples", total=1.0)
        measured = ""
        for step in steps:
            measured = describe_step(step) or measured
            loss = "" if step.loss is None else f" · loss {step.loss:.3f}"
            bar.update(row, completed=step.step, total=step.steps, description=f"{step.phase}{loss}{measured}")
    typer.echo(describe_outcome(step.outcome))


COMMANDS = (fine_tune,)
