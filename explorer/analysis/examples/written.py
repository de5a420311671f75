"""Encoder-decoders: the encoder reads a damaged text, and the decoder writes what is missing, or all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from explorer.analysis.corruption.noises import MAKE_NOISE
from explorer.analysis.corruption.sentinels import (
    MEAN_SPAN_TOKENS,
    SPAN_SHARE,
    find_sentinels,
    pick_spans,
    replace_spans,
)
from explorer.analysis.examples.draft import Draft, Options, score_answers
from explorer.analysis.plain_text import PlainText
from explorer.analysis.training_results import Fate
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel


def write_spans(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """T5: the tokenizer's special tokens stay around what is read; the target ends like a text."""
    start, end = plain.inner
    inner = torch.tensor([plain.ids[start:end]])
    picked = pick_spans(*inner.shape, share=SPAN_SHARE, mean_span_tokens=MEAN_SPAN_TOKENS, generator=options.generator)
    sentinels = find_sentinels(model.tokenizer)
    inputs, targets = (part[0].tolist() for part in replace_spans(inner, picked, torch.tensor(sentinels)))
    fates = [Fate.MASKED if is_picked else Fate.KEPT for is_picked in picked[0].tolist()]
    read = [(token_id, Fate.MASKED if token_id in sentinels else Fate.KEPT) for token_id in inputs]
    return _write(model, _between_marks(plain, fates, read, [*targets, model.network.config.eos_token_id]))


def restore_text(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """BART: the text between its marks is noised, and the target is all of it."""
    return _write(model, damage_text(model, plain, options))


def damage_text(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """A text as BART's encoder reads it, and what its decoder is to write; the model is not asked."""
    start, end = plain.inner
    sentences = [(first - start, last - start) for first, last in plain.sentences]
    if "permutation" in options.noise and len(sentences) < 2:
        raise UnsuitableText("The text has one sentence, so there is no other order. Write two sentences or more.")
    noised = MAKE_NOISE[options.noise](list(range(end - start)), sentences, options.generator)
    left = [place for place in noised if place is not None]
    moved = {place for place, before in zip(left, sorted(left), strict=True) if place != before}
    kept = {place: Fate.MOVED if place in moved else Fate.KEPT for place in left}
    gone = Fate.DELETED if options.noise == "token_deletion" else Fate.MASKED
    fates = [kept.get(place, gone) for place in range(end - start)]
    mask_id = model.tokenizer.mask_token_id
    read = [(mask_id, Fate.MASKED) if at is None else (plain.ids[start + at], kept[at]) for at in noised]
    return _between_marks(plain, fates, read, plain.ids)


def _between_marks(
    plain: PlainText, fates: Sequence[Fate], read: Sequence[tuple[int, Fate]], targets: Sequence[int]
) -> Draft:
    """A draft of fates and of what is read between the marks of a text."""
    start, end = plain.inner
    marks = [[(token_id, Fate.SPECIAL) for token_id in side] for side in (plain.ids[:start], plain.ids[end:])]
    around = [[Fate.SPECIAL] * len(side) for side in marks]
    return Draft([*around[0], *fates, *around[1]], (*marks[0], *read, *marks[1]), (), targets)


def _write(model: LoadedModel, draft: Draft) -> Draft:
    """What an encoder-decoder loses on the target of a draft."""
    ids, labels = ([list(part)] for part in ([token_id for token_id, _ in draft.inputs], draft.target))
    device = model.network.device
    before = model.network.prepare_decoder_input_ids_from_labels(torch.tensor(labels, device=device))
    logits = model.network(input_ids=torch.tensor(ids, device=device), decoder_input_ids=before).logits
    return replace(draft, answers=score_answers(logits[0].float(), draft.target, [None] * len(draft.target)))
