"""Gradients where whoever asks has them switched off, and words where the memory is too small for them."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from explorer.errors import ExplorerError, OutOfMemory
from explorer.models.memory import is_out_of_memory


@contextmanager
def learning() -> Iterator[None]:
    """Let gradients be had inside: whoever streams results has them switched off. Says what to do about memory."""
    with torch.inference_mode(False), torch.enable_grad(), _explained():
        yield


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, ExplorerError) or not is_out_of_memory(error):
            raise
        raise OutOfMemory(
            "The memory is too small for this run: choose fewer examples per step, shorter texts, LoRA or a head on "
            "frozen features, or a smaller model."
        ) from error
