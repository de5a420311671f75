"""Questions and passages as rows that a model can read, and the answer's place in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import BatchEncoding, PreTrainedTokenizerBase

from explorer.training.tuning.examples import AnsweredQuestion

STRIDE_SHARE = 0.5  # of a window's passage, how much the next window goes on by


@dataclass(frozen=True)
class AnswerWindow:
    """A question, and as much of its passage as fits beside it.

    Attributes:
        question: Index of the question.
        ids: Token ids, special ones included.
        types: Token types, parallel to ids: 1 where the tokenizer says so.
        first: Which of the ids is the first of the passage.
        spans: Where each token of the passage stands in it, in characters, the end exclusive.
        start: Which of the ids is the answer's first; 0 = the answer is not in this window.
        end: Its last, inclusive.
    """

    question: int
    ids: tuple[int, ...]
    types: tuple[int, ...]
    first: int
    spans: tuple[tuple[int, int], ...]
    start: int
    end: int


def make_windows(
    tokenizer: PreTrainedTokenizerBase, examples: Sequence[AnsweredQuestion], most_tokens: int
) -> tuple[AnswerWindow, ...]:
    """Rows of question and passage; a passage that is too long is read in several windows that overlap by half.

    Args:
        tokenizer: A copy of its own, or one whose lock is held; it must say where its tokens stand.
        examples: Questions with their passages; where `start` does not fit, the answer is looked for.
        most_tokens: Of a row, special tokens included. Of a question so long that less than a quarter of that is left,
            the end is cut.

    Source: Devlin et al. 2019, section 4.2, https://arxiv.org/abs/1810.04805
    """
    windows = []
    for number, example in enumerate(examples):
        encoded = tokenizer(
            example.question,
            example.passage,
            return_offsets_mapping=True,
            return_token_type_ids=True,
            verbose=False,
        )
        windows += _cut_windows(number, example, encoded, encoded.sequence_ids(0), most_tokens)
    return tuple(windows)


def _cut_windows(
    number: int, example: AnsweredQuestion, encoded: BatchEncoding, parts: Sequence[int | None], most: int
) -> list[AnswerWindow]:
    ids, types = list(encoded["input_ids"]), list(encoded["token_type_ids"])
    offsets = [tuple(span) for span in encoded["offset_mapping"]]
    own = [place for place, part in enumerate(parts) if part == 1]
    if not own:
        return []
    begin, end = own[0], own[-1] + 1
    asked = [place for place, part in enumerate(parts) if part == 0]
    around = begin + len(ids) - end
    surplus = max(0, min(around - (most - most // 4), len(asked)))
    dropped = set(asked[len(asked) - surplus :])
    before = [place for place in range(begin) if place not in dropped]
    after = list(range(end, len(ids)))
    room = max(1, most - len(before) - len(after))
    answer = find_answer_tokens(example, [offsets[place] for place in range(begin, end)])
    windows = []
    start = begin
    while True:
        stop = min(start + room, end)
        places = before + list(range(start, stop)) + after
        shift = start - len(before)
        inside = answer is not None and start <= begin + answer[0] and begin + answer[1] < stop
        windows.append(
            AnswerWindow(
                question=number,
                ids=tuple(ids[place] for place in places),
                types=tuple(types[place] for place in places),
                first=len(before),
                spans=tuple(offsets[place] for place in range(start, stop)),
                start=begin + answer[0] - shift if inside else 0,
                end=begin + answer[1] - shift if inside else 0,
            )
        )
        if stop == end:
            return windows
        start += max(1, int(room * STRIDE_SHARE))


def find_answer_tokens(example: AnsweredQuestion, spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """First and last (inclusive) of the passage's tokens that hold a letter of the answer; None = none does.

    Args:
        example: Whose `start` may be wrong: the answer's nearest place to it is taken.
        spans: Where each token of the passage stands in it, in characters.
    """
    start = place_of_answer(example)
    if start is None:
        return None
    end = start + len(example.answer)
    holding = [
        token
        for token, (first, last) in enumerate(spans)
        if first < end and last > start and example.passage[max(first, start) : min(last, end)].strip()
    ]
    return (holding[0], holding[-1]) if holding else None


def place_of_answer(example: AnsweredQuestion) -> int | None:
    """Where the answer begins in the passage, in characters; None = it is not there word for word."""
    if not example.answer.strip():
        return None
    if example.start >= 0 and example.passage.startswith(example.answer, example.start):
        return example.start
    found, at = [], example.passage.find(example.answer)
    while at >= 0:
        found.append(at)
        at = example.passage.find(example.answer, at + 1)
    return min(found, key=lambda place: abs(place - example.start), default=None)
