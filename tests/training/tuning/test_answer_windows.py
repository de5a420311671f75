"""Questions and passages as rows, and where the answers stand in them."""

import pytest

from explorer.training.tuning.answer_windows import find_answer_tokens, make_windows, place_of_answer
from explorer.training.tuning.examples import AnsweredQuestion
from tests.analysis.tiny_models import FAMILIES, word_piece

PASSAGE = "The cat is playing in Paris. A dog walks home (slowly). He is happy, unhappily. play walk run"


def asked(answer: str, start: int | None = None, question: str = "he is in") -> AnsweredQuestion:
    return AnsweredQuestion(question, PASSAGE, answer, PASSAGE.index(answer) if start is None else start)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("answer", ["Paris", "dog walks", "slowly", "unhappily"])
def test_the_tokens_of_an_answer_cover_it_and_little_more(family, answer):
    (window,) = make_windows(FAMILIES[family]().tokenizer, [asked(answer)], 256)
    tokens = slice(window.start - window.first, window.end - window.first + 1)
    start, end = window.spans[tokens][0][0], window.spans[tokens][-1][1]
    assert answer in PASSAGE[start:end]
    assert PASSAGE[start:end].strip(" ().,") == answer


def test_a_row_is_what_the_tokenizer_makes_of_the_pair():
    model = word_piece()
    (window,) = make_windows(model.tokenizer, [asked("Paris")], 256)
    encoded = model.tokenizer("he is in", PASSAGE, return_token_type_ids=True)
    assert list(window.ids) == encoded["input_ids"]
    assert list(window.types) == encoded["token_type_ids"]


def test_long_passages_come_in_windows_that_overlap_and_miss_nothing():
    model = word_piece()
    (whole,) = make_windows(model.tokenizer, [asked("unhappily")], 256)
    windows = make_windows(model.tokenizer, [asked("unhappily")], 20)
    assert len(windows) > 2
    assert all(len(window.ids) <= 20 for window in windows)
    seen = [span for window in windows for span in window.spans]
    assert set(seen) == set(whole.spans)
    for left, right in zip(windows, windows[1:], strict=False):
        assert set(left.spans) & set(right.spans)
    holding = [window for window in windows if window.start]
    assert holding, "some window has the whole answer"
    for window in holding:
        start, end = window.spans[window.start - window.first][0], window.spans[window.end - window.first][1]
        assert PASSAGE[start:end] == "unhappily"
        assert window.ids[window.start] == whole.ids[whole.start]
    for window in set(windows) - set(holding):
        assert (window.start, window.end) == (0, 0)
        assert not {whole.spans[place - whole.first] for place in range(whole.start, whole.end + 1)} <= set(
            window.spans
        )


def test_a_long_question_leaves_room_for_the_passage():
    windows = make_windows(word_piece().tokenizer, [asked("Paris", question="the cat " * 40)], 32)
    assert all(len(window.ids) <= 32 and window.spans for window in windows)
    assert any(window.start for window in windows)


def test_the_place_nearest_to_what_was_said_is_taken():
    passage = "play walk play"
    for said, found in ((0, 0), (10, 10), (9, 10), (2, 0), (-1, 0)):
        assert place_of_answer(AnsweredQuestion("?", passage, "play", said)) == found
    assert place_of_answer(AnsweredQuestion("?", passage, "dog", 0)) is None
    assert place_of_answer(AnsweredQuestion("?", passage, " ", 0)) is None
    assert find_answer_tokens(AnsweredQuestion("?", passage, "dog", 0), [(0, 4)]) is None
