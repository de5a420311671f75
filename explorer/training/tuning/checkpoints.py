"""Where a run stands, on disk: whole or not there."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import ModelRefused
from explorer.models.memory import is_out_of_memory
from explorer.training.writing import whole_file

FILE = "checkpoint.pt"
FORMER = ("running",)  # what checkpoints of earlier versions hold beside


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a run needs to go on as if it had never stopped: order and dropout follow from the seed and the step.

    Attributes:
        fingerprint: Of the recipe, the model and the examples.
        step: Optimiser steps done.
        seconds: Of training so far.
        weights: Those that move, by name.
        optimizer: As its state_dict.
        best_loss: Lowest held-out loss so far; None = nothing was measured.
        best_weights: Those that had it; {} where the last ones are wanted.
        without_better: Measurements since.
        is_over: Whether no step is to follow.
        best_step: Steps done when the loss was lowest; 0 = nothing was measured.
        losses: Training losses of the latest steps.
    """

    fingerprint: str
    step: int
    seconds: float
    weights: dict[str, Tensor]
    optimizer: dict[str, Any]
    best_loss: float | None
    best_weights: dict[str, Tensor]
    without_better: int
    is_over: bool
    best_step: int = 0
    losses: Sequence[float] = ()


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write it; an interrupt or a full disk leaves the last one whole.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    with whole_file(folder / FILE) as part:
        torch.save(vars(checkpoint), part)


def load_checkpoint(folder: Path, fingerprint: str, device: torch.device) -> Checkpoint | None:
    """What was written; None = nothing was.

    Args:
        folder: Of the run.
        fingerprint: Of what is about to run.
        device: Where the weights go.

    Raises:
        ModelRefused: It is damaged, or of another run.
    """
    if not (folder / FILE).exists():
        return None
    again = "Choose another folder, or delete the file to begin anew."
    try:
        with torch.inference_mode(False):  # a backend is in that mode, and its tensors could not be learnt
            values = dict(torch.load(folder / FILE, weights_only=True, map_location=device))
        checkpoint = Checkpoint(**{name: value for name, value in values.items() if name not in FORMER})
    except (OSError, EOFError, LookupError, TypeError, ValueError, RuntimeError, pickle.UnpicklingError) as error:
        if is_out_of_memory(error):
            raise
        raise ModelRefused(f"{folder / FILE} is damaged, so the run cannot go on. {again}") from error
    if checkpoint.fingerprint != fingerprint:
        raise ModelRefused(f"{folder / FILE} is of another run: other examples, another model or recipe. {again}")
    return checkpoint


def copy_weights(weights: dict[str, nn.Parameter]) -> dict[str, Tensor]:
    """Values as they are now."""
    return {name: weight.detach().clone() for name, weight in weights.items()}


@torch.no_grad()
def put_weights(weights: dict[str, nn.Parameter], values: dict[str, Tensor]) -> None:
    """Set weights to values.

    Raises:
        ModelRefused: They are of another network.
    """
    if weights.keys() != values.keys():
        raise ModelRefused("The checkpoint is of another network. Delete it to begin anew.")
    for name, weight in weights.items():
        weight.copy_(values[name])
