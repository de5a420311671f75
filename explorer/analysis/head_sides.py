"""What the two sides of an encoder-decoder read while its decoder's heads are measured."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.analysis.attention_inputs import sentinel_ids, start_ids
from explorer.analysis.corruption.sentinels import MEAN_SPAN_TOKENS, SENTINELS, SPAN_SHARE, pick_spans, replace_spans
from explorer.analysis.head_results import AGAIN, SPANS
from explorer.analysis.head_texts import EncodedText, reads_left_to_right
from explorer.models.backend import LoadedModel

LEAST_PICKED_FROM = 4  # of a shorter text the last token is hidden


def has_two_sides(model: LoadedModel, stack: str) -> bool:
    """Whether the heads of a stack are a decoder's that reads beside an encoder."""
    return model.network.config.is_encoder_decoder and stack != "encoder"


def sees_no_next(model: LoadedModel, stack: str) -> bool:
    """Whether in a stack each token sees only those before it, and itself."""
    return stack == "decoder" if has_two_sides(model, stack) else reads_left_to_right(model)


def encode_again(model: LoadedModel, texts: Sequence[EncodedText]) -> list[EncodedText]:
    """Texts as the decoder of an encoder-decoder reads them while it writes again what its encoder read."""
    start = tuple(start_ids(model))
    again = []
    for text in texts:
        inner = slice(text.start, len(text.ids) - text.end)
        spans = ((0, 0),) * len(start) + text.spans[inner] if text.spans else ()
        again.append(EncodedText((*start, *text.ids[inner]), len(start), 0, spans))
    return again


def encode_sides(
    model: LoadedModel, texts: Sequence[EncodedText], seed: int
) -> tuple[list[EncodedText], list[EncodedText], str]:
    """What the encoder reads, what the decoder reads, and how the second comes of the first.

    Where the model has sentinels, spans of the texts are hidden at random, as in T5's training, and the decoder writes
    them: a sentinel stands, on the decoder's side, where the token before its span stood, so that in both cases each
    token of the decoder is followed by the one that is to be written, and the encoder has that, or its gap, in the next
    place.

    Args:
        model: An encoder-decoder.
        texts: As its encoder reads them whole.
        seed: Of the choice of spans.

    Source: Raffel et al. 2020, section 3.1.4, https://arxiv.org/abs/1910.10683
    """
    sentinels = sentinel_ids(model.tokenizer)[:SENTINELS]
    if len(sentinels) < SENTINELS:
        return list(texts), encode_again(model, texts), AGAIN
    random, start = torch.Generator().manual_seed(seed), tuple(start_ids(model))
    pairs = [_hide_spans(text, torch.tensor(sentinels), start, random) for text in texts]
    return [read for read, _ in pairs], [said for _, said in pairs], SPANS


def _hide_spans(
    text: EncodedText, sentinels: torch.Tensor, start: tuple[int, ...], random: torch.Generator
) -> tuple[EncodedText, EncodedText]:
    """One text with gaps, and what the decoder reads while it fills them, without the sentinel at its end."""
    before, after = text.ids[: text.start], text.ids[len(text.ids) - text.end :]
    ids = torch.tensor([text.ids[text.start : len(text.ids) - text.end]])
    length = ids.shape[1]
    if length < LEAST_PICKED_FROM:
        picked = torch.arange(length)[None] == length - 1
    else:
        options = {"share": SPAN_SHARE, "mean_span_tokens": MEAN_SPAN_TOKENS}
        picked = pick_spans(1, length, **options, generator=random)
    read, said = replace_spans(ids, picked, sentinels)
    places, _ = replace_spans(torch.arange(length)[None], picked, torch.full_like(sentinels, -1))
    first = picked & ~torch.nn.functional.pad(picked, (1, -1))
    starts = first[0].nonzero()[:, 0].tolist()
    gaps = iter(starts)
    read_places = [next(gaps) if place < 0 else place for place in places[0].tolist()]
    said_places = [
        place for at in picked[0].nonzero()[:, 0].tolist() for place in ([at - 1, at] if at in starts else [at])
    ]
    return (
        EncodedText(
            (*before, *read[0].tolist(), *after),
            text.start,
            text.end,
            places=(*range(-len(before), 0), *read_places, *range(length, length + len(after))),
        ),
        EncodedText((*start, *said[0, :-1].tolist()), len(start), 0, places=(*range(-len(start), 0), *said_places)),
    )
