"""Encoder-decoders: the encoder reads a damaged text, and the decoder writes what is missing, or all of it."""

from __future__ import annotations

from collections.abc import Sequence

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
    return _write(model, plain, fates, read, [*targets, model.network.config.eos_token_id])


def restore_text(model: LoadedModel, plain: PlainText, options: Options) -> Draft:
    """BART: the text between its marks is noised, and the target is all of it."""
    start, end = plain.inner
    sentences = [(first - start, last - start) for first, last in plain.sentences]
    if "permutation" in options.noise and len(sentences) < 2:
        raise UnsuitableText("The text has one sentence, so there is no other order. Write two sentences or more.")
    noised = MAKE_NOISE[options.noise](list(range(end - start)), sentences, options.generator)
    left = [place for place in noised if place is not None]
    is_moved = left != sorted(left)
    here = Fate.MOVED if is_moved else Fate.KEPT
    gone = Fate.DELETED if options.noise == "token_deletion" else Fate.MASKED
    fates = [here if place in set(left) else gone for place in range(end - start)]
    mask_id = model.tokenizer.mask_token_id
    read = [(mask_id, Fate.MASKED) if place is None else (plain.ids[start + place], here) for place in noised]
    return _write(model, plain, fates, read, plain.ids)


def _write(
    model: LoadedModel,
    plain: PlainText,
    fates: Sequence[Fate],
    read: Sequence[tuple[int, Fate]],
    targets: Sequence[int],
) -> Draft:
    """What an encoder-decoder loses on a target; fates and what is read are of the text between its marks."""
    start, end = plain.inner
    marks = [[(token_id, Fate.SPECIAL) for token_id in side] for side in (plain.ids[:start], plain.ids[end:])]
    inputs = [*marks[0], *read, *marks[1]]
    ids, labels = ([list(part)] for part in ([token_id for token_id, _ in inputs], targets))
    device = model.network.device
    before = model.network.prepare_decoder_input_ids_from_labels(torch.tensor(labels, device=device))
    logits = model.network(input_ids=torch.tensor(ids, device=device), decoder_input_ids=before).logits
    around = [[Fate.SPECIAL] * len(side) for side in marks]
    answers = score_answers(logits[0].float(), targets, [None] * len(targets))
    return Draft([*around[0], *fates, *around[1]], inputs, answers, targets)
