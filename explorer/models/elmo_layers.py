"""The two layers that only ELMo has: words from their characters, and an LSTM with projection and clipping."""

import warnings
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

warnings.filterwarnings("ignore", message="LSTM with projections is not supported with oneDNN")  # it is fast enough
ACTIVATIONS = {"relu": functional.relu, "tanh": torch.tanh}
State = tuple[Tensor, Tensor]  # h [row, projection], c [row, dim]


class HighwayGate(nn.Linear):
    """A linear layer of its own name, because its bias starts at -2: at first a highway lets most of x pass."""


class Highway(nn.Module):
    """y = g * relu(W_t x + b_t) + (1 - g) * x with the gate g = sigmoid(W_c x + b_c).

    bilm-tf calls g the carry gate although it multiplies the transformed input; the names here follow the files.

    Source: Srivastava et al. 2015, https://arxiv.org/abs/1505.00387
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.carry = HighwayGate(dim, dim)
        self.transform = nn.Linear(dim, dim)

    def forward(self, x: Float[Tensor, "*row dim"]) -> Float[Tensor, "*row dim"]:
        """Mix the input with its transformation."""
        gate = torch.sigmoid(self.carry(x))
        return gate * functional.relu(self.transform(x)) + (1 - gate) * x


class CharacterEncoder(nn.Module):
    """A vector of a word from its characters alone, whatever stands around it.

    For each filter k of width w_k: f_k = activation(max over t of (W_k c[t : t + w_k] + b_k)), where c are the vectors
    of all the word's characters, fillers included; then highways over the concatenated f, then a projection.

    Args:
        n_characters: Size of the alphabet, 0 (no word) included.
        character_dim: Width of a character's vector.
        filters: (width in characters, how many) of each group.
        n_highways: How many highway layers.
        projection_dim: Width of the word's vector; equal to the number of filters = no projection.
        activation: "relu" or "tanh".

    Source: Kim et al. 2016, https://arxiv.org/abs/1508.06615; Jozefowicz et al. 2016, https://arxiv.org/abs/1602.02410
    """

    def __init__(
        self,
        n_characters: int,
        character_dim: int,
        filters: Sequence[Sequence[int]],
        n_highways: int,
        projection_dim: int,
        activation: str,
    ) -> None:
        super().__init__()
        n_filters = sum(count for _, count in filters)
        self.embedding = nn.Embedding(n_characters, character_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(character_dim, count, width) for width, count in filters)
        self.highways = nn.ModuleList(Highway(n_filters) for _ in range(n_highways))
        self.projection = nn.Identity() if n_filters == projection_dim else nn.Linear(n_filters, projection_dim)
        self.activation = ACTIVATIONS[activation]

    def forward(self, ids: Int[Tensor, "row token char"]) -> Float[Tensor, "row token dim"]:
        """The vectors of words."""
        characters = self.embedding(ids.flatten(0, 1)).transpose(1, 2)  # [row * token, character_dim, char]
        features = [self.activation(convolution(characters).amax(dim=-1)) for convolution in self.convolutions]
        words = torch.cat(features, dim=-1)
        for highway in self.highways:
            words = highway(words)
        return self.projection(words).unflatten(0, ids.shape[:2])


class ProjectedLstm(nn.LSTM):
    """One layer of one direction; the parameters are those of torch.nn.LSTM with proj_size.

        i, f, o = sigmoid(W x_t + U h_(t-1) + b), one row block each; g = tanh of its block
        c_t = clip(f * c_(t-1) + i * g, cell_clip)
        h_t = clip(P (o * tanh(c_t)), projection_clip)

    Args:
        input_dim: Width of x.
        dim: Width of c.
        projection_dim: Width of h, smaller than dim.
        cell_clip: c stays in [-cell_clip, cell_clip]; None = no limit.
        projection_clip: Likewise for h.

    Source: Sak et al. 2014, https://arxiv.org/abs/1402.1128; clipping as in Jozefowicz et al. 2016,
        https://arxiv.org/abs/1602.02410
    """

    def __init__(
        self, input_dim: int, dim: int, projection_dim: int, cell_clip: float | None, projection_clip: float | None
    ) -> None:
        super().__init__(input_dim, dim, proj_size=projection_dim, batch_first=True)
        self.cell_clip = cell_clip
        self.projection_clip = projection_clip

    def forward(
        self, x: Float[Tensor, "row token dim"], lengths: Int[Tensor, " row"], state: State | None, keep_state: bool
    ) -> tuple[Float[Tensor, "row token out"], State | None]:
        """Read rows from their first token on.

        Args:
            x: Inputs; what stands behind a row's length is read, and never reaches the row itself.
            lengths: Tokens in each row.
            state: What to start from; None = zeros.
            keep_state: Whether to return the state behind each row's last token.

        Returns:
            h at every token, and the state if it was asked for.
        """
        unclipped = self.cell_clip is None and self.projection_clip is None
        # torch's own kernel is many times faster, but knows no clipping, no rows that end early, no projection on mps
        if unclipped and state is None and not keep_state and x.device.type != "mps":
            return super().forward(x)[0], None
        from_input = functional.linear(x, self.weight_ih_l0, self.bias_ih_l0 + self.bias_hh_l0)
        if state is None:
            state = x.new_zeros(len(x), self.proj_size), x.new_zeros(len(x), self.hidden_size)
        h, c = state
        outputs = []
        for token in range(x.shape[1]):
            new_h, new_c = self.step(from_input[:, token], h, c)
            outputs.append(new_h)
            if keep_state:  # a row that has ended keeps the state of its end
                going_on = (token < lengths)[:, None]
                new_h, new_c = torch.where(going_on, new_h, h), torch.where(going_on, new_c, c)
            h, c = new_h, new_c
        return torch.stack(outputs, dim=1), (h, c) if keep_state else None

    def step(
        self, from_input: Float[Tensor, "row gates"], h: Float[Tensor, "row out"], c: Float[Tensor, "row dim"]
    ) -> State:
        """One token: the gates' share of the input, and the state before it, to the state behind it."""
        i, f, g, o = functional.linear(h, self.weight_hh_l0, None).add(from_input).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        if self.cell_clip is not None:
            c = c.clamp(-self.cell_clip, self.cell_clip)
        h = functional.linear(torch.sigmoid(o) * torch.tanh(c), self.weight_hr_l0)
        if self.projection_clip is not None:
            h = h.clamp(-self.projection_clip, self.projection_clip)
        return h, c


def reverse_rows(x: Float[Tensor, "row token dim"], lengths: Int[Tensor, " row"]) -> Float[Tensor, "row token dim"]:
    """Each row from its own last token to its first; what stands behind a row stays where it is."""
    position = torch.arange(x.shape[1], device=x.device)
    mirrored = lengths[:, None] - 1 - position
    index = torch.where(mirrored >= 0, mirrored, position)
    return x.gather(1, index[:, :, None].expand_as(x))
