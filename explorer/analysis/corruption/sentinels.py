"""The corruption that T5 is trained on: spans of tokens become sentinels, and the target says what stood there."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.errors import UnsuitableModel

SPAN_SHARE, MEAN_SPAN_TOKENS = 0.15, 3.0
SENTINELS = 32  # at most this many spans a row


def find_sentinels(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Ids of `<extra_id_0>`, `<extra_id_1>`, … as far as the vocabulary has them.

    Raises:
        UnsuitableModel: It has none.
    """
    vocabulary = tokenizer.get_vocab()
    ids = [vocabulary.get(f"<extra_id_{number}>") for number in range(SENTINELS)]
    if None in ids:
        raise UnsuitableModel("The tokenizer has no sentinels <extra_id_0> …; choose an encoder-decoder such as T5.")
    return ids


def pick_spans(
    row_count: int, length_tokens: int, *, share: float, mean_span_tokens: float, generator: torch.Generator
) -> Bool[Tensor, "row token"]:
    """Pick spans at random, wherever in a row: the same number of tokens and of spans in each row.

    Args:
        row_count: Rows.
        length_tokens: Tokens per row, at least 4.
        share: Of the tokens to pick, in (0, 1); at least one is picked.
        mean_span_tokens: Mean length of a span, at least 1.
        generator: Source of the random numbers.

    Source: Raffel et al. 2020, section 3.1.4, https://arxiv.org/abs/1910.10683
    """
    picked = min(max(round(length_tokens * share), 1), length_tokens - 1)
    kept = length_tokens - picked
    spans = min(max(round(picked / mean_span_tokens), 1), picked, kept + 1, SENTINELS - 1)
    lengths = torch.zeros(row_count, 2 * spans + 1, dtype=torch.long)  # a row is: kept, picked, kept, …, picked, kept
    lengths[:, 1::2] = _split(row_count, picked, spans, generator)
    lengths[:, ::2] = _split(row_count, kept + 2, spans + 1, generator)
    lengths[:, [0, -1]] -= 1  # at either end of a row there may be nothing kept
    parts = torch.arange(2 * spans + 1).expand(row_count, -1).flatten()
    return (parts.repeat_interleave(lengths.flatten()) % 2 == 1).view(row_count, length_tokens)


def _split(row_count: int, total: int, parts: int, generator: torch.Generator) -> Int[Tensor, "row part"]:
    """Split a number into positive parts, all ways alike likely."""
    order = torch.rand(row_count, total - 1, generator=generator).argsort(dim=1)[:, : parts - 1] + 1
    cuts = torch.cat([torch.zeros(row_count, 1, dtype=torch.long), order.sort(dim=1).values], dim=1)
    return torch.cat([cuts[:, 1:], torch.full((row_count, 1), total)], dim=1) - cuts


def replace_spans(
    ids: Int[Tensor, "row token"], picked: Bool[Tensor, "row token"], sentinels: Int[Tensor, " sentinel"]
) -> tuple[Int[Tensor, "row kept"], Int[Tensor, "row target"]]:
    """Put a sentinel in the place of each span, and write down what each stands for.

    Args:
        ids: Token ids.
        picked: Which of them; every row has as many tokens and as many spans as the others.
        sentinels: Ids of the sentinels, at least one more than a row has spans.

    Returns:
        The rows with sentinels; and the targets, a sentinel before each span and one behind the last.
    """
    rows = len(ids)
    first = picked & ~torch.cat([torch.zeros_like(picked[:, :1]), picked[:, :-1]], dim=1)
    number = first.cumsum(dim=1) - 1
    inputs = torch.where(first, sentinels[number.clamp(min=0)], ids)[~picked | first].view(rows, -1)
    pairs = torch.stack([sentinels[number.clamp(min=0)], ids], dim=2)  # a sentinel can stand before each token
    targets = pairs[torch.stack([first, picked], dim=2)].view(rows, -1)
    last = sentinels[number[:, -1:] + 1]
    return inputs, torch.cat([targets, last], dim=1)
