"""What scripts share that read vectors of a network, with a head of their own over them."""

from inspect import signature

import torch
from torch import nn
from torch.nn import functional as F

from explorer.training.tuning.scripts.running import RECIPE, Task, pad

DROPOUT, INITIAL_STD = 0.1, 0.02
REGULARISATIONS, FOLDS, SMALL_SET_REGULARISATION = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3), 3, 0.01


class LayerMix(nn.Module):
    """gamma times the sum of normalised layers, each with a learned share."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights, self.gamma = nn.Parameter(torch.zeros(layers)), nn.Parameter(torch.ones(1))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[layer, row, dim] to [row, dim]."""
        states = F.layer_norm(states, states.shape[-1:])
        return self.gamma * torch.einsum("l,lrd->rd", self.weights.softmax(dim=0), states)


class LastLayer(nn.Module):
    """Where no mix is learned."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """[layer, row, dim] to [row, dim]."""
        return states[-1]


class LinearHead(nn.Module):
    """The last layer, or a mix of all; dropout; one linear layer."""

    def __init__(self, network: nn.Module, outputs: int) -> None:
        super().__init__()
        config = network.config
        self.mix = LayerMix(config.num_hidden_layers + 1) if RECIPE["method"] == "layers" else LastLayer()
        self.linear = nn.Linear(config.hidden_size, outputs)
        nn.init.normal_(self.linear.weight, std=INITIAL_STD)
        nn.init.zeros_(self.linear.bias)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """[layer, row, dim] to scores before softmax, [row, output]."""
        return self.linear(F.dropout(self.mix(vectors), DROPOUT, self.training)).float()


class EncoderTask(Task):
    """A task whose head reads vectors; of an encoder-decoder the encoder is read."""

    @property
    def body(self) -> nn.Module:
        """What makes the vectors."""
        return self.network.get_encoder() if self.network.config.is_encoder_decoder else self.network.base_model

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item [layer, row, dim]."""
        raise NotImplementedError

    def vectors(self, items: list[dict]) -> list[torch.Tensor]:
        """Its features; of a network that rests they are computed once, and kept with the item."""
        if self.moves:
            return self.features(items)
        new = [item for item in items if "kept" not in item]
        if new:
            with torch.no_grad():
                for item, kept in zip(new, self.features(new), strict=True):
                    item["kept"] = kept.clone()
        return [item["kept"] for item in items]

    def states(self, readings: list[list[int]], types: list | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Vectors of all tokens, [layer, row, token, dim] (the last layer alone but for a mix); which are there."""
        ids, there = pad(readings, self.body.config.pad_token_id or 0, self.device)
        given = {"input_ids": ids, "attention_mask": there}
        if types and types[0] and "token_type_ids" in signature(self.body.forward).parameters:
            given["token_type_ids"] = pad(types, 0, self.device)[0]
        mixes = RECIPE["method"] == "layers"
        output = self.body(**given, output_hidden_states=mixes, return_dict=True)
        return torch.stack(output.hidden_states if mixes else [output.last_hidden_state]).float(), there

    def means(self, readings: list[list[int]], types: list | None = None) -> torch.Tensor:
        """Mean vector of each row's tokens, [layer, row, dim]."""
        states, there = self.states(readings, types)
        weights = there[None, :, :, None].float()
        return (states * weights).sum(dim=2) / weights.sum(dim=2)

    def fit_linear(self, vectors: torch.Tensor, targets: torch.Tensor) -> bool:
        """Logistic regression on vectors of a network that rests, as smooth as cross-validation wants it."""
        spread, mean = vectors.std(dim=0, correction=0), vectors.mean(dim=0)
        spread = spread.clamp(min=1e-3 * float(spread.median()) + 1e-12)
        standard, best = (vectors - mean) / spread, SMALL_SET_REGULARISATION
        classes = targets.unique()
        if min(int((targets == one).sum()) for one in classes) >= FOLDS:
            folds, random = torch.zeros_like(targets), torch.Generator().manual_seed(RECIPE["seed"])
            for one in classes:  # each class in every fold
                places = (targets == one).nonzero()[:, 0]
                places = places[torch.randperm(len(places), generator=random).to(places.device)]
                folds[places] = torch.arange(len(places), device=folds.device) % FOLDS
            losses = {}
            for strength in REGULARISATIONS:
                losses[strength] = 0.0
                for fold in range(FOLDS):
                    weight, bias = regress(standard[folds != fold], targets[folds != fold], strength, len(self.labels))
                    logits = F.linear(standard[folds == fold], weight, bias)
                    losses[strength] += float(F.cross_entropy(logits, targets[folds == fold]))
            best = min(losses, key=losses.__getitem__)
        weight, bias = regress(standard, targets, best, len(self.labels))
        with torch.no_grad():
            self.head.linear.weight.copy_(weight / spread)
            self.head.linear.bias.copy_(bias - (weight / spread) @ mean)
        return True


def regress(
    vectors: torch.Tensor, targets: torch.Tensor, strength: float, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights and biases with the least strength * cross-entropy + squared weights / 2."""
    weight = torch.zeros(count, vectors.shape[1], device=vectors.device, requires_grad=True)
    bias = torch.zeros(count, device=vectors.device, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=300, line_search_fn="strong_wolfe")
    penalty = 1.0 if count == 2 else 0.5  # of two classes only the difference counts, which is as long as both

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(F.linear(vectors, weight, bias), targets)
        loss = loss + penalty * weight.square().sum() / (strength * len(targets))
        loss.backward()
        return loss

    optimizer.step(closure)
    return weight.detach(), bias.detach()
