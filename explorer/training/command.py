"""`explorer pretrain OBJECTIVE --start MODEL --corpus FILE … --minutes N`."""

import json
import math
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from explorer.errors import UnsuitableCorpus

OBJECTIVES = ("masked",)
COMMON_TOKENS = 300  # the most frequent tokens are never called repeated by the unlikelihood term
SHORTEST_TOKENS = 8  # shorter sequences hold hardly anything but the two special tokens


def pretrain(
    objective: Annotated[str, typer.Argument(help=f"What to predict: {', '.join(OBJECTIVES)}.")],
    corpus: Annotated[
        list[str], typer.Option(help="A text file (.txt or .txt.xz), optionally with its share: wiki.txt.xz=0.7.")
    ],
    start: Annotated[str, typer.Option(help="Published weights (MiniLM) or a saved model folder.")] = "MiniLM",
    minutes: Annotated[float, typer.Option(min=0, help="Training time; 0 = no limit.")] = 0.0,
    tokens: Annotated[int, typer.Option(min=0, help="Tokens to train on; 0 = no limit.")] = 0,
    folder: Annotated[Path, typer.Option(help="Checkpoint, log and result; a run is resumed if it is there.")] = Path(
        "runs/masked"
    ),
    learning_rate: Annotated[float, typer.Option(min=0, help="Peak learning rate of the layers.")] = 6e-4,
    unlikelihood: Annotated[
        float, typer.Option(min=0, help="Weight of the penalty on repeating words at the start.")
    ] = 0.5,
    share: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of the tokens to predict.")] = 0.25,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per step.")] = 8192,
    lengths: Annotated[str, typer.Option(help="Sequence lengths in tokens, separated by commas.")] = "64,128",
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same masks and order.")] = 0,
) -> None:
    """Continue pre-training a model, and write what that adds to its published weights."""
    if objective not in OBJECTIVES:
        raise typer.BadParameter(f"{objective!r} is not one of: {', '.join(OBJECTIVES)}")
    if not (minutes or tokens):
        raise typer.BadParameter("Say how long to train: --minutes or --tokens.")
    paths, shares = zip(*(read_share(text) for text in corpus), strict=True)
    lengths_tokens = read_lengths(lengths)

    import torch
    from transformers.utils.logging import disable_progress_bar

    from explorer.errors import UnsuitableModel
    from explorer.models.delta import write_delta
    from explorer.models.limits import limit_tokens
    from explorer.models.memory import choose_device
    from explorer.settings import settings
    from explorer.training.corpus import load_corpus
    from explorer.training.masked import MaskedObjective
    from explorer.training.pretraining import Plan, TrainingStep
    from explorer.training.pretraining import pretrain as run
    from explorer.training.reporting import report_masked
    from explorer.training.starting import STARTS, published_weights, start_masked
    from explorer.training.windows import WindowSampler
    from explorer.training.writing import writing_to

    disable_progress_bar()  # of reading and writing files; there is one of our own
    network, tokenizer = start_masked(start, seed=seed)
    if max(lengths_tokens) > (limit := limit_tokens(network, tokenizer)):
        raise UnsuitableModel(f"{start} reads at most {limit} tokens at once; choose shorter --lengths.")
    network.to(choose_device(settings().device))
    typer.echo("Reading the corpus …", err=True)
    text = load_corpus(paths, tokenizer, folder / "tokens")
    edges = {"before": [tokenizer.cls_token_id], "after": [tokenizer.sep_token_id]}
    sampler = WindowSampler(text.train, shares, seed=seed, **edges)
    plan = Plan(
        minutes=minutes,
        tokens=tokens,
        batch_tokens=batch_tokens,
        lengths_tokens=lengths_tokens,
        learning_rate=learning_rate,
        seed=seed,
    )
    common = torch.as_tensor(text.most_frequent_ids(COMMON_TOKENS))
    task = MaskedObjective(network, tokenizer, share=share, unlikelihood=unlikelihood, common_ids=common)
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task("starting", total=1.0)

        def show(step: TrainingStep) -> None:
            done = plan.share_done(step.seconds, step.tokens)
            words = f"loss {step.loss_nats:.3f} · {step.tokens:,} tokens · {step.tokens_per_second:,.0f} tokens/s"
            bar.update(row, completed=done, description=words)

        try:
            for number in (signal.SIGINT, signal.SIGTERM):  # background jobs of a shell ignore SIGINT by default
                signal.signal(number, signal.default_int_handler)
            step = run(task, sampler, plan, folder, show)
        except KeyboardInterrupt as stop:
            note = "".join(f" {note}" for note in getattr(stop, "__notes__", ()))
            typer.echo(f"Stopped. The same command goes on from the last checkpoint in {folder}.{note}", err=True)
            raise
    with writing_to(folder):
        network.save_pretrained(folder / "model")
        tokenizer.save_pretrained(folder / "model")
        if start in STARTS:
            size = write_delta(network, published_weights(start)[1], folder / "delta")
            typer.echo(f"What training added: {folder / 'delta'} ({size / 1e6:.1f} MB)")
    reports = report_masked(network, tokenizer, text, length_tokens=max(lengths_tokens))
    summary = {"step": asdict(step), "held_out": [asdict(report) for report in reports]}
    with writing_to(folder):
        (folder / "report.json").write_text(json.dumps(summary, indent=2), encoding="utf-8")
    for report in reports:
        typer.echo(
            f"{report.corpus}, held out, {report.masked_as}, {report.length_tokens} tokens: "
            f"loss {report.loss_nats:.3f} nats, top-1 {report.top1:.1%}, top-5 {report.top5:.1%} (n={report.picked:,})"
        )
    for name in sorted(set(text.names) - {report.corpus for report in reports}):
        typer.echo(f"{name}: no held-out document has {max(lengths_tokens)} tokens in a row, so nothing was measured.")


def read_share(text: str) -> tuple[Path, float]:
    """Read `FILE` or `FILE=SHARE`.

    Raises:
        UnsuitableCorpus: The share is not a positive number.
    """
    if "=" not in text or Path(text).exists():
        return Path(text), 1.0
    name, _, share = text.rpartition("=")
    try:
        value = float(share)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise UnsuitableCorpus(f"{text!r}: the share after = is a positive number, such as {name}=0.7.")
    return Path(name), value


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
