"""Answers cut out of passages: a toy rule is learnt, and the best span is the one that a plain loop finds."""

import math

import pytest
import torch

from explorer.errors import UnsuitableModel
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.training.tuning.answer_scores import answer_baselines, measure_answers
from explorer.training.tuning.answer_windows import AnswerWindow
from explorer.training.tuning.answers import MOST_ANSWER_TOKENS, Answers, find_best_span
from explorer.training.tuning.examples import AnsweredQuestion, ExampleSet
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Start
from tests.training.tuning.toy_tasks import asked, make_set, run, tiny_model

TOY = make_set("answers", asked, 96, 32)


@pytest.mark.parametrize(("method", "least"), [("full", 1.0), ("frozen", 0.85)])
def test_a_toy_rule_is_learnt(method, least):
    outcome = run(tiny_model("masked"), TOY, method=method, epochs=8)
    assert outcome.scores["exact_match"] >= least
    assert outcome.scores["f1"] >= outcome.scores["exact_match"]
    assert len(outcome.judged) == len(TOY.held_out)
    assert {one.predicted in one.text for one in outcome.judged} == {True}


def test_passages_longer_than_a_row_are_read_in_windows():
    long = make_set("answers", lambda choose: asked(choose, 12), 96, 32)
    outcome = run(tiny_model("masked"), long, epochs=8, length_tokens=12)
    assert outcome.scores["exact_match"] >= 0.95


def test_nothing_is_learnt_from_an_answer_that_is_not_there():
    missing = AnsweredQuestion("hears it", "the cat in the barn", "owl", 0)
    examples = ExampleSet("toy", "answers", (*TOY.train, missing), TOY.held_out)
    outcome = run(tiny_model("masked"), examples, epochs=1)
    assert any("does not stand word for word" in note for note in outcome.notes)
    model = tiny_model("masked")
    task = Answers(Start(model.card.name, model.network, model.tokenizer, 64), Recipe(task="answers"), ())
    task.head.eval()
    rows = task.rows([missing, TOY.train[0]])
    assert float(task.loss(rows[:1], None, 0.0)) == 0.0
    assert float(task.loss(rows, None, 0.0)) == pytest.approx(float(task.loss(rows[1:], None, 0.0)), rel=1e-5)


def window(length: int) -> AnswerWindow:
    return AnswerWindow(0, (1,) * (length + 3), (), 2, tuple((2 * k, 2 * k + 1) for k in range(length)), 0, 0)


def test_the_best_span_is_what_a_plain_loop_finds():
    torch.manual_seed(0)
    windows = [window(40), window(7)]
    logs = [torch.randn(len(one.spans) + 1, 2).mul(3).log_softmax(dim=0) for one in windows]
    best = max(
        (float(log[1 + start, 0] + log[1 + end, 1]), (one.spans[start][0], one.spans[end][1]))
        for one, log in zip(windows, logs, strict=True)
        for start in range(len(one.spans))
        for end in range(start, min(start + MOST_ANSWER_TOKENS, len(one.spans)))
    )
    span, probability = find_best_span(windows, logs)
    assert span == best[1]
    assert probability == pytest.approx(math.exp(best[0]))


def test_scores_and_their_baseline():
    example = AnsweredQuestion("Where does the cat purr?", "The dog barks. The cat purrs in the barn.", "the barn", 32)
    measured = measure_answers([example] * 2, [((29, 40), 0.9), ((0, 7), 0.4)])
    assert [one.predicted for one in measured.judged] == ["in the barn", "The dog"], "both wrong, the surer one first"
    assert measured.scores == {"f1": pytest.approx((2 * 0.5 / 1.5 + 0) / 2), "exact_match": 0.0}
    assert answer_baselines([example]) == {"the sentence most like the question": pytest.approx(2 * 0.25 / 1.25)}


def test_ways_that_cannot_work_are_refused():
    with pytest.raises(UnsuitableModel, match="Head on frozen features"):
        run(tiny_model("masked"), TOY, method="layers")
    model = tiny_model("masked")
    with pytest.raises(UnsuitableModel, match="Choose another model"):
        Answers(Start("elmo", model.network, ElmoTokenizer(), 64), Recipe(task="answers"), ())
