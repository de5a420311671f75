"""Tokens drawn from what a model expects, as ELECTRA's generator draws its replacements."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def sample(logits: Float[Tensor, "picked vocab"], generator: torch.Generator) -> Int[Tensor, " picked"]:
    """Draw a token from each row of logits.

    Args:
        logits: On any device.
        generator: Of the CPU, so that a seed is good on any device; one number a row is drawn.
    """
    reached = logits.float().softmax(dim=-1).cumsum(dim=-1)
    drawn = (
        torch.rand(len(logits), 1, generator=generator).to(logits.device) * reached[:, -1:]
    )  # which is 1, but rounded
    return torch.searchsorted(reached, drawn, right=True).squeeze(1).clamp(max=logits.shape[-1] - 1)
