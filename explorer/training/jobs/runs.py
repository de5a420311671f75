"""What a run of a job does on the device: choose its examples, fine-tune, begin anew if its checkpoint is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from explorer.errors import ModelRefused
from explorer.models.backend import LoadedModel
from explorer.training.jobs.shelf import LOG
from explorer.training.tuning.checkpoints import FILE as CHECKPOINT
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Run, TrainingStep
from explorer.training.tuning.sampling import choose_examples, split_examples


def choose_for(examples: ExampleSet, run: Run) -> ExampleSet:
    """Of all examples those that a run learns from; all runs of one seed are measured on the same ones.

    Raises:
        UnsuitableCorpus: There are too few.
    """
    if not run.examples:
        return examples
    apart = split_examples(examples, run.recipe.held_out_share, seed=run.recipe.seed)
    return choose_examples(apart, run.examples, seed=run.recipe.seed)


def fine_tune_anyhow(
    model: LoadedModel, examples: ExampleSet, *, recipe: Recipe, folder: Path
) -> Iterator[TrainingStep]:
    """As fine_tune, but a checkpoint that cannot be gone on from is given up: nobody but us can delete it."""
    had_checkpoint, has_begun = (folder / CHECKPOINT).exists(), False
    try:
        for step in fine_tune(model, examples, recipe=recipe, folder=folder):
            has_begun = True
            yield step
        return
    except ModelRefused as error:
        if has_begun or not had_checkpoint:
            raise
        LOG.warning("%s", error)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    yield from fine_tune(model, examples, recipe=recipe, folder=folder)
