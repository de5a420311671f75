"""Rows that share a batch: of similar length, so that hardly anything is padded, and yet in random order."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from explorer.training.tuning.task import Ids, Reading, Row

SORTED_BATCHES = 50  # so many are sorted among themselves; the groups, and the batches in them, come in random order
JUDGED_TOKENS = 4_096  # of a batch that is only judged, padding included


def epoch_batches(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """One pass over all rows, the same for the same seed.

    Args:
        lengths: Tokens of each row.
        batch_size: Rows of a batch; the last one may hold fewer.
        seed: Of the order.
        epoch: Counted from 0; each has an order of its own.

    Returns:
        Indices of the rows of each batch.

    Source: as transformers' LengthGroupedSampler, https://huggingface.co/docs/transformers
    """
    random = torch.Generator().manual_seed(seed * 100_003 + epoch)
    order = torch.randperm(len(lengths), generator=random).tolist()
    batches = []
    for start in range(0, len(order), SORTED_BATCHES * batch_size):
        group = sorted(order[start : start + SORTED_BATCHES * batch_size], key=lambda index: lengths[index])
        batches += [group[first : first + batch_size] for first in range(0, len(group), batch_size)]
    return [batches[index] for index in torch.randperm(len(batches), generator=random).tolist()]


def judging_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """All rows once, the longest first, in batches of a bounded number of tokens."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    while order:
        count = max(1, JUDGED_TOKENS // max(lengths[order[0]], 1))
        yield order[:count]
        order = order[count:]


def pad_ids(readings: Sequence[Ids], pad_id: int, device: torch.device) -> tuple[Tensor, Int[Tensor, "row token"]]:
    """Ids as one tensor, shorter rows filled on the right, and which of them are there.

    Args:
        readings: Ids of each row, one at least; or, of ELMo, rows of characters.
        pad_id: Fills; of characters 0 does.
        device: Where the tensors go.
    """
    lengths = torch.tensor([len(ids) for ids in readings])
    longest = int(lengths.max())
    first = readings[0][0]
    filler = [0] * len(first) if isinstance(first, Sequence) else pad_id
    ids = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in readings])
    return ids.to(device), (torch.arange(longest) < lengths[:, None]).long().to(device)


def read_states(
    body: nn.Module, readings: Sequence[Reading], *, all_layers: bool = False
) -> tuple[Float[Tensor, "layer row token dim"], Bool[Tensor, "row token"]]:
    """What an encoder says of every token, and which tokens are there.

    Args:
        body: A network without head, or the encoder of an encoder-decoder.
        readings: One for each row.
        all_layers: All, the input embeddings first; else the last alone.
    """
    device = next(body.parameters()).device
    pad_id = getattr(body.config, "pad_token_id", None) or 0
    ids, mask = pad_ids([reading.ids for reading in readings], pad_id, device)
    given = {"input_ids": ids, "attention_mask": mask, "output_hidden_states": all_layers, "return_dict": True}
    if readings[0].types:
        longest = ids.shape[1]
        types = [[*reading.types, *[0] * (longest - len(reading.types))] for reading in readings]
        given["token_type_ids"] = torch.tensor(types, device=device)
    output = body(**given)
    states = torch.stack(output.hidden_states) if all_layers else output.last_hidden_state[None]
    return states.float(), mask.bool()


def pool_mean(
    states: Float[Tensor, "layer row token dim"], mask: Bool[Tensor, "row token"]
) -> Float[Tensor, "layer row dim"]:
    """Mean over the tokens of each row.

    Source: Sentence-BERT, Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
    """
    weights = mask[None, :, :, None].float()
    return (states * weights).sum(dim=2) / weights.sum(dim=2).clamp(min=1.0)


def row_lengths(rows: Sequence[Row]) -> list[int]:
    """Tokens of each row's longest reading."""
    return [row.length_tokens for row in rows]
