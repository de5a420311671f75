"""A learned mix of a network's layers, as ELMo's readers have it."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class LayerMix(nn.Module):
    """gamma · Σ softmax(w)_layer · normalised layer.

    Args:
        layers: How many, the input embeddings included.

    Source: Peters et al. 2018, equation 1 and section 3.2 (layer normalization before the weights),
        https://arxiv.org/abs/1802.05365
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, states: Float[Tensor, "layer *rest dim"]) -> Float[Tensor, "*rest dim"]:
        """Mix the layers."""
        states = F.layer_norm(states, states.shape[-1:])
        return self.gamma * torch.einsum("l,l...->...", self.weights.softmax(dim=0), states)

    def shares(self) -> tuple[float, ...]:
        """Weight of each layer; they sum to 1."""
        return tuple(self.weights.detach().softmax(dim=0).tolist())


class OnlyLayer(nn.Module):
    """In the place of a mix, where there is one layer."""

    def forward(self, states: Float[Tensor, "1 *rest dim"]) -> Float[Tensor, "*rest dim"]:
        """The layer."""
        return states[0]


def make_mix(network_layers: int, *, learned: bool) -> LayerMix | OnlyLayer:
    """What a head puts before itself.

    Args:
        network_layers: How many layers the network has, the input embeddings included.
        learned: Whether the method is "layers".
    """
    return LayerMix(network_layers) if learned else OnlyLayer()
