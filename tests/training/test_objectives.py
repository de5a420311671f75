"""The table of objectives: each can be made, measured and learnt."""

import inspect
import math

import pytest
import torch

from explorer.training import command, starting
from explorer.training.minis import AROUND
from explorer.training.objectives import (
    OBJECTIVES,
    Measured,
    format_score,
    held_out_rows,
    make_objective,
    measure_held_out,
)
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import learn, make_sampler, seeded, tiny_network, tiny_tokenizer

OPTIONS = {
    "share": 0.2,
    "mean_span_tokens": 2.0,
    "unlikelihood": 0.1,
    "head_learning_rate": 2e-3,
    "common_ids": torch.tensor([5]),
    "seed": 4,
}  # all that a run gives, whatever the objective
every_objective = pytest.mark.parametrize("objective", OBJECTIVES)


def test_all_tables_name_the_same_objectives():
    assert command.OBJECTIVES == tuple(OBJECTIVES) == tuple(starting.KINDS)
    assert set(AROUND) == set(OBJECTIVES)


@every_objective
def test_an_objective_takes_what_a_run_gives(objective, corpus):
    network = tiny_network(objective)
    task = make_objective(objective, network, tiny_tokenizer(objective), **OPTIONS)
    groups = task.parameter_groups(1e-3)
    assert [group["lr"] for group in groups[:2]] == [1e-3, 2e-3]
    task.loss(make_sampler(corpus, task).draw(4, 16), 0.0, seeded())[0].backward()
    defaults = make_objective(objective, network, tiny_tokenizer(objective), **dict.fromkeys(OPTIONS))
    assert {group["lr"] for group in defaults.parameter_groups(1e-3)} == {1e-3}


@every_objective
def test_an_objective_takes_the_options_that_the_table_says(objective):
    kind = OBJECTIVES[objective]
    assert kind.options | {"head_learning_rate"} <= set(inspect.signature(kind.objective).parameters)


@every_objective
def test_each_weight_is_trained_once(objective):
    task = make_objective(objective, tiny_network(objective), tiny_tokenizer(objective))
    grouped = [id(weight) for group in task.parameter_groups(1e-3) for weight in group["params"]]
    assert len(set(grouped)) == len(grouped)
    assert set(grouped) == {id(weight) for weight in task.trained.parameters()}


@every_objective
def test_an_untrained_model_is_measured_within_bounds(objective, corpus):
    network, tokenizer = tiny_network(objective).train(), tiny_tokenizer(objective)
    measured = measure_held_out(objective, network, tokenizer, corpus, length_tokens=24, tokens_per_file=500)
    assert measured and network.training
    for each in measured:
        assert each.corpus == "animals.txt" and each.count > 0 and 20 < each.length_tokens <= 26
        for name, value in each.scores.items():
            assert 0 <= value <= (2 * math.log(len(tokenizer)) if name in ("loss", "bits per byte") else 1), name
    again = measure_held_out(objective, network, tokenizer, corpus, length_tokens=24, tokens_per_file=500)
    assert again == measured


@every_objective
def test_rows_to_measure_on_have_the_marks_of_rows_to_train_on(objective, corpus):
    tokenizer = tiny_tokenizer(objective)
    task = make_objective(objective, tiny_network(objective), tokenizer)
    rows = held_out_rows(corpus.held_out[0], tokenizer, objective=objective, length_tokens=24)
    before, after = task.edges
    assert all(row[: len(before)] == before and row[len(row) - len(after) :] == after for row in rows.tolist())
    special = set(tokenizer.all_special_ids)
    assert not special & set(rows[:, len(before) : rows.shape[1] - len(after)].flatten().tolist())


@every_objective
def test_a_loss_depends_on_nothing_but_the_seed(objective, corpus):
    task = make_objective(objective, tiny_network(objective), tiny_tokenizer(objective))
    task.trained.train()  # and yet there is no dropout
    rows = make_sampler(corpus, task).draw(4, 16)
    one, same, other = (task.loss(rows, 0.0, seeded(seed))[0].item() for seed in (1, 1, 2))
    assert one == same
    assert (one != other) is (objective not in ("causal", "bilm"))  # these have nothing to draw


@every_objective
def test_every_objective_learns(objective, corpus):
    task = make_objective(objective, tiny_network(objective), tiny_tokenizer(objective))
    losses = learn(task, corpus, steps=60, rows=8, length=16)
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])


def test_an_options_default_is_the_objectives_own():
    network, tokenizer = tiny_network("masked"), tiny_tokenizer("masked")
    task = make_objective("masked", network, tokenizer, share=None, unlikelihood=0.3)
    _, picked = task._masker.mask(torch.full((200, 200), VOCABULARY.index("dog")), seeded())
    assert picked.double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert vars(task)["_unlikelihood"] == 0.3


def test_shares_are_read_in_percent_and_losses_as_they_are():
    assert format_score("top-1", 0.4567) == "45.7%"
    assert format_score("loss", 2.34567) == "2.346"
    assert format_score("bits per byte", 1.5) == "1.500"


def test_a_measurement_is_one_line_for_people():
    measured = Measured("next token", 128, 12_345, {"loss": 3.21, "exact match": 0.5}, "wiki.txt")
    line = "wiki.txt, held out, next token, 128 tokens: loss 3.210, exact match 50.0% (n=12,345)"
    assert str(measured) == line
