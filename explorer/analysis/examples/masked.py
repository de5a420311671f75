"""Masked language models: tokens, words or spans are picked, and predicted from both sides."""

from __future__ import annotations

from collections.abc import Sequence

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
    draft = _predict_masked(model, plain, pick_any(plain, options.generator), options.generator)
    later = tuple(
        _mask(model, plain, pick_any(plain, options.generator), options.generator)[1] for _ in range(LATER_EPOCHS)
    )
    return Draft(draft.fates, draft.inputs, draft.answers, later_epochs=later)


def mask_whole_words(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """Words, each token of which has its own fate."""
    spans = pick_words(plain.words, generator=options.generator)
    return _predict_masked(model, plain, _within(plain, spans), options.generator)


def mask_spans(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """SpanBERT: all tokens of a span share their fate."""
    spans = pick_word_spans(plain.words, generator=options.generator)
    groups = torch.arange(len(plain.ids))[None]
    for start, end in spans:
        groups[:, start:end] = start
    return _predict_masked(model, plain, _within(plain, spans), options.generator, groups)


def all_masked(
    model: LoadedModel, plain: PlainText, generator: torch.Generator
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of a text with 15 % masked, and where."""
    picked = pick_any(plain, generator)
    ids, _ = _mask(model, plain, picked, generator, corruption=ALL_MASKED)
    return ids, tuple(picked[0].nonzero().flatten().tolist())


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
    generator: torch.Generator,
    groups: Int[Tensor, "row token"] | None = None,
    corruption: Corruption = BERT_CORRUPTION,
) -> tuple[tuple[int, ...], tuple[Fate, ...]]:
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
    return tuple(became.ids[0].tolist()), tuple(fates)


def _predict_masked(
    model: LoadedModel,
    plain: PlainText,
    picked: Bool[Tensor, "row token"],
    generator: torch.Generator,
    groups: Int[Tensor, "row token"] | None = None,
) -> Draft:
    ids, fates = _mask(model, plain, picked, generator, groups)
    places = tuple(picked[0].nonzero().flatten().tolist())
    [logits] = masked_logits(model, [Row(ids, places)])
    answers = score_answers(logits, [plain.ids[place] for place in places], places)
    return Draft(fates, tuple(zip(ids, fates, strict=True)), answers)
