"""What is streamed to the page ends when nobody listens any more, or when the visitor asks for something else."""

import json

import pytest
from huggingface_hub import constants

from explorer.analysis.branches import ROOT, Tree, choose, go_to, leaves, token_ids
from explorer.analysis.decoding_strategies import CONTROLS
from explorer.models import decoding
from explorer.tabs.generate.controls import SLIDERS
from explorer.tabs.generate.desk import Desk
from explorer.tabs.generate.write import _write
from explorer.tabs.streaming import stream_steps

MODEL = "MiniLM (causal)"
VALUES = [CONTROLS[name].default for name in SLIDERS]


@pytest.fixture
def desk():
    return Desk(Tree(MODEL, "The old man opened"))


def sheets(run):
    """The values of the sheet, one for each update."""
    return [update[1] for update in run]


def facts(sheet, kind):
    return [line for line in map(json.loads, sheet.splitlines()) if line["kind"] == kind]


def test_closing_ends_the_work(shipped_registry):
    closed = []

    def endless(model):
        try:
            while True:
                yield 1
        finally:
            closed.append(model.card.name)

    steps = stream_steps(shipped_registry, MODEL, endless)
    while next(steps)[1] is None:
        pass
    steps.close()
    assert closed == [MODEL]


def test_a_visitors_mistake_is_a_message_and_no_step(shipped_registry):
    [(message, step)] = stream_steps(shipped_registry, "No such model", lambda model: iter(()))
    assert "No model is called" in message
    assert step is None


def test_a_model_that_cannot_be_had_is_answered_by_one_that_writes(shipped_registry, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    [(message, _)] = stream_steps(shipped_registry, "BERT base", lambda model: iter(()))
    assert "BERT base needs internet" in message and "Choose MiniLM (causal) or GPT mini." in message


def test_the_page_is_told_at_once_and_then_only_what_is_new(shipped_registry, desk):
    told = sheets(_write(shipped_registry, desk, "greedy", 12, 0, VALUES))
    assert facts(told[0], "head") and not facts(told[0], "step")
    assert all(after.startswith(before) for before, after in zip(told, told[1:], strict=False))
    assert len(facts(told[-1], "step")) == 12
    assert facts(told[-1], "tail")[0]["may_go_on"]
    assert not desk.is_writing


def test_who_asks_again_ends_what_is_written(shipped_registry, desk):
    first = _write(shipped_registry, desk, "sample", 100, 1, VALUES)
    while not facts(next(first)[1], "step"):
        pass
    second = _write(shipped_registry, desk, "greedy", 3, 0, VALUES)
    next(second)
    assert list(first) == []
    assert facts(sheets(second)[-1], "tail")


def test_a_beam_search_is_heard_of_before_it_settles_a_token_and_ends_when_closed(shipped_registry, desk):
    run = _write(shipped_registry, desk, "beams", 200, 0, VALUES)
    told = [next(run)[1] for _ in range(3)]
    assert [len(facts(sheet, "step")) for sheet in told[:2]] == [0, 0]  # the second: after one pass
    run.close()
    decoder = shipped_registry.run(MODEL, decoding._decoder_of)
    assert all(draft.is_closed for draft in decoder.drafts)


def test_an_earlier_branch_keeps_its_code(shipped_registry, desk):
    list(_write(shipped_registry, desk, "greedy", 3, 0, VALUES))
    first, code = desk.tree.here, desk.code_in_sight
    desk.tree = go_to(desk.tree, ROOT)
    list(_write(shipped_registry, desk, "sample", 3, 1, VALUES))
    assert desk.tree.here != first and "'sample'" in desk.code_in_sight and "'greedy'" in code
    desk.tree = go_to(desk.tree, first)
    assert desk.code_in_sight == code and desk.codes.keys() == set(leaves(desk.tree))


def test_writing_goes_on_behind_a_token_that_was_chosen(shipped_registry, desk):
    list(_write(shipped_registry, desk, "greedy", 6, 0, VALUES))
    greedy = token_ids(desk.tree, desk.tree.here)
    third = desk.tree.nodes[2].step
    other = next(option.token_id for option in third.alternatives if option.token_id != third.token_id)
    desk.tree = choose(desk.tree, 2, other)
    list(_write(shipped_registry, desk, "greedy", 2, 0, VALUES))
    assert token_ids(desk.tree, desk.tree.here)[:3] == (*greedy[:2], other)
    assert len(token_ids(desk.tree, desk.tree.here)) == 5


def test_the_same_seed_writes_the_same_text_in_one_go_or_in_two_and_another_one_after_a_chosen_word(
    shipped_registry, desk
):
    list(_write(shipped_registry, desk, "sample", 8, 5, VALUES))
    whole = token_ids(desk.tree, desk.tree.here)
    broken = Desk(Tree(MODEL, desk.tree.prompt))
    list(_write(shipped_registry, broken, "sample", 3, 5, VALUES))
    list(_write(shipped_registry, broken, "sample", 5, 5, VALUES))
    assert token_ids(broken.tree, broken.tree.here) == whole
    assert "drawn=3" in broken.code_in_sight and "drawn" not in desk.code_in_sight
    other = broken.tree.nodes[2].step.alternatives
    broken.tree = choose(broken.tree, 2, next(one.token_id for one in other if one.token_id != whole[2]))
    list(_write(shipped_registry, broken, "sample", 3, 5, VALUES))
    again = token_ids(broken.tree, broken.tree.here)
    assert again[:2] == whole[:2] and again[2:6] != whole[2:6]
