"""The word that a causal model expects in a blank: from the left alone, it does not know what comes behind."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from explorer.analysis.blanks import check_tokens, put_fills, split_text
from explorer.analysis.reading import decode
from explorer.analysis.search import Answers, affordable_rows, forbidden_ids, run_search, widest
from explorer.analysis.span_results import Span, SpanChoice, SpanCompletion, SpanFills
from explorer.analysis.spans_by_masks import NARROWED, NARROWEST_BEAM, WIDTH
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row

MOST_PIECES = 6  # of one word
AT_ONCE = 8  # beginnings of words that are read together at the least
MOST_READ, LEAST_READ = 400, 16  # of one text
SCORE = (
    "ln p(the word, and that it ends there | the text before the blank, the likeliest words that far in earlier blanks)"
)
COMPLETION_SCORE = "sum of ln p(word | all before it) over the blanks; what stands behind a blank plays no part"
CUT = "Of all beginnings of words only the {most} likeliest were read at a blank: likelier words may exist."
REMARK = "A causal model reads from the left only: it did not see what stands behind a blank."


@dataclass(frozen=True)
class Words:
    """The likeliest next words of a text.

    Attributes:
        words: Best first.
        is_cut: Whether a bound ended the search, so that likelier ones may exist.
    """

    words: tuple[Word, ...]
    is_cut: bool


@dataclass(frozen=True)
class Word:
    """A word that a causal model may write.

    Attributes:
        ids: Its tokens; of several ways to write it the likeliest.
        text: How they read.
        log_probability: Of its tokens and of its end, in nats.
    """

    ids: tuple[int, ...]
    text: str
    log_probability: float


def fill_from_left(model: LoadedModel, text: str, count: int) -> SpanFills:
    """The likeliest next word at each blank, and the likeliest words for all of them; arguments as of fill_spans."""
    segments = split_text(text, None)
    blanks = len(segments) - 1
    tokens = len(_tokenize(model, put_fills(segments[:-1], [""] * (blanks - 1)))) + blanks  # of the longest beginning
    width = widest(max(count, WIDTH), NARROWEST_BEAM, 2 * blanks * LEAST_READ, tokens)
    rows = affordable_rows(tokens) // (2 * blanks)  # half of those of a blank are for what follows the best beginning
    most_read = min(MOST_READ, max(NARROWEST_BEAM * MOST_PIECES, rows))
    beams: list[tuple[float, tuple[str, ...]]] = [(0.0, ())]
    spans, saw, is_cut = [], [], False
    for blank in range(blanks):
        keeps = count if blank == blanks - 1 else width
        befores = [put_fills(segments[: blank + 1], fills) for _, fills in beams]
        saw.append(befores[0].rstrip())
        (best,) = next_words(model, befores[:1], [max(count, keeps)], most_read=most_read)
        spans.append(Span(tuple(SpanChoice(one.text, one.log_probability, len(one.ids)) for one in best.words[:count])))
        least = beams[0][0] + best.words[keeps - 1].log_probability if len(best.words) >= keeps else -math.inf
        others = next_words(
            model,
            befores[1:],
            [keeps] * (len(befores) - 1),
            floors=[least - score for score, _ in beams[1:]],  # what is below falls out of the beams in any case
            most_read=min(MOST_READ, max(LEAST_READ, rows // width)),
        )
        is_cut |= any(one.is_cut for one in (best, *others))
        grown = [
            (score + word.log_probability, (*fills, word.text))
            for (score, fills), found in zip(beams, [best, *others], strict=True)
            for word in found.words
        ]
        beams = heapq.nsmallest(keeps, grown, key=lambda beam: (-beam[0], beam[1]))
    return SpanFills(
        model=model.card.name,
        text=text,
        method="beams",
        score=SCORE,
        completion_score=COMPLETION_SCORE,
        spans=tuple(spans),
        completions=tuple(SpanCompletion(put_fills(segments, fills), fills, score) for score, fills in beams),
        saw=tuple(saw),
        wrote=(),
        remarks=(
            REMARK,
            *[NARROWED.format(width=width)] * (width < count and blanks > 1),
            *[CUT.format(most=most_read)] * is_cut,
        ),
    )


def next_words(
    model: LoadedModel,
    befores: Sequence[str],
    counts: Sequence[int],
    *,
    floors: Sequence[float] | None = None,
    most_read: int = MOST_READ,
) -> list[Words]:
    """The likeliest next words of texts.

    A word is a token that starts one, and pieces that continue it, until something else would start. No word is
    likelier than its beginning: these are read best first, until none is likelier than the last word that is wanted.

    Args:
        model: With a causal head.
        befores: What stands before the word.
        counts: How many words for each.
        floors: Words that are less likely than this, in nats, are not looked for; one for each text.
        most_read: Beginnings that are read for each text.

    Returns:
        For each text, words best first.
    """
    given = [_tokenize(model, before) for before in befores]
    starts = word_starts(model)
    forbidden = forbidden_ids(model, len(starts))
    searches = [
        _search(ids, count, floor, most_read, starts, forbidden, partial(decode, model))
        for ids, count, floor in zip(given, counts, floors or [-math.inf] * len(given), strict=True)
    ]
    return run_search(model, searches, len(starts))


def _search(
    given: tuple[int, ...],
    count: int,
    floor: float,
    most_read: int,
    starts: Bool[Tensor, " vocab"],
    forbidden: Int[Tensor, " token"],
    read: Callable[[Sequence[int]], str],
) -> Generator[list[Row], Answers, Words]:
    beginnings: list[tuple[float, tuple[int, ...]]] = []
    best: dict[str, Word] = {}

    def lengthen(ids: tuple[int, ...], score: float, scores: Float[Tensor, " vocab"]) -> None:
        allowed = scores.index_fill(-1, forbidden, -torch.inf)
        allowed[starts if ids else ~starts] = -torch.inf
        found = allowed.topk(min(most_read, len(allowed)))
        for value, token in zip(found.values.tolist(), found.indices.tolist(), strict=True):
            heapq.heappush(beginnings, (-(score + value), (*ids, token)))

    (logits,) = yield [Row(given, (len(given) - 1,))]
    lengthen((), 0.0, logits[0].log_softmax(dim=-1))
    left = most_read
    while True:
        least = max(floor, min(word.log_probability for word in best.values()) if len(best) == count else -math.inf)
        hopeful = []
        while beginnings and -beginnings[0][0] > least and len(hopeful) < max(count, AT_ONCE):
            hopeful.append(heapq.heappop(beginnings))
        asked = hopeful[:left]
        if not asked:
            return Words(tuple(word for word in best.values() if word.log_probability > floor), is_cut=bool(hopeful))
        left -= len(asked)
        answers = yield [Row((*given, *ids), (len(given) + len(ids) - 1,)) for _, ids in asked]
        scores = torch.cat(answers).log_softmax(dim=-1)
        ends = scores[:, starts].logsumexp(dim=-1).tolist()
        for (lost, ids), of_one, end in zip(asked, scores, ends, strict=True):
            word = Word(ids, read(ids).strip(), end - lost)
            known = best.get(word.text, word)
            if word.text and known.log_probability <= word.log_probability:  # a vocabulary may have a token for a space
                best[word.text] = word
            if len(ids) < MOST_PIECES:
                lengthen(ids, -lost, of_one)
        likeliest = heapq.nsmallest(count, best.values(), key=lambda word: (-word.log_probability, word.ids))
        best = {word.text: word for word in likeliest}


def word_starts(model: LoadedModel) -> Bool[Tensor, " vocab"]:
    """Which tokens start a word, or are none: all but those that continue one."""
    size = len(model.network.get_input_embeddings().weight)
    with model.tokenizer_lock:
        tokens = model.tokenizer.convert_ids_to_tokens(list(range(min(size, len(model.tokenizer)))))
    marks_spaces = any(token and token[0] in "Ġ▁" for token in tokens)
    special = set(model.tokenizer.all_special_tokens)

    def is_start(token: str | None) -> bool:
        if not token or token in special:
            return True
        if marks_spaces:
            return token[0] in "Ġ▁" or not token[0].isalnum()
        return not token.startswith("##")

    flags = [is_start(token) for token in tokens]
    return torch.tensor(flags + [True] * (size - len(flags)), device=model.network.device)


def _tokenize(model: LoadedModel, before: str) -> tuple[int, ...]:
    """The text before a blank: the space in front of the blank belongs to the word."""
    with model.tokenizer_lock:
        ids = model.tokenizer(before.rstrip(), verbose=False)["input_ids"]
    if not ids:  # nothing before it: the mark that begins a text
        ids = [model.tokenizer.bos_token_id or model.tokenizer.eos_token_id or 0]
    check_tokens(model, len(ids) + MOST_PIECES)
    return tuple(ids)
