"""`explorer pretrain OBJECTIVE --start MODEL --corpus FILE … --minutes N`."""

import math
import signal
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from explorer.errors import UnsuitableCorpus

# The keys of objectives.OBJECTIVES, which would take torch seconds to bring here for a help text.
OBJECTIVES = ("masked", "masked+nsp", "causal", "span", "bilm", "replaced")
SHORTEST_TOKENS = 8  # shorter sequences hold hardly anything but the two special tokens


def pretrain(
    objective: Annotated[str, typer.Argument(help=f"What to predict: {', '.join(OBJECTIVES)}.")],
    corpus: Annotated[
        list[str],
        typer.Option(
            help="A text file (.txt or .txt.xz), or a data set of the Hub (hub:OWNER/NAME:CONFIG); "
            "optionally with its share: wiki.txt.xz=0.7."
        ),
    ],
    start: Annotated[
        str, typer.Option(help='Published weights (MiniLM), "nothing" for a small new model, or a saved model folder.')
    ] = "MiniLM",
    minutes: Annotated[float, typer.Option(min=0, help="Training time; 0 = no limit.")] = 0.0,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens to train on; 0 = no limit.")] = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Checkpoint, log and result; a run is resumed if it is there. Tokenized text is kept beside it.",
            show_default="runs/OBJECTIVE-START",
        ),
    ] = None,
    learning_rate: Annotated[float, typer.Option(min=0, help="Peak learning rate of the layers.")] = 6e-4,
    head_learning_rate: Annotated[
        float | None,
        typer.Option(min=0, help="Of norms, biases, embeddings and the head.", show_default="as the layers"),
    ] = None,
    unlikelihood: Annotated[
        float, typer.Option(min=0, help="masked: weight of the penalty on repeating words at the start.")
    ] = 0.5,
    share: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=0.9,
            help="masked, span, replaced: share of the tokens to predict.",
            show_default="0.25 masked, else 0.15",
        ),
    ] = None,
    mean_span: Annotated[float, typer.Option(min=1, help="span: mean length of a span, in tokens.")] = 3.0,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per step.")] = 8192,
    lengths: Annotated[str, typer.Option(help="Sequence lengths in tokens, separated by commas.")] = "64,128",
    short_first: Annotated[
        float, typer.Option(min=0, max=0.99, help="Share of the training during which all are of the shortest length.")
    ] = 0.0,
    bits: Annotated[int, typer.Option(help="Of each number of the weights to ship: 8 or 4.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same masks and order.")] = 0,
) -> None:
    """Pre-train a model, or go on with one, and write what that adds to its published weights."""
    if objective not in OBJECTIVES:
        raise typer.BadParameter(f"{objective!r} is not one of: {', '.join(OBJECTIVES)}")
    if not (minutes or tokens):
        raise typer.BadParameter("Say how long to train: --minutes or --tokens.")
    if bits not in (4, 8):
        raise typer.BadParameter("--bits is 8 or 4.")
    names, shares = zip(*(read_share(text) for text in corpus), strict=True)
    lengths_tokens = read_lengths(lengths)

    from transformers.utils.logging import disable_progress_bar

    from explorer.training.pretraining import Plan, PretrainingStep
    from explorer.training.run import Run, run_pretraining

    disable_progress_bar()  # of reading and writing files; there is one of our own
    run = Run(
        objective=objective,
        start=start,
        corpus=names,
        shares=shares,
        folder=folder or Path("runs") / f"{objective}-{Path(start).name}",
        plan=Plan(
            minutes=minutes,
            tokens=tokens,
            batch_tokens=batch_tokens,
            lengths_tokens=lengths_tokens,
            short_first=short_first,
            learning_rate=learning_rate,
            seed=seed,
        ),
        bits=bits,
        options={
            "share": share,
            "mean_span_tokens": mean_span,
            "unlikelihood": unlikelihood,
            "head_learning_rate": head_learning_rate,
        },
    )
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task("reading the corpus", total=1.0)

        def show(step: PretrainingStep) -> None:
            done = run.plan.share_done(step.seconds, step.tokens)
            words = f"loss {step.loss_nats:.3f} · {step.tokens:,} tokens · {step.tokens_per_second:,.0f} tokens/s"
            bar.update(row, completed=done, description=words)

        try:
            for number in (signal.SIGINT, signal.SIGTERM):  # background jobs of a shell ignore SIGINT by default
                signal.signal(number, signal.default_int_handler)
            outcome = run_pretraining(run, show)
        except KeyboardInterrupt as stop:
            note = "".join(f" {note}" for note in getattr(stop, "__notes__", ()))
            typer.echo(f"Stopped. The same command goes on from the last checkpoint in {run.folder}.{note}", err=True)
            raise
    if outcome is None:
        return  # another process of this run says it
    typer.echo(f"To ship: {run.folder / 'shipped'} (weights of {outcome.shipped_bytes / 1e6:.1f} MB)")
    for measured in outcome.held_out:
        typer.echo(measured)
    for name in outcome.unmeasured:
        typer.echo(f"{name}: no held-out document has {max(lengths_tokens)} tokens in a row, so nothing was measured.")


def read_share(text: str) -> tuple[str, float]:
    """Read `CORPUS` or `CORPUS=SHARE`.

    Raises:
        UnsuitableCorpus: The share is not a positive number.
    """
    if "=" not in text or Path(text).exists():
        return text, 1.0
    name, _, share = text.rpartition("=")
    try:
        value = float(share)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UnsuitableCorpus(f"{text!r}: the share after = is a positive number, such as {name}=0.7.")
    return name, value


def read_lengths(text: str) -> tuple[int, ...]:
    """Read sequence lengths in tokens, such as `64,128`.

    Raises:
        BadParameter: One is not a whole number, or too small.
    """
    try:
        lengths = tuple(int(length) for length in text.split(","))
    except ValueError:
        lengths = (0,)
    if min(lengths) < SHORTEST_TOKENS:
        raise typer.BadParameter(f"--lengths {text}: give whole numbers of at least {SHORTEST_TOKENS}, such as 64,128.")
    return lengths
