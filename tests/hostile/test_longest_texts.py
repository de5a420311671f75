"""No text that is short enough to be read keeps the interpreter busy: what parses it takes time in its length alone."""

import time
from functools import partial

import pytest

from explorer.analysis.blanks import parse_blanks
from explorer.analysis.candidates import MOST_GLUED, parse_candidates
from explorer.analysis.head_ablation import ablate_heads
from explorer.analysis.labelled_uses import MOST_FORMS, choose_uses
from explorer.analysis.tokenize_text import tokenize_text
from explorer.errors import ExplorerError, UnsuitableText
from tests.hostile.longest_texts import LONGEST, PARSERS, UNITS, WORST, Models, all_texts

NOTICED_SECONDS = (
    0.5  # what is faster is not looked at further; types are checked while testing, which takes most of it
)
MANY_CALLS = ("split_at_words",)  # a function for each character: to check their types takes seconds
LINEAR, QUADRATIC = 4, 16  # times as long for four times the text


@pytest.fixture(scope="module")
def models(shipped_registry):
    found = [shipped_registry.run(name, lambda model: model) for name in ("MiniLM (masked)", "GPT mini")]
    return Models(*found)


def measure(parse, text):
    """CPU seconds of this thread, whatever else runs, until it is parsed or refused."""
    began = time.thread_time()
    try:
        parse(text)
    except ExplorerError:
        pass
    return time.thread_time() - began


def is_slow(parse, text):
    """Whether four times the text take more than twice as long as they would in a time that is linear."""
    if measure(parse, text) < NOTICED_SECONDS:
        return False
    part = text[: LONGEST // 8] + text[-LONGEST // 8 :]
    quarter, whole = (min(measure(parse, one) for _ in range(2)) for one in (part, text))
    return whole > (LINEAR * QUADRATIC) ** 0.5 * quarter


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in MANY_CALLS)) for name in PARSERS]
)
def test_a_parser_is_done_with_the_worst_texts_at_once(models, name):
    parse = partial(PARSERS[name], models)
    assert all(len(text) <= LONGEST for text in WORST)
    assert not [text[:8] for text in WORST if is_slow(parse, text)]


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_is_done_with_any_repeated_text_at_once(models, name):
    parse, texts = partial(PARSERS[name], models), list(all_texts())
    assert len(texts) == 4 * len(UNITS) and max(map(len, texts)) == LONGEST
    assert not [text[:8] + text[-8:] for text in texts if is_slow(parse, text)]


@pytest.mark.parametrize(
    "before", ["play", "un", "(", "." * 300, "ab." * 90, "well-", "It's", "a " * 200, "x\n", "play\n"]
)
def test_what_a_candidate_is_glued_to_is_cut_without_a_trace(models, before, monkeypatch):
    model = models.masked

    def pieces():
        parsed = parse_blanks(model, f"{before}___ it.")
        return parse_candidates(model, parsed, [["ing", "happy", "s", ")"]])

    cut = pieces()
    monkeypatch.setattr("explorer.analysis.candidates.MOST_GLUED", LONGEST)
    assert MOST_GLUED < 300 and pieces() == cut


def test_blanks_among_many_are_found_where_they_stand(models):
    text = "The ___ sat on __ , and _____ too. " * 100
    spans = [(piece.start, piece.end) for piece in tokenize_text(models.masked, text).pieces if piece.start is not None]
    assert spans == sorted(spans) and {text[start:end] for start, end in spans} == {
        *("The", "___", "sat", "on", "__", ",", "and", "_____", "too", "."),
    }


def test_lists_of_forms_and_of_heads_are_bounded(shipped_registry):
    with pytest.raises(UnsuitableText, match=f"at most {MOST_FORMS} are looked for"):
        choose_uses("play", ["They play."], forms=["plays"] * 51)
    with pytest.raises(UnsuitableText, match="20,002 characters"):
        shipped_registry.run("MiniLM (masked)", partial(ablate_heads, text="The cat ___.", heads="1," * 10_001))
