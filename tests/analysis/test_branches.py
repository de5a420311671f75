"""The tree of what was written: every function returns a new tree, and nothing that was written is lost."""

import math
from dataclasses import replace

import pytest

from explorer.analysis.branches import (
    BY_HAND,
    ROOT,
    Tree,
    choose,
    drawn_since,
    go_to,
    grow,
    leaves,
    log_probability,
    parting,
    path_to,
    shared_length,
    token_ids,
    written_text,
)
from explorer.analysis.exporting import to_tables
from explorer.analysis.generation_results import GenerationStep, TokenOption

OPTIONS = (TokenOption(1, " a", 0.5, 0.6), TokenOption(2, " b", 0.25, 0.4), TokenOption(3, " c", 0.125, 0.0))


def step(token_id, stop=""):
    option = OPTIONS[token_id - 1]
    return GenerationStep(token_id, option.text, option.probability, option.chance, token_id, 1.2, OPTIONS, stop)


@pytest.fixture
def tree():
    """The model wrote " a b", then, from another seed, " a c"."""
    tree = Tree("M", "Once")
    for token_id in (1, 2):
        tree = grow(tree, step(token_id), "seed 0")
    tree = go_to(tree, ROOT)
    for token_id in (1, 3):
        tree = grow(tree, step(token_id), "seed 1")
    return tree


def test_the_draws_of_a_branch_are_counted_from_where_something_else_was_written(tree):
    assert drawn_since(tree, tree.nodes[tree.here].how) == 2 and drawn_since(tree, "seed 7") == 0
    chosen = choose(tree, tree.here, 1)
    assert drawn_since(chosen, "seed 7") == 0
    assert drawn_since(grow(chosen, step(2), "seed 7"), "seed 7") == 1
    assert drawn_since(go_to(tree, ROOT), "seed 7") == 0


def test_two_texts_share_their_beginning_and_each_keeps_the_chances_of_its_own_settings(tree):
    assert [(node.step.token_id, node.how) for node in tree.nodes] == [
        (1, "seed 0"), (2, "seed 0"), (1, "seed 1"), (3, "seed 1"),
    ]  # fmt: skip
    assert leaves(tree) == [1, 3]
    assert [written_text(tree, leaf) for leaf in leaves(tree)] == [" a b", " a c"]
    assert token_ids(tree, tree.here) == (1, 3)
    assert shared_length(tree, 1, 3) == 1
    assert parting(tree, 1) == (ROOT, 0)
    assert parting(tree, 3) == (1, 1)
    greedy = grow(go_to(tree, ROOT), replace(step(1), chance=1.0), "greedy")
    assert [greedy.nodes[path_to(greedy, leaf)[0]].step.chance for leaf in leaves(greedy)] == [0.6, 0.6, 1.0]


def test_writing_the_same_again_adds_nothing(tree):
    again = go_to(tree, ROOT)
    for token_id in (1, 2):
        again = grow(again, step(token_id), "seed 0")
    assert len(again.nodes) == len(tree.nodes)
    assert again.here == 1


def test_an_alternative_starts_a_branch_and_the_old_one_stays(tree):
    other = choose(go_to(tree, 1), 0, 2)
    assert token_ids(other, other.here) == (2,)
    chosen = other.nodes[other.here]
    assert chosen.how == BY_HAND
    assert (chosen.step.text, chosen.step.probability, chosen.step.chance, chosen.step.rank) == (" b", 0.25, 0.4, 2)
    assert chosen.step.alternatives == OPTIONS
    assert [written_text(other, leaf) for leaf in leaves(other)] == [" a b", " a c", " b"]
    assert len(tree.nodes) == 4, "the tree before is as it was"
    assert choose(other, 0, 2) == go_to(other, other.here), "chosen twice, it is one branch"
    cut = replace(step(1), alternatives=(OPTIONS[0], replace(OPTIONS[1], chance=0.0)))
    greedy = grow(go_to(other, ROOT), cut, "greedy")
    chosen = choose(greedy, greedy.here, 2)
    assert chosen.nodes[chosen.here].step.chance == 0.0, "not that of the settings under which it was chosen before"


def test_an_end_is_undone_by_another_choice():
    ended = grow(Tree("M", "Once"), step(1, stop="end"), "seed 0")
    assert choose(ended, 0, 3).nodes[-1].step.stop == ""


@pytest.mark.parametrize(("node", "token_id"), [(0, 99), (99, 1), (-1, 1)])
def test_what_is_not_there_cannot_be_chosen(tree, node, token_id):
    with pytest.raises(ValueError, match="node"):
        choose(tree, node, token_id)


@pytest.mark.parametrize("node", [4, -2])
def test_there_is_no_way_to_a_node_that_is_not_there(tree, node):
    with pytest.raises(ValueError, match="no node"):
        go_to(tree, node)


def test_the_log_probability_is_the_sum_along_the_path(tree):
    assert math.isclose(log_probability(tree, 3), math.log(0.5) + math.log(0.125))
    assert log_probability(tree, ROOT) == 0
    assert path_to(tree, ROOT) == []


def test_a_probability_of_zero_has_a_finite_surprisal():
    tree = grow(Tree("M", ""), GenerationStep(4, " d", 0.0, 0.0, 9, 0.0, (), ""), "seed 0")
    assert math.isfinite(log_probability(tree, 0))


def test_tables_hold_every_branch_whole(tree):
    tables = to_tables(tree)
    steps = [dict(zip(tables["steps"][0], row, strict=True)) for row in tables["steps"][1:]]
    assert [(row["branch"], row["step"], row["text"]) for row in steps] == [
        (1, 1, " a"), (1, 2, " b"), (2, 1, " a"), (2, 2, " c"),
    ]  # fmt: skip
    assert steps[3]["settings"] == "seed 1"
    assert math.isclose(steps[3]["surprisal_nats"], -math.log(0.125))
    assert len(tables["alternatives"]) == 1 + 4 * len(OPTIONS)
