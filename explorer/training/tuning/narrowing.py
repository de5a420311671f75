"""A table of words with only those rows that the examples use, while a network learns from them.

Half the weights of a small encoder are its table of 30,000 words, of which a thousand sentences use a tenth. The others
get no gradient and stay as they are, yet an optimiser goes over all of them at every step. What is learnt is the same:
AdamW without weight decay moves no row that never had a gradient.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.training.tuning.causal_classes import CausalClassification
from explorer.training.tuning.task import Row, Task
from explorer.training.tuning.tasks import READERS


class NarrowTable(nn.Module):
    """In the place of a table of words.

    Args:
        whole: The table; its weights no longer move.
        used: Ids of the rows that do.
    """

    def __init__(self, whole: nn.Embedding, used: Int[Tensor, " row"]) -> None:
        super().__init__()
        self._whole = [whole]  # in a list: it is not a part of this module
        self.rows = nn.Parameter(whole.weight.detach()[used].clone())
        self.register_buffer("places", torch.full((whole.num_embeddings,), -1), persistent=False)
        self.register_buffer("used", used, persistent=False)
        self.places[used] = torch.arange(len(used))
        padding = whole.padding_idx
        self._padding = None if padding is None or self.places[padding] < 0 else int(self.places[padding])

    def forward(self, ids: Int[Tensor, "*row"]) -> Float[Tensor, "*row dim"]:
        """Vectors of words; of one that no example uses the one it always had."""
        places = self.places[ids]
        vectors = F.embedding(places.clamp(min=0), self.rows, self._padding)
        if (missing := places < 0).any():
            vectors = torch.where(missing[..., None], F.embedding(ids, self._whole[0].weight.detach()), vectors)
        return vectors


class Narrowed:
    """A network whose table was narrowed.

    Args:
        network: Changed in place.
        table: Narrowed wherever it stands in the network.
        used: Ids of the rows that move.
    """

    def __init__(self, network: nn.Module, table: nn.Embedding, used: Int[Tensor, " row"]) -> None:
        self._table, self._narrow = table, NarrowTable(table, used)
        self._owners = [
            (owner, name) for owner in network.modules() for name, part in list(owner.named_children()) if part is table
        ]
        self.unused_parameters = table.weight.numel() - self._narrow.rows.numel()
        for owner, name in self._owners:
            setattr(owner, name, self._narrow)

    @torch.no_grad()
    def put_back(self) -> None:
        """Bring the whole table back, with what its rows have learnt."""
        self._table.weight[self._narrow.used] = self._narrow.rows
        for owner, name in self._owners:
            setattr(owner, name, self._table)
        self._owners = []


def narrow_table(task: Task, rows: Sequence[Row]) -> Narrowed | None:
    """Narrow the table of words of a task's network to what rows use; None = it stays whole.

    Args:
        task: One whose table moves on the CPU, where an optimiser's pass over all of it costs most, and whose network
            is never asked for words: there the same table is the head.
        rows: All that will be read.
    """
    table = task.network.get_input_embeddings()
    if type(table) is not nn.Embedding or not table.weight.requires_grad or table.weight.device.type != "cpu":
        return None
    readings = [reading.ids for row in rows for reading in row.readings]
    asks_for_words = isinstance(task, CausalClassification) and task.auxiliary_weight
    if (
        not isinstance(task, READERS) or asks_for_words or isinstance(readings[0][0], Sequence)
    ):  # the latter: ELMo's characters
        return None
    used = {id for ids in readings for id in ids}
    used |= {id for id in (getattr(task.network.config, "pad_token_id", None), table.padding_idx) if id is not None}
    if 2 * len(used) > table.num_embeddings:
        return None
    return Narrowed(task.network, table, torch.tensor(sorted(used)))
