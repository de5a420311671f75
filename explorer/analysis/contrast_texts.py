"""The same blank in two texts: which words they make more or less probable."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.analysis.blanks import check_option, parse_texts
from explorer.analysis.reading import read_in_blank, read_tokens, tell_apart
from explorer.analysis.results import ContrastWord, TextContrast
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.settings import settings

NOISE = 1e-6  # float32 rows of one batch differ by less than this even where the texts are the same


@torch.inference_mode()
def contrast_texts(model: LoadedModel, text: str, *, other_text: str, top_k: int = 20, blank: int = 1) -> TextContrast:
    """Compare what a model expects in a blank of two texts, e.g. "he" and "she" in the same sentence.

    Args:
        model: A model with a masked language modelling head.
        text: With at least so many blanks; the others stay open.
        other_text: Likewise.
        top_k: How many tokens, from 1 to settings().most_choices: half of them more probable in the first text and half
            in the other, as far as there are so many.
        blank: Which blank of each text, counted from 1.

    Returns:
        The tokens whose probabilities differ most, from most towards the first text to most towards the other, and the
        Jensen-Shannon divergence of the two distributions over the whole vocabulary, in bits.

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: A text has fewer blanks, or cannot be used as asked.

    Source: Lin 1991 (divergence), https://doi.org/10.1109/18.61115
    """
    check_option("top_k", top_k, settings().most_choices)
    check_option("blank", blank, settings().most_blanks)
    parsed = parse_texts(model, [text, other_text])
    for number, one in enumerate(parsed):
        if blank > len(one.positions):
            raise UnsuitableText(
                f"Text {number + 1}: The text has no blank {blank}: it has {len(one.positions)}. Compare a blank that "
                "both texts have."
            )
    logits = torch.cat(masked_logits(model, [Row(one.ids, (one.positions[blank - 1],)) for one in parsed]))
    # in float64, on the CPU: differences of tiny probabilities matter here, and mps has no float64
    first, other = logits.cpu().double().log_softmax(dim=-1)
    difference = first.exp() - other.exp()
    ids = _most_different(difference, top_k)
    readings = read_tokens(model, ids)
    names = tell_apart([read_in_blank(parsed[0], blank - 1, readings[token_id]) for token_id in ids])
    words = tuple(
        ContrastWord(
            text=name.text,
            probability=math.exp(first[token_id]),
            other_probability=math.exp(other[token_id]),
            log_odds_ratio=_log_odds(float(first[token_id])) - _log_odds(float(other[token_id])),
        )
        for token_id, name in zip(ids, names, strict=True)
    )
    return TextContrast(model.card.name, text, other_text, words, _jensen_shannon_bits(first, other), blank)


def _most_different(difference: Float[Tensor, " vocab"], count: int) -> list[int]:
    """Ids by difference, largest first: half of them positive and half negative, as far as there are so many."""
    size = min(count, len(difference))
    first, other = difference.topk(size), (-difference).topk(size)
    rising = [i for i, value in zip(first.indices.tolist(), first.values.tolist(), strict=True) if value > NOISE]
    falling = [i for i, value in zip(other.indices.tolist(), other.values.tolist(), strict=True) if value > NOISE]
    rising = rising[: max((size + 1) // 2, size - len(falling))]
    falling = falling[: size - len(rising)]
    return rising + falling[::-1]


def _log_odds(log_probability: float) -> float:
    """Natural logarithm of p / (1 - p); a probability of 1 in double precision counts as 1 - 1e-16."""
    log_probability = min(log_probability, -1e-16)
    return log_probability - math.log(-math.expm1(log_probability))


def _jensen_shannon_bits(first: Float[Tensor, " vocab"], other: Float[Tensor, " vocab"]) -> float:
    """Jensen-Shannon divergence of two distributions given by log-probabilities in nats, in bits, in [0, 1]."""
    middle = torch.logaddexp(first, other) - math.log(2)
    nats = 0.5 * ((first.exp() * (first - middle)).sum() + (other.exp() * (other - middle)).sum())
    return min(1.0, max(0.0, float(nats) / math.log(2)))
