"""Masked language models: tokens, words or spans are picked, and predicted from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from explorer.analysis.corruption.masking import ALL_MASKED, BERT_CORRUPTION, Corruption, corrupt, pick_tokens
from explorer.analysis.corruption.words import pick_word_spans, pick_words
from explorer.analysis.examples.draft import Draft, Options, score_answers
from explorer.analysis.plain_text import PlainText, Span
from explorer.analysis.training_results import Fate
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

LATER_EPOCHS = 3


def mask_tokens_once(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """BERT: single tokens; and what other epochs pick if masks are drawn anew."""
    draft = _predict_masked(model, plain, draw_masks(model, plain, "masked", options.generator))
    later = tuple(draw_masks(model, plain, "masked", options.generator).fates for _ in range(LATER_EPOCHS))
    return Draft(draft.fates, draft.inputs, draft.answers, later_epochs=later)


def mask_whole_words(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """Words, each token of which has its own fate."""
    return _predict_masked(model, plain, draw_masks(model, plain, "whole_word", options.generator))


def mask_spans(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """SpanBERT: all tokens of a span share their fate."""
    return _predict_masked(model, plain, draw_masks(model, plain, "span_masked", options.generator))


@dataclass(frozen=True)
class Masks:
    """What a masked model reads of a text, and what became of each token; picked = the first token of a unit and the
    one behind its last: of a token, a word or a span."""

    ids: tuple[int, ...]
    fates: tuple[Fate, ...]
    picked: tuple[Span, ...]


def draw_masks(model: LoadedModel, plain: PlainText, objective: str, generator: torch.Generator) -> Masks:
    """Pick tokens, words or spans of a text, and hide them or not; the model is not asked.

    Args:
        model: Of whose vocabulary the masks and random tokens are.
        plain: The text.
        objective: "masked", "whole_word" or "span_masked".
        generator: Source of the random numbers.
    """
    if objective == "masked":
        picked = pick_any(plain, generator)
        spans = [(place, place + 1) for place in picked[0].nonzero().flatten().tolist()]
        return _mask(model, plain, picked, spans, generator)
    if objective == "whole_word":
        spans = pick_words(plain.words, generator=generator)
        return _mask(model, plain, _within(plain, spans), spans, generator)
    spans = pick_word_spans(plain.words, generator=generator)
    groups = torch.arange(len(plain.ids))[None]
    for start, end in spans:
        groups[:, start:end] = start
    return _mask(model, plain, _within(plain, spans), spans, generator, groups)


def all_masked(
    model: LoadedModel, plain: PlainText, generator: torch.Generator
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of a text with 15 % masked, and where."""
    picked = pick_any(plain, generator)
    masks = _mask(model, plain, picked, (), generator, corruption=ALL_MASKED)
    return masks.ids, tuple(picked[0].nonzero().flatten().tolist())


def pick_any(plain: PlainText, generator: torch.Generator) -> Bool[Tensor, "row token"]:
    """Pick 15 % of a text's own tokens, [1, token]."""
    return pick_tokens(~torch.tensor([plain.is_special]), generator=generator)


def _within(plain: PlainText, spans: Sequence[Span]) -> Bool[Tensor, "row token"]:
    picked = torch.zeros(1, len(plain.ids), dtype=torch.bool)
    for start, end in spans:
        picked[0, start:end] = True
    return picked


def _mask(
    model: LoadedModel,
    plain: PlainText,
    picked: Bool[Tensor, "row token"],
    spans: Sequence[Span],
    generator: torch.Generator,
    groups: Int[Tensor, "row token"] | None = None,
    corruption: Corruption = BERT_CORRUPTION,
) -> Masks:
    became = corrupt(
        torch.tensor([plain.ids]),
        picked,
        mask_id=model.tokenizer.mask_token_id,
        vocab_size=len(model.tokenizer),
        corruption=corruption,
        generator=generator,
        groups=groups,
    )
    fates = []
    columns = (part[0].tolist() for part in (picked, became.masked, became.randomized))
    for is_special, is_picked, is_masked, is_random in zip(plain.is_special, *columns, strict=True):
        picked_fate = Fate.MASKED if is_masked else Fate.RANDOMIZED if is_random else Fate.UNCHANGED
        fates.append(Fate.SPECIAL if is_special else picked_fate if is_picked else Fate.KEPT)
    return Masks(tuple(became.ids[0].tolist()), tuple(fates), tuple(spans))


def _predict_masked(model: LoadedModel, plain: PlainText, masks: Masks) -> Draft:
    places = tuple(place for span in masks.picked for place in range(*span))
    [logits] = masked_logits(model, [Row(masks.ids, places)])
    answers = score_answers(logits, [plain.ids[place] for place in places], places)
    return Draft(masks.fates, tuple(zip(masks.ids, masks.fates, strict=True)), answers)
