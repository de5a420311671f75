"""Language models from left to right, and in both directions: nothing is hidden but what comes next."""

from __future__ import annotations

import torch

from explorer.analysis.examples.draft import Draft, Options, score_answers, untouched
from explorer.analysis.plain_text import PlainText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits


def predict_next(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """Every token but the first, special ones too, as `labels=input_ids` has it."""
    places = tuple(range(len(plain.ids) - 1))
    [logits] = masked_logits(model, [Row(plain.ids, places)])
    return untouched(plain, score_answers(logits, plain.ids[1:], [place + 1 for place in places]))


def predict_both_ways(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """All tokens from the left, then all from the right."""
    output = model.network(input_ids=torch.tensor([plain.ids], device=model.network.device))
    places = range(len(plain.ids))
    return untouched(
        plain,
        [
            *score_answers(output.forward_logits[0].float(), plain.ids, places, "forward"),
            *score_answers(output.backward_logits[0].float(), plain.ids, places, "backward"),
        ],
    )
