"""Jobs of fine-tuning to draw: what a visitor named is hostile."""

from dataclasses import replace

from explorer.training.jobs.results import JobSpec, JobStatus, LoggedStep
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import BeforeAndAfter, Judged, Movement, Outcome, Run, TrainingStep

EVIL = "</script><b>"
STEPS = (
    TrainingStep("training", 5, 20, 0.5, 1.0, loss=1.2, examples_per_second=80.0, seconds_left=3.0),
    TrainingStep("training", 10, 20, 1.0, 2.0, loss=0.8, held_out_loss=0.7, score=0.6),
    TrainingStep("training", 15, 20, 1.5, 3.0, loss=0.4, held_out_loss=0.5, score=0.8),
    TrainingStep("done", 20, 20, 2.0, 4.0, loss=0.2, held_out_loss=0.9, score=0.75),
)
OUTCOME = Outcome(
    scores={"accuracy": 0.75, "macro_f1": 0.7},
    baselines={"most frequent class": 0.5, "logistic regression on words": 0.6},
    labels=("good", EVIL),
    confusion=((1, 1), (0, 2)),
    judged=(
        Judged("sure and wrong" + EVIL, "good", EVIL, 0.9, (0.1, 0.9), is_right=False),
        Judged("doubtful", "good", "good", 0.6, (0.6, 0.4), is_right=True),
        Judged("sure", EVIL, EVIL, 0.8, (0.2, 0.8), is_right=True),
        Judged("surer", EVIL, EVIL, 0.95, (0.05, 0.95), is_right=True),
    ),
    movements=(Movement("embeddings", 0.01, 100), Movement("layer 1", 0.04, 50), Movement("head", 0.6, 4)),
    mix=(0.2, 0.5, 0.3),
    before_and_after=(BeforeAndAfter("A ___ day.", "long", "sweet"),),
    trained_parameters=154,
    seconds=4.0,
    notes=("1 text was cut.",),
)


def make_job(*methods: str, state: str = "done", examples: tuple[int, ...] = (0,), **changes) -> JobStatus:
    """A job whose runs are all done, or none, or the first is at its third step.

    Args:
        methods: Of its runs; each with each number of examples.
        state: As of JobStatus.
        examples: As of Run.
        changes: Further fields.
    """
    runs = tuple(Run(Recipe(method=method), count, "MiniLM") for count in examples for method in methods)
    done = range(len(runs)) if state == "done" else ()
    begun = () if state == "waiting" else done or (0,)
    status = JobStatus(
        "a1b2c3d4e5f6", JobSpec(f"mine{EVIL}", runs, "films"), state, 2 if state == "waiting" else 0, "", 1e9, 0.0,
        {index: STEPS[-1 if state == "done" else 2] for index in begun},
        {index: replace(OUTCOME, scores={"accuracy": 0.7 + index / 100}) for index in done}, state == "stopped",
    )  # fmt: skip
    return replace(status, **changes)


def make_log(status: JobStatus) -> tuple[LoggedStep, ...]:
    """What its runs said."""
    return tuple(LoggedStep(index, step) for index in sorted(status.last) for step in STEPS)
