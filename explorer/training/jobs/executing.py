"""One turn of a job: its run is trained on the device, step by step, until it is done, stopped, or cannot go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from explorer.errors import ExplorerError, OutOfMemory, UnsuitableCorpus, UnwritableFolder
from explorer.logs import log_fault
from explorer.models.backend import LoadedModel
from explorer.models.registry import FindModel, Registry
from explorer.training.jobs.desk import Desk, Turn
from explorer.training.jobs.records import read_examples
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.results import Run, TrainingStep

FineTune = Callable[..., Iterator[TrainingStep]]
ChooseExamples = Callable[[ExampleSet, Run], ExampleSet]
NO_MEMORY = (
    "The memory of this machine is too small for this run. Take smaller batches, shorter texts or a smaller model."
)
UNLEARNT = "The run ended without a result. Start the job again, or tell the operator."


class WorkerEnded(BaseException):
    """The system wants this process to end; as KeyboardInterrupt, nothing that handles errors takes it."""


def take_turn(
    desk: Desk, turn: Turn, fine_tune: FineTune, find_model: FindModel, choose: ChooseExamples, *, most_seconds: float
) -> None:
    """Work on one run; whatever happens is written into the job.

    Args:
        desk: The jobs.
        turn: The run.
        fine_tune: As explorer.training.tuning.fine_tuning.fine_tune.
        find_model: Name -> registry that has the model, and its name there.
        choose: Of all examples those that the run learns from.
        most_seconds: Of the device since the job arrived in line.

    Raises:
        WorkerEnded: The system wants this process to end; the job waits for the next one.
        UnwritableFolder: Not even the end of the job can be written.
    """
    place, run = turn.job.place, turn.job.asked.spec.runs[turn.run]
    try:
        found = read_examples(place.examples)
        if found is None:
            raise UnsuitableCorpus("The examples of this job are damaged. Delete it, and start it again.")
        registry, name = find_model(run.model)
        work = partial(fine_tune, examples=choose(found, run), recipe=run.recipe, folder=place.run(turn.run))
        why = _train(desk, turn, registry, name, work, most_seconds)
    except UnwritableFolder as error:
        desk.end(turn, "failed", f"{error} Resume goes on from the last checkpoint.")
    except OutOfMemory as error:
        desk.put_back(turn, f"{error} Smaller batches take less memory, too.")
    except MemoryError:
        desk.put_back(turn, NO_MEMORY)
    except ExplorerError as error:
        desk.put_back(turn, str(error))
    except (WorkerEnded, KeyboardInterrupt):
        desk.put_back(turn)
        raise
    except Exception:
        reference = log_fault(f"job {place.id}")
        desk.put_back(
            turn,
            f"Something went wrong on our side (reference {reference}). Resume tries again from the last checkpoint, "
            f"or tell the operator the reference.",
        )
    else:
        if why is None:
            desk.put_back(turn)
        else:
            desk.end(turn, "stopped", why)


def _train(
    desk: Desk,
    turn: Turn,
    registry: Registry,
    name: str,
    work: Callable[[LoadedModel], Iterator[TrainingStep]],
    most_seconds: float,
) -> str | None:
    """Train to the end, and keep the outcome; what to say where it was stopped before, None = it was not."""
    if desk.is_asked_to_stop(turn):
        return ""
    steps, step = registry.stream(name, work), None
    try:
        for step in steps:
            desk.log(turn, step)
            if step.outcome is not None:
                break
            if desk.is_asked_to_stop(turn):
                desk.catch_up(turn)
                return ""
            if desk.seconds(turn) > most_seconds:
                desk.catch_up(turn)
                return (
                    f"It took longer than the {most_seconds / 60:g} minutes that a job has here at a time. What was "
                    f"learned is kept: Resume waits in line again, and goes on from the checkpoint."
                )
    finally:
        steps.close()  # which writes a checkpoint where it is not done
    if step is None or step.outcome is None:
        raise UnsuitableCorpus(UNLEARNT)
    desk.finish_run(turn, step.outcome)
    return None
