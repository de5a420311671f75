"""Fine-tuning: labelled examples in, steps out, a tuned model at the end."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

from explorer.models.backend import LoadedModel
from explorer.training.tuning.checkpoints import load_checkpoint, save_checkpoint
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import READING, Outcome, TrainingStep
from explorer.training.tuning.session import Session

CHECKPOINT_SECONDS = 20.0
LARGEST_CHECKPOINT_SHARE = 0.05  # of the time may go into writing them


def fine_tune(
    model: LoadedModel, examples: ExampleSet, *, recipe: Recipe, folder: Path | None = None
) -> Iterator[TrainingStep]:
    """Train a copy of a model on examples; the loaded one stays as it is.

    Args:
        model: Where to start from.
        examples: Of the recipe's task; a part is set aside if none is held out.
        recipe: How.
        folder: Of the checkpoint, from which the run goes on if there is one, and of the tuned model, in folder/model;
            None = nothing is kept.

    Yields:
        A step after each step; the last one holds the outcome. When the iterator is closed, or anything fails, a
        checkpoint is written first.

    Raises:
        UnsuitableCorpus: There are too few examples, or of one class only, or of another task.
        UnsuitableModel: The task cannot be had with this model in this way; or the loss is no longer a number.
        ModelRefused: The folder's checkpoint is damaged, or of another run.
        OutOfMemory: The run does not fit.
        UnwritableFolder: The disk is full, or the folder may not be written; the last checkpoint is whole.

    Source: Devlin et al. 2019, https://arxiv.org/abs/1810.04805; Mosbach et al. 2021 (warm-up, and more epochs for few
        examples), https://arxiv.org/abs/2006.04884
    """
    session = Session(model, examples, recipe)
    if folder is not None and (saved := load_checkpoint(folder, session.fingerprint, session.device)):
        session.restore(saved)
    clock = _Clock(session)
    is_fitted = False
    if not session.way.moves_network:
        for done, count in session.read_features():
            yield clock.step(READING, done, count)
        is_fitted = session.fit()
    if not is_fitted:
        yield from _train(session, clock, folder)
    loss, measured = session.measure(all_of_them=True)
    yield clock.step("measuring", held_out_loss=loss, scores=measured.scores)
    outcome = session.conclude(measured, folder)
    yield clock.step("done", held_out_loss=loss, scores=measured.scores, outcome=outcome)


def _train(session: Session, clock: "_Clock", folder: Path | None) -> Iterator[TrainingStep]:
    """All steps; a checkpoint now and then, and before whatever ends them early."""
    measured_at = {round(session.steps * (part + 1) / max(session.recipe.evaluations, 1))
                   for part in range(session.recipe.evaluations)}  # fmt: skip
    saved_at, saving_seconds = time.monotonic(), 0.0
    try:
        while not session.is_over and session.step < session.steps:
            clock.count(session.take_step())
            if session.step not in measured_at:
                yield clock.step("training")
            else:
                loss, measured = session.measure(all_of_them=False)
                is_enough = session.note_loss(loss)
                yield clock.step("training", held_out_loss=loss, scores=measured.scores)
                if is_enough:
                    break
            pause = max(CHECKPOINT_SECONDS, saving_seconds / LARGEST_CHECKPOINT_SHARE)
            if folder is not None and (began := time.monotonic()) - saved_at > pause:
                save_checkpoint(folder, session.checkpoint())
                saved_at = time.monotonic()
                saving_seconds = saved_at - began
    except BaseException as error:
        if folder is not None and session.can_go_on:
            try:
                save_checkpoint(folder, session.checkpoint())
            except Exception as failure:
                error.add_note(f"No checkpoint could be written after it: {failure}")
        raise
    session.finish()
    if folder is not None:
        save_checkpoint(folder, session.checkpoint())


class _Clock:
    """Makes steps of what a session says of itself.

    Args:
        session: Just begun, or restored.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seconds_before, self._steps_before, self._examples = session.seconds, session.step, 0

    def count(self, examples: int) -> None:
        """So many more were learnt from."""
        self._examples += examples

    def step(
        self,
        phase: str,
        done: int | None = None,
        count: int | None = None,
        *,
        held_out_loss: float | None = None,
        scores: Mapping[str, float] = MappingProxyType({}),
        outcome: Outcome | None = None,
    ) -> TrainingStep:
        """How it stands; done, of how many, where other things than steps are counted."""
        session = self._session
        seconds = session.seconds - self._seconds_before
        steps = session.step - self._steps_before
        left = 0.0
        if count is not None and done:
            left = seconds / done * (count - done)
        elif steps:
            left = seconds / steps * (session.steps - session.step)
        return TrainingStep(
            phase=phase,
            step=session.step if done is None else done,
            steps=session.steps if count is None else count,
            epoch=session.step / session.steps_per_epoch,
            seconds=session.seconds,
            loss=fmean(session.losses) if session.losses else None,
            examples_per_second=self._examples / seconds if seconds else 0.0,
            seconds_left=left,
            held_out_loss=held_out_loss,
            score=next(iter(scores.values()), None),
            score_name=next(iter(scores), ""),
            kept_epoch=session.kept_epoch,
            outcome=outcome,
            auxiliary_weight=session.auxiliary_weight,
        )
