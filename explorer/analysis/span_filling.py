"""What a model writes into blanks of any length: an encoder-decoder, a masked model, or a causal one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from explorer.analysis.blanks import check_option
from explorer.analysis.span_results import Span, SpanFills
from explorer.analysis.spans_by_masks import fill_by_masks
from explorer.analysis.spans_by_writing import METHODS, fill_by_rewriting, fill_by_sentinels
from explorer.analysis.spans_from_left import fill_from_left
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.settings import settings

MOST_TOKENS = 32  # of one span


@torch.inference_mode()
def fill_spans(
    model: LoadedModel,
    text: str,
    *,
    count: int = 5,
    most_tokens: int = 10,
    method: str = "beams",
    seed: int = 0,
    sentences: int | None = None,
) -> SpanFills:
    """Fill the blanks of a text, each with as many words as it takes.

    An encoder-decoder writes what stands for each sentinel (T5: searched over all blanks, and blank by blank behind the
    likeliest fills of those before) or writes the whole text anew (BART). A masked model is given 1 to 5 masks for each
    blank, filled from left to right. A causal model writes the next word, from what stands before the blank alone.

    Args:
        model: With a head that writes or fills blanks.
        text: With 1 to settings().most_blanks blanks, written ___.
        count: Ways to fill each blank, from 1 to settings().most_choices.
        most_tokens: Longest span that an encoder-decoder may write, from 1 to 32.
        method: "beams", or "sampling" for what an encoder-decoder writes when it draws each token at random.
        seed: Of the sampling.
        sentences: Ways to fill all blanks, likewise; None = as many as of each.

    Returns:
        Choices of each blank and of all together, with log-probabilities in nats; what they are of is said there, and
        differs between the kinds of models. Fewer are returned if there are fewer.

    Raises:
        UnsuitableModel: The model cannot write.
        UnsuitableText: The text or an option cannot be used as asked.

    Source: Raffel et al. 2020, https://arxiv.org/abs/1910.10683; Lewis et al. 2020, https://arxiv.org/abs/1910.13461;
        Salazar et al. 2020, https://arxiv.org/abs/1910.14659; Kauf and Ivanova 2023, https://arxiv.org/abs/2305.10588
    """
    check_option("count", count, settings().most_choices)
    sentences = count if sentences is None else sentences
    check_option("sentences", sentences, settings().most_choices)
    check_option("most_tokens", most_tokens, MOST_TOKENS)
    if method not in METHODS:
        raise UnsuitableText(f"There is no method {method!r}. Choose one of: {', '.join(METHODS)}.")
    found = _fill(model, text, max(count, sentences), most_tokens, method, seed)
    spans = tuple(Span(span.choices[:count]) for span in found.spans)
    return replace(found, spans=spans, completions=found.completions[:sentences])


def _fill(model: LoadedModel, text: str, count: int, most_tokens: int, method: str, seed: int) -> SpanFills:
    if Ability.FILL_SPANS in model.card.abilities:
        write = fill_by_rewriting if model.tokenizer.mask_token and not _has_sentinels(model) else fill_by_sentinels
        return write(model, text, count, most_tokens, method, seed)
    for ability, fill in OTHERS.items():
        if ability in model.card.abilities:
            if method != "beams":
                raise UnsuitableText(f"{model.card.name} does not sample spans; choose the method beams.")
            return fill(model, text, count)
    raise UnsuitableModel(
        f"{model.card.name} writes no words, so it cannot fill spans. Choose an encoder-decoder, a masked or a causal "
        f"model."
    )


OTHERS: dict[Ability, Callable[[LoadedModel, str, int], SpanFills]] = {
    Ability.FILL_BLANKS: fill_by_masks,
    Ability.GENERATE: fill_from_left,
}


def _has_sentinels(model: LoadedModel) -> bool:
    return "<extra_id_0>" in model.tokenizer.get_vocab()
