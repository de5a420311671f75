"""What tasks have in common that the network does by itself: no head, no frozen features, nothing to compare with."""

from collections.abc import Sequence

from torch import Tensor, nn

from explorer.training.tuning.examples import Example
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Row, Start


class NetworkTask:
    """Begin of a Task whose network's own head learns.

    Args:
        start: With that head.
        recipe: How.
        labels: As Task has them.
    """

    keeps_features = False
    head_reads = ""

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        self._start, self._recipe = start, recipe
        self.network, self.labels = start.network, labels
        self.head: nn.Module = nn.ModuleList()

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        raise NotImplementedError("the network itself learns: keeps_features is False")

    def baselines(self, train: Sequence[Example], held_out: Sequence[Example]) -> dict[str, float]:
        return {}

    def remarks(self, train: Sequence[Example], held_out: Sequence[Example]) -> list[str]:
        return []

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        return False
