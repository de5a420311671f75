"""The examples of the view that chooses: both shipped models choose right, and the notes are true."""

from functools import partial

import pytest

from explorer.analysis import choose_option
from explorer.tabs.generate.options import FIRST, Question, read_options, read_questions

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


def test_every_question_says_what_to_look_for():
    assert all(question.look_for for question in QUESTIONS)
    assert len({(question.text, question.options) for question in QUESTIONS}) == len(QUESTIONS)


def test_options_are_lines():
    assert read_options(" good \n\n very bad\n") == ["good", "very bad"]
