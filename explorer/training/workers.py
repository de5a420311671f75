"""Several processes that train one model together, each on rows of its own; one process is the usual case.

Started by `accelerate launch` or `torchrun`, which say in the environment how many there are.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.errors import ModelUnavailable


@dataclass(frozen=True)
class Workers:
    """Who trains along.

    Attributes:
        index: Of this process; 0 writes the files.
        count: How many there are.
    """

    index: int = 0
    count: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes checkpoint, log and model."""
        return self.index == 0

    def share(self, weights: Iterable[Tensor], number: float) -> float:
        """Give all processes the mean gradient, and the mean of a number, so that all stop at the same step.

        Args:
            weights: In the same order in every process; those without a gradient take no part.
            number: This process's.
        """
        if self.count == 1:
            return number
        from accelerate.utils import reduce

        gradients = [weight.grad for weight in weights if weight.grad is not None]
        extra = torch.tensor([number], dtype=torch.float32, device=gradients[0].device)
        flat = torch.cat([*(gradient.flatten().float() for gradient in gradients), extra])
        mean = reduce(flat, reduction="mean")
        start = 0
        for gradient in gradients:
            gradient.copy_(mean[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()
        return mean[-1].item()


def find_workers(device: str) -> Workers:
    """Who trains along with this process, after all have found each other.

    Args:
        device: As choose_device returns it.

    Raises:
        ModelUnavailable: Several processes, and the package that joins them is not installed.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return Workers()
    try:
        from accelerate import PartialState
    except ImportError as error:
        raise ModelUnavailable("Several processes need accelerate: pip install -e '.[train]'") from error

    state = PartialState(cpu=device == "cpu")
    return Workers(state.process_index, state.num_processes)
