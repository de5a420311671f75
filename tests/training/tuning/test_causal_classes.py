"""Classes by a causal model: the last token's vector, and the language modelling loss beside."""

import pytest
import torch
from torch.nn import functional as F

from explorer.training.tuning.causal_classes import CausalClassification
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Start
from tests.training.tuning.toy_tasks import classed, make_set, paired, run, tiny_model

TOY = make_set("classification", classed, 96, 32)
LABELS = ("anna", "dog")


def build(weight: float, labels=LABELS, task="classification") -> CausalClassification:
    model = tiny_model("causal")
    start = Start(model.card.name, model.network, model.tokenizer, model.limit_tokens)
    torch.manual_seed(0)
    built = CausalClassification(start, Recipe(task=task, auxiliary_weight=weight), labels)
    built.head.eval()
    return built


@pytest.mark.parametrize(("method", "weight", "least"), [("full", 0.0, 1.0), ("full", 0.5, 1.0), ("frozen", 0.5, 0.85)])
def test_a_toy_rule_is_learnt(method, weight, least):
    outcome = run(tiny_model("causal"), TOY, method=method, auxiliary_weight=weight, epochs=4)
    assert outcome.scores["accuracy"] >= least
    assert outcome.labels == LABELS
    both = "The training loss holds 0.5 of the loss of next words, too; the held-out loss is that of the classes alone."
    assert (both in outcome.notes) == (method == "full" and weight == 0.5)


def test_the_loss_is_that_of_the_classes_and_a_share_of_that_of_the_next_words():
    task = build(0.5)
    rows = task.rows(TOY.train[:8])
    assert len({len(row.readings[0].ids) for row in rows}) == 1
    ids = torch.tensor([row.readings[0].ids for row in rows])
    with torch.no_grad():
        output = task.network(ids, output_hidden_states=True)
        logits = task.head.linear(output.hidden_states[-1][:, -1])
        classes = F.cross_entropy(logits, torch.tensor([row.target for row in rows]))
        words = F.cross_entropy(output.logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        assert float(task.loss(rows, None, 0.0)) == pytest.approx(float(classes + 0.5 * words), rel=1e-4)
        assert float(build(0.0).loss(rows, None, 0.0)) == pytest.approx(float(classes), rel=1e-4)


def test_padding_changes_nothing():
    task = build(0.5, ("and", "it"), "pairs")
    pairs = make_set("pairs", paired, 4, 4).train
    rows = task.rows([*pairs, *TOY.train[:4]])
    assert len({len(row.readings[0].ids) for row in rows}) > 1
    with torch.no_grad():
        together = task.features(rows)
        for row, vector in zip(rows, together, strict=True):
            torch.testing.assert_close(task.features([row])[0], vector, atol=1e-4, rtol=1e-3)


def test_a_pair_is_read_as_one_text_with_a_mark_between():
    task = build(0.0, ("and", "it"), "pairs")
    (example, *_) = make_set("pairs", paired, 4, 4).train
    (row,) = task.rows([example])
    assert task._start.tokenizer.decode(row.readings[0].ids) == f"[CLS] {example.text} [SEP] {example.second_text}"
