"""Tokens drawn from what a model expects, as ELECTRA's generator draws its replacements."""

import torch
from jaxtyping import Int
from torch import Tensor


def sample(logits: Tensor, generator: torch.Generator) -> Int[Tensor, " picked"]:
    """Draw a token from each row of logits; the random numbers come from the CPU, so a seed is good on any device."""
    noise = torch.rand(logits.shape, generator=generator).to(logits.device)
    gumbel = -torch.log(-torch.log(noise.clamp(min=1e-9)))  # noise is below one
    return (logits.float() + gumbel).argmax(dim=-1)
