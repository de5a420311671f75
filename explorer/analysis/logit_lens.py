"""The logit lens: what each layer would say if it were the last."""

from __future__ import annotations

import torch

from explorer.analysis.blanks import check_option, parse_blanks
from explorer.analysis.distributions import entropies, likeliest, ranks
from explorer.analysis.prompts import check_left_to_right, encode_prompt
from explorer.analysis.scoring_results import LayerReading, LayerReadings
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.layer_logits import layer_logits
from explorer.settings import settings

PRE_NORM = "the model's last norm ({norm}) and its vocabulary head"
POST_NORM = "the vocabulary head alone, its own transform included: these layers end with a norm of their own"


@torch.inference_mode()
def read_layers(model: LoadedModel, prompt: str, *, top_k: int = 5, blank: int = 1) -> LayerReadings:
    """Read the vector of each layer as words: the last norm and the vocabulary head are applied to it.

    Args:
        model: With a causal head, or a masked one.
        prompt: Any beginning of a text for a causal model; a text with blanks, written ___, for a masked one.
        top_k: How many tokens of each layer, from 1 to settings().most_choices.
        blank: Which blank of a masked model, counted from 1.

    Returns:
        One reading for each layer, the input embeddings first; the last is the model's own answer. The norm is that
        of the last layer, which was trained for that layer only: what early layers say is a hint, not a proof.

    Raises:
        UnsuitableModel: The model predicts no words, or has no single stack of layers.
        UnsuitableText: The prompt cannot be used as asked.

    Source: nostalgebraist 2020,
        https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens
    """
    check_option("top_k", top_k, settings().most_choices)
    check_option("blank", blank, settings().most_blanks)
    is_masked = Ability.FILL_BLANKS in model.card.abilities
    ids, position = _masked_place(model, prompt, blank) if is_masked else _last_place(model, prompt)
    logits, norm = layer_logits(model, ids, position)
    scores = logits.log_softmax(dim=-1)
    answer = scores[-1].argmax().expand(len(scores))
    begins = position == 0 if is_masked else not any(one not in model.tokenizer.all_special_ids for one in ids)
    rows = zip(
        likeliest(model, scores, top_k, begins=begins),
        ranks(scores, answer).tolist(),
        scores.gather(1, answer[:, None])[:, 0].exp().tolist(),
        entropies(scores).tolist(),
        strict=True,
    )
    with model.tokenizer_lock:
        seen = model.tokenizer.convert_ids_to_tokens(list(ids))
    return LayerReadings(
        model=model.card.name,
        prompt=prompt,
        seen=tuple(seen),
        position=position,
        predicts="blank" if is_masked else "next",
        applied=PRE_NORM.format(norm=norm) if norm else POST_NORM,
        layers=tuple(LayerReading(layer, *row) for layer, row in enumerate(rows)),
    )


def _last_place(model: LoadedModel, prompt: str) -> tuple[tuple[int, ...], int]:
    check_left_to_right(model)
    ids = tuple(encode_prompt(model, prompt))
    return ids, len(ids) - 1


def _masked_place(model: LoadedModel, text: str, blank: int) -> tuple[tuple[int, ...], int]:
    parsed = parse_blanks(model, text)
    if blank > len(parsed.positions):
        raise UnsuitableText(f"The text has no blank {blank}: it has {len(parsed.positions)}. Choose one of them.")
    return parsed.ids, parsed.positions[blank - 1]
