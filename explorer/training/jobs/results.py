"""What a job is and how it stands; small, frozen, importable without torch."""

from dataclasses import dataclass
from typing import Literal

from explorer.training.tuning.results import Outcome, Run, TrainingStep

State = Literal["waiting", "running", "stopping", "stopped", "done", "failed"]


@dataclass(frozen=True)
class JobSpec:
    """What a visitor asked for.

    Attributes:
        title: The visitor's words, or our own.
        runs: One = plain fine-tuning; several = a race, or a learning curve.
        examples_name: Of the file or set.
    """

    title: str
    runs: tuple[Run, ...]
    examples_name: str


@dataclass(frozen=True)
class LoggedStep:
    """A line of a job's log.

    Attributes:
        run: Index of the run among the spec's.
        step: What it said, without its outcome.
    """

    run: int
    step: TrainingStep


@dataclass(frozen=True)
class JobStatus:
    """How a job stands.

    Attributes:
        id: Twelve hexadecimal digits that nobody can guess: whoever has it may look at the model.
        spec: What was asked for.
        state: "stopping" until the process that works on it has heard of it.
        place: In line, 1 = next; 0 = it does not wait.
        message: Why it failed or ended early, and what to do next; "" = nothing to say.
        created_at: Unix time, in seconds.
        ended_at: Likewise; 0 = it has not.
        last: The newest step of each run that has begun, by index.
        outcomes: Of each run that is done, by index.
        can_resume: Whether it can go on from a checkpoint, or begin again.
    """

    id: str
    spec: JobSpec
    state: State
    place: int
    message: str
    created_at: float
    ended_at: float
    last: dict[int, TrainingStep]
    outcomes: dict[int, Outcome]
    can_resume: bool
