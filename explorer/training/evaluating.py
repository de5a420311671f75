"""Measuring a network in the midst of its training."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Put a network into eval mode, and back into the mode it was in.

    Args:
        network: What is measured.
    """
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)
