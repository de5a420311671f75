"""The examples of the view that chooses: both shipped models choose right, and the notes are true."""

from functools import partial

import pytest

from explorer.analysis import choose_option
from explorer.figures.options import option_columns
from explorer.tabs.generate.options import FIRST, Question, _left_from, read_options, read_questions

QUESTIONS = read_questions()


def best(registry, model: str, question: Question, normalise: str) -> str:
    options = list(question.options)
    ask = partial(choose_option, text=question.text, options=options, normalise=normalise, domain=question.domain)
    return registry.run(model, ask).options[0].option


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.label)
def test_both_shipped_models_choose_right(shipped_registry, question):
    assert question.right in question.options
    for model in FIRST:
        assert best(shipped_registry, model, question, question.normalise) == question.right


def test_the_notes_are_true(shipped_registry):
    by_label = {question.label: question for question in QUESTIONS}
    for model in FIRST:
        assert best(shipped_registry, model, by_label["Cold food"], "sum") == "good"
        assert best(shipped_registry, model, by_label["Sunrise"], "tokens") == "south of France"
        assert best(shipped_registry, model, by_label["A lost job"], "sum") == "happy"


def test_only_of_draws_the_mean_of_the_long_option_up(shipped_registry):
    question = next(question for question in QUESTIONS if question.label == "Sunrise")
    for model in FIRST:
        ask = partial(choose_option, text=question.text, options=question.options)
        by_option = {one.option: one.part for one in shipped_registry.run(model, ask).options}
        east = by_option["east"].log_probability
        south, of, france = (token.log_probability for token in by_option["south of France"].tokens)
        assert of > south > east > france and (south + france) / 2 < east < (south + of + france) / 3


def test_a_lost_job_is_a_close_choice_by_the_same_tokens(shipped_registry):
    question = next(question for question in QUESTIONS if question.label == "A lost job")
    for model in FIRST:
        asked = {"options": question.options, "normalise": "pmi", "domain": question.domain}
        choice = shipped_registry.run(model, partial(choose_option, text=question.text, **asked))
        for one in choice.options:
            assert one.baseline_text == f"He was very {one.option}."
            assert [token.token for token in one.baseline.tokens] == [token.token for token in one.part.tokens]
        assert 0.5 < choice.options[0].share < 0.62


def test_every_question_says_what_to_look_for():
    assert all(question.look_for for question in QUESTIONS)
    assert len({(question.text, question.options) for question in QUESTIONS}) == len(QUESTIONS)


def test_options_are_lines():
    assert read_options(" good \n\n very bad\n") == ["good", "very bad"]


def test_a_neutral_text_that_stayed_from_an_example_is_told_of_under_another_text():
    first = QUESTIONS[0]
    assert first.domain and _left_from(QUESTIONS, f" {first.text}\n") & {first.domain} == set()
    assert first.domain in _left_from(QUESTIONS, "At night the sky is"), "a visitor's own"
    assert "" not in _left_from(QUESTIONS, "At night the sky is"), "then there is none to tell of"


@pytest.mark.parametrize("model", FIRST)
def test_an_option_that_the_vocabulary_lacks_is_said_to_be_scored_as_unknown(shipped_registry, model):
    ask = partial(choose_option, text="The food is ___.", options=["good", "😀"])
    drawn = option_columns([shipped_registry.run(model, ask)])
    assert "What is scored there is any unknown word." in drawn and "never put into" not in drawn


def test_no_option_is_all_beside_another_however_small(shipped_registry):
    ask = partial(choose_option, text="The food is ___.", options=["good", "good " * 30])
    choice = shipped_registry.run(FIRST[0], ask)
    assert 0 < choice.options[1].share < 1e-6
    drawn = option_columns([choice])
    assert "> 99.9 % of the options" in drawn and "< 0.01 % of the options" in drawn
