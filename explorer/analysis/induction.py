"""How much a head attends to what followed the same token before, on random tokens said twice."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.head_texts import EncodedText, encode_texts, make_inputs, reads_left_to_right
from explorer.models.attention import head_counts, visit_weights
from explorer.models.backend import LoadedModel

REPEATS = 8  # random texts
HALF_TOKENS = 32  # of each saying, or as many as the model reads twice


def repeated_tokens(model: LoadedModel, seed: int) -> list[EncodedText]:
    """Random tokens, said twice, between the special tokens that the model puts around a text.

    Args:
        model: Whose vocabulary is drawn from; special tokens are not.
        seed: Of the draw.
    """
    [plain] = encode_texts(model, ["a"])
    before, behind = plain.ids[: plain.start], plain.ids[len(plain.ids) - plain.end :]
    half = min(HALF_TOKENS, (model.limit_tokens - len(before) - len(behind)) // 2)
    special = set(model.tokenizer.all_special_ids)
    known = np.array([token_id for token_id in range(len(model.tokenizer)) if token_id not in special])
    random = np.random.default_rng(seed)
    drawn = [random.choice(known, min(half, len(known)), replace=False).tolist() for _ in range(REPEATS)]
    return [EncodedText((*before, *row, *row, *behind), len(before), len(behind)) for row in drawn]


def score_induction(model: LoadedModel, seed: int, stack: str) -> tuple[np.ndarray, int, float]:
    """The induction score of every head: how much of the second saying's attention goes to what followed the first.

    In TransformerLens's words: the attention under the head detector's induction pattern, divided by that of the rows
    where the pattern has an entry (its "mul" score divides by all rows, the first saying's too). For a model that sees
    both ways the same places are read; it is the same number, though such a model has no need to copy so.

    Args:
        model: Measured.
        seed: Of the random tokens.
        stack: Whose heads.

    Returns:
        Scores [layer head], over how many tokens, and what a head gets that attends to all in sight alike.

    Source: Olsson et al. 2022, https://arxiv.org/abs/2209.11895
    """
    texts = repeated_tokens(model, seed)
    length = len(texts[0].ids)
    half = (length - texts[0].start - texts[0].end) // 2
    queries = torch.arange(texts[0].start + half, texts[0].start + 2 * half)
    keys = queries - half + 1
    scores = np.zeros(head_counts(model.network)[stack])

    def add(name: str, layer: int, weights: Tensor) -> None:
        if name == stack:
            scores[layer] = weights[:, :, queries, keys].double().mean(dim=(0, 2)).cpu().numpy()

    visit_weights(model.network, make_inputs(model, texts), add)
    seen = (queries + 1) if reads_left_to_right(model) else torch.full_like(queries, length)
    return scores, len(texts) * half, float((1 / seen.double()).mean())
