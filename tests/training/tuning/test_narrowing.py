"""A narrowed table of words learns exactly what the whole one would."""

from dataclasses import replace

import pytest
import torch

from explorer.training.tuning import session as sessions
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.narrowing import NarrowTable, narrow_table
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.session import Session
from tests.training.tuning.tiny_examples import example_set, tiny_encoder
from tests.training.tuning.toy_tasks import classed, make_set, tiny_model

RECIPE = Recipe(epochs=2, batch_size=8, learning_rate=3e-3, evaluations=1)


def learn():
    session = Session(tiny_encoder(), example_set(), RECIPE)
    for _ in range(12):
        session.take_step()
    outcome = session.conclude(session.measure(all_of_them=True)[1], None)
    return session, outcome


def test_the_same_is_learnt(monkeypatch):
    narrow, outcome = learn()
    monkeypatch.setattr(sessions, "narrow_table", lambda task, rows: None)
    whole, plain = learn()
    assert narrow._narrowed is not None and whole._narrowed is None
    assert outcome.trained_parameters == plain.trained_parameters
    for one, other in zip(outcome.movements, plain.movements, strict=True):
        assert one.relative == pytest.approx(other.relative, rel=0.01)
    assert list(narrow.losses) == pytest.approx(list(whole.losses), rel=1e-3)
    table, other = (session.task.network.get_input_embeddings().weight for session in (narrow, whole))
    assert (
        (table - other).abs().mean() < 1e-4 < (table - tiny_encoder().network.get_input_embeddings().weight).abs().max()
    )


def test_a_word_outside_the_examples_keeps_its_vector():
    whole = torch.nn.Embedding(10, 4, padding_idx=0)
    narrow = NarrowTable(whole, torch.tensor([0, 3, 7]))
    ids = torch.tensor([[3, 9], [0, 7]])
    assert torch.equal(narrow(ids), whole(ids))
    narrow(ids).sum().backward()
    assert narrow.rows.grad.sum(dim=1).tolist() == pytest.approx([0.0, 4.0, 4.0])


def test_a_table_that_is_asked_for_words_stays_whole_and_counts_once():
    """It is the head of the next words, too; narrowed, the two would part."""
    model, few = tiny_model("causal"), make_set("classification", classed, 4, 2)
    session = Session(model, few, RECIPE)
    session.take_step()
    network = session.task.network
    assert session._narrowed is None and session.auxiliary_weight == 0.5
    assert network.get_output_embeddings().weight is network.get_input_embeddings().weight
    of_head = sum(weight.numel() for weight in session.task.head.parameters())
    assert session.moved_parameters == sum(weight.numel() for weight in network.parameters()) + of_head
    alone = Session(model, few, replace(RECIPE, auxiliary_weight=0))
    assert alone._narrowed is not None and alone.auxiliary_weight == 0


@pytest.mark.parametrize("method", ["frozen", "lora"])
def test_a_table_that_rests_stays_whole(method):
    session = Session(tiny_encoder(), example_set(), Recipe(method=method))
    assert session._narrowed is None and narrow_table(session.task, session.rows) is None


def test_a_run_ends_with_the_whole_table():
    *_, last = fine_tune(tiny_encoder(), example_set(), recipe=RECIPE)
    embeddings = next(movement for movement in last.outcome.movements if movement.part == "embeddings")
    assert embeddings.relative > 0
