"""One run of `explorer pretrain`: from corpus files to a saved model, what it adds to its start, and a report."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from explorer.errors import UnsuitableModel
from explorer.models.delta import write_delta
from explorer.models.limits import limit_tokens
from explorer.models.memory import choose_device
from explorer.settings import settings
from explorer.training.alignment import FITTED_ROWS, FITTED_TOKENS, align_cross_attention
from explorer.training.corpus import load_corpus
from explorer.training.network_files import save_network, save_tokenizer
from explorer.training.objectives import OBJECTIVES, Measured, make_objective, measure_held_out
from explorer.training.pretraining import CHECKPOINT, Plan, PretrainingStep, pretrain
from explorer.training.starting import Start, start_network
from explorer.training.streaming import find_corpus
from explorer.training.tracing import Tracer
from explorer.training.windows import WindowSampler
from explorer.training.workers import find_workers
from explorer.training.writing import writing_to

COMMON_TOKENS = 300  # the most frequent tokens are never called repeated by the unlikelihood term


@dataclass(frozen=True)
class Run:
    """What to train, on what, and for how long.

    Attributes:
        objective: A key of OBJECTIVES.
        start: Where the weights come from; see start_network.
        corpus: Files of text, or data sets; see find_corpus.
        shares: How much of the rows comes from each; parallel to corpus.
        folder: Checkpoint, log, trace and result; a run is resumed if it is there. Tokens are kept beside it.
        plan: How long and how hard.
        bits: Of each number of the weights to ship, 8 or 4.
        options: Of the objective: share, mean_span_tokens, unlikelihood, head_learning_rate; None = its default.
    """

    objective: str
    start: str
    corpus: tuple[str, ...]
    shares: tuple[float, ...]
    folder: Path
    plan: Plan
    bits: int
    options: dict[str, float | None]


@dataclass(frozen=True)
class Outcome:
    """What a run gave.

    Attributes:
        step: The last one.
        held_out: Numbers on documents that were kept apart.
        shipped_bytes: Size of the weights to ship.
        unmeasured: Files none of whose held-out documents has a whole row.
    """

    step: PretrainingStep
    held_out: tuple[Measured, ...]
    shipped_bytes: int
    unmeasured: tuple[str, ...]


def run_pretraining(run: Run, on_step: Callable[[PretrainingStep], None]) -> Outcome | None:
    """Train, save, measure.

    Args:
        run: What to do.
        on_step: Called after every step.

    Returns:
        What came of it; None in a process that only trains along.

    Raises:
        ExplorerError: What start_network, load_corpus and pretrain raise.
        UnsuitableModel: The sequences are longer than the model reads.
    """
    cache, plan = run.folder.parent / "tokens", run.plan
    paths = [find_corpus(name, cache) for name in run.corpus]
    start = start_network(run.objective, run.start, seed=plan.seed, corpus=paths, cache=cache)
    network, tokenizer = start.network, start.tokenizer
    longest = max(plan.lengths_tokens)
    if longest > (limit := limit_tokens(network, tokenizer)):
        raise UnsuitableModel(f"{run.start} reads at most {limit} tokens at once; choose shorter --lengths.")
    device = choose_device(settings().device)
    workers = find_workers(device)
    network.to(f"cuda:{workers.index}" if device == "cuda" and workers.count > 1 else device)
    text = load_corpus(paths, tokenizer, cache)
    options = {**run.options, "seed": plan.seed}
    if "common_ids" in OBJECTIVES[run.objective].options:
        options["common_ids"] = torch.as_tensor(text.most_frequent_ids(COMMON_TOKENS))
    task = make_objective(run.objective, network, tokenizer, **options)
    sampler = WindowSampler(
        text.train,
        run.shares,
        before=task.edges[0],
        after=task.edges[1],
        sentence_at=task.sentence_at,
        seed=plan.seed,
    )
    if start.is_attention_new and not (run.folder / CHECKPOINT).exists():
        text_only = WindowSampler(text.train, run.shares, seed=plan.seed)
        align_cross_attention(network, tokenizer, text_only.draw(FITTED_ROWS, min(FITTED_TOKENS, longest)))
    tracer = Tracer(run.objective, network, tokenizer, text, run.folder)

    def after_step(step: PretrainingStep) -> None:
        if workers.is_main:
            on_step(step)
            tracer.after_step(step)

    step = pretrain(task, sampler, plan, run.folder, after_step, workers)
    if not workers.is_main:
        return None
    tracer.finish(step)
    shipped_bytes = _save(start, run)
    held_out = measure_held_out(run.objective, network, tokenizer, text, length_tokens=longest)
    with writing_to(run.folder):
        summary = {"step": asdict(step), "held_out": [asdict(each) for each in held_out]}
        (run.folder / "report.json").write_text(json.dumps(summary, indent=2), encoding="utf-8")
    unmeasured = sorted(set(text.names) - {each.corpus for each in held_out})
    return Outcome(step, tuple(held_out), shipped_bytes, tuple(unmeasured))


def _save(start: Start, run: Run) -> int:
    """The whole model in `model`, and the weights to ship, with what is needed to read them, in `shipped`."""
    whole, shipped = run.folder / "model", run.folder / "shipped"
    with writing_to(run.folder):
        save_network(start.network, start.tokenizer, whole)
        size_bytes = write_delta(start.network, start.base, shipped, bits=run.bits)
        start.network.config.save_pretrained(shipped)
        save_tokenizer(start.tokenizer, shipped)
    return size_bytes
