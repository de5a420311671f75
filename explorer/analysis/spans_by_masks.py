"""Spans that a masked model fills: with 1 to 5 masks in the place of a blank, each length searched and scored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from explorer.analysis.beams import fill_left_to_right
from explorer.analysis.blanks import BlankedText, parse_blanks, put_fills
from explorer.analysis.reading import decode, read_span_in_blank
from explorer.analysis.search import (
    Filling,
    Start,
    allowed_log_probabilities,
    best_first,
    forbidden_ids,
    run_search,
    widest,
)
from explorer.analysis.span_choices import distinct_choices
from explorer.analysis.span_results import Span, SpanCompletion, SpanFills
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

MOST_MASKS = 5
NARROWEST_BEAM = 5
WIDTH = 20  # beginnings of sentences that are followed, however few are shown
SCORE = (
    "pseudo-log-likelihood of the span, each token with itself and the later ones masked (PLL-word-l2r); "
    "the other blanks are one mask each"
)
COMPLETION_SCORE = (
    "the same over all blanks, from left to right, with as many masks as each blank's best choice has tokens"
)
TOLD_LENGTH = (
    "Its masks tell this model how many tokens a fill has: each number is of a fill among those of as many tokens, so "
    "choices of different lengths do not add up to 100 %."
)
LENGTHS = "The sentences have in each blank as many tokens as its best choice."
NARROWED = (
    "With so many blanks and choices in a text of this length, only the {width} best beginnings were followed at each "
    "step: better choices may exist. Fewer blanks, fewer choices or a shorter text are searched in full."
)


def fill_by_masks(model: LoadedModel, text: str, count: int) -> SpanFills:
    """Choose how many masks each blank takes, and what stands in them; arguments as of fill_spans."""
    parsed = parse_blanks(model, text)
    blanks = len(parsed.positions)
    longest = min(MOST_MASKS, 1 + model.limit_tokens - len(parsed.ids))
    steps = blanks * sum(range(1, longest)) + blanks * longest - 1  # of each length by itself, and of all blanks
    width = widest(count, NARROWEST_BEAM, steps, len(parsed.ids) + longest)
    widened = [
        widen(model, parsed, [length if other == blank else 1 for other in range(blanks)], blank)
        for blank in range(blanks)
        for length in range(1, longest + 1)
    ]
    found = _search(model, widened, width)
    spans, lengths = [], []
    for first in range(0, len(found), longest):
        read = partial(read_span_in_blank, model, parsed, first // longest)
        fillings = best_first([filling for some in found[first : first + longest] for filling in some])
        spans.append(Span(distinct_choices(read, ((one.ids, one.score) for one in fillings))[:count]))
        lengths.append(len(fillings[0].ids))
    whole = widen(model, parsed, lengths)
    if blanks == 1:  # of any length, as its choices are
        completions = [SpanCompletion(put_fills(parsed.segments, [one.text]), (one.text,), one.log_probability)
                       for one in spans[0].choices]  # fmt: skip
    else:
        wide = widest(max(count, WIDTH), NARROWEST_BEAM, steps, len(parsed.ids) + longest)
        completions = _complete(model, parsed, whole, lengths, wide)[:count]
    remarks = (
        *[TOLD_LENGTH] * any(len({one.length_tokens for one in span.choices}) > 1 for span in spans),
        *[LENGTHS] * (blanks > 1),
        *[NARROWED.format(width=width)] * (width != count),
    )
    return SpanFills(
        model=model.card.name,
        text=text,
        method="beams",
        score=SCORE,
        completion_score=COMPLETION_SCORE if blanks > 1 else SCORE,
        spans=tuple(spans),
        completions=tuple(completions),
        saw=(decode(model, whole.ids),),
        wrote=(),
        remarks=remarks,
    )


def _complete(
    model: LoadedModel, text: BlankedText, whole: BlankedText, lengths: Sequence[int], width: int
) -> list[SpanCompletion]:
    """All blanks of a text filled from left to right, each with so many masks as stand in `whole`."""
    completions = []
    (fillings,) = _search(model, [whole], width)
    for filling in fillings:
        fills, ids = [], list(filling.ids)
        for blank, length in enumerate(lengths):
            fills.append(read_span_in_blank(model, text, blank, ids[:length]))
            del ids[:length]
        completions.append(SpanCompletion(put_fills(text.segments, fills), tuple(fills), filling.score))
    return completions


def widen(model: LoadedModel, text: BlankedText, lengths: Sequence[int], only: int | None = None) -> BlankedText:
    """The text with several masks in its blanks.

    Args:
        model: Whose mask it is.
        text: With one mask per blank.
        lengths: Masks per blank.
        only: The blank whose masks are to be filled; None = all.
    """
    ids: list[int] = []
    positions: list[int] = []
    place = 0
    for blank, (position, length) in enumerate(zip(text.positions, lengths, strict=True)):
        ids += text.ids[place:position]
        if only in (None, blank):
            positions += range(len(ids), len(ids) + length)
        ids += [model.tokenizer.mask_token_id] * length
        place = position + 1
    ids += text.ids[place:]
    return BlankedText(text.text, text.segments, tuple(ids), (), tuple(positions))


def _search(model: LoadedModel, texts: Sequence[BlankedText], count: int) -> list[list[Filling]]:
    """The best fillings of each text, by beam search from left to right."""
    logits = masked_logits(model, [Row(text.ids, text.positions) for text in texts])
    vocabulary = logits[0].shape[-1]
    forbidden = forbidden_ids(model, vocabulary)
    starts = [
        Start(text, allowed_log_probabilities(scores, forbidden), forbidden)
        for text, scores in zip(texts, logits, strict=True)
    ]
    return run_search(model, [fill_left_to_right(start, count) for start in starts], vocabulary)
