"""The word that a causal model expects in a blank: from the left alone, it does not know what comes behind."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from jaxtyping import Bool
from torch import Tensor

from explorer.analysis.blanks import check_tokens, put_fills, split_text
from explorer.analysis.reading import decode
from explorer.analysis.search import forbidden_ids, widest
from explorer.analysis.span_results import Span, SpanChoice, SpanCompletion, SpanFills
from explorer.analysis.spans_by_masks import NARROWED
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

MOST_PIECES = 6  # of one word
NARROWEST_BEAM = 5
SCORE = "ln p(the word, and that it ends there | the text before the blank, the best words in earlier blanks)"
COMPLETION_SCORE = "sum of ln p(word | all before it) over the blanks; what stands behind a blank plays no part"
REMARK = "A causal model reads from the left only: it did not see what stands behind a blank."


@dataclass(frozen=True)
class Word:
    """A word that a causal model may write.

    Attributes:
        ids: Its tokens.
        log_probability: Of its tokens and of its end, in nats.
    """

    ids: tuple[int, ...]
    log_probability: float


def fill_from_left(model: LoadedModel, text: str, count: int) -> SpanFills:
    """The likeliest next word at each blank, and the likeliest words for all of them; arguments as of fill_spans."""
    segments = split_text(text, None)
    blanks = len(segments) - 1
    tokens = len(_tokenize(model, put_fills(segments[:-1], [""] * (blanks - 1)))) + blanks  # of the longest beginning
    width = math.isqrt(widest(count**2, NARROWEST_BEAM**2, blanks * MOST_PIECES, tokens))
    beams: list[tuple[float, tuple[str, ...]]] = [(0.0, ())]
    spans = []
    for blank in range(blanks):
        befores = [put_fills(segments[: blank + 1], fills) for _, fills in beams]
        words = next_words(model, befores, [count] + [width] * (len(befores) - 1))
        choices = [_choices(model, of_one) for of_one in words]
        spans.append(Span(tuple(choices[0])))
        grown = [
            (score + choice.log_probability, (*fills, choice.text))
            for (score, fills), of_one in zip(beams, choices, strict=True)
            for choice in of_one
        ]
        keeps = count if blank == blanks - 1 else width
        beams = heapq.nsmallest(keeps, grown, key=lambda beam: (-beam[0], beam[1]))
    return SpanFills(
        model=model.card.name,
        text=text,
        method="beams",
        score=SCORE,
        completion_score=COMPLETION_SCORE,
        spans=tuple(spans),
        completions=tuple(SpanCompletion(put_fills(segments, fills), fills, score) for score, fills in beams),
        saw=put_fills(segments[:-1], beams[0][1][:-1]),
        wrote=(),
        remarks=(REMARK,) if width == count else (REMARK, NARROWED.format(width=width)),
    )


def _choices(model: LoadedModel, words: Sequence[Word]) -> list[SpanChoice]:
    read = [SpanChoice(decode(model, word.ids).strip(), word.log_probability, len(word.ids)) for word in words]
    return [choice for choice in read if choice.text]  # a byte-level vocabulary has a token for a space alone


def next_words(model: LoadedModel, befores: Sequence[str], counts: Sequence[int]) -> list[list[Word]]:
    """The likeliest next words of texts.

    A word is a token that starts one, and pieces that continue it, until something else would start.

    Args:
        model: With a causal head.
        befores: What stands before the word.
        counts: How many words for each.

    Returns:
        For each text, words best first.
    """
    given = [_tokenize(model, before) for before in befores]
    starts = word_starts(model)
    forbidden = forbidden_ids(model, len(starts))
    done: list[list[Word]] = [[] for _ in given]
    open_words: list[tuple[int, tuple[int, ...], float]] = [(index, (), 0.0) for index in range(len(given))]
    for piece in range(MOST_PIECES + 1):
        rows = [Row((*given[index], *ids), (len(given[index]) + len(ids) - 1,)) for index, ids, _ in open_words]
        scores = torch.cat(masked_logits(model, rows)).log_softmax(dim=-1)
        ends = scores[:, starts].logsumexp(dim=-1).tolist()
        if piece:
            for (index, ids, score), end in zip(open_words, ends, strict=True):
                done[index].append(Word(ids, score + end))
        allowed = scores.index_fill(-1, forbidden, -torch.inf)
        allowed[:, ~starts if piece == 0 else starts] = -torch.inf
        best = allowed.topk(min(max(counts), allowed.shape[-1]), dim=-1)
        grown: list[list[tuple[int, tuple[int, ...], float]]] = [[] for _ in given]
        for (index, ids, score), values, tokens in zip(
            open_words, best.values.tolist(), best.indices.tolist(), strict=True
        ):
            pairs = islice(zip(values, tokens, strict=True), counts[index])
            grown[index] += [(index, (*ids, t), score + v) for v, t in pairs]
        open_words = []
        for index, (some, count) in enumerate(zip(grown, counts, strict=True)):
            known = sorted((word.log_probability for word in done[index]), reverse=True)[count - 1 : count]
            hopeful = [word for word in some if word[2] > (known[0] if known else -torch.inf)]
            open_words += heapq.nsmallest(count, hopeful, key=lambda word: (-word[2], word[1]))
        if not open_words or piece == MOST_PIECES:
            break
    return [
        heapq.nsmallest(count, words, key=lambda word: (-word.log_probability, word.ids))
        for words, count in zip(done, counts, strict=True)
    ]


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
