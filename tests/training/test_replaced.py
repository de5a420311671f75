"""Replaced tokens: what the generator writes, what counts as replaced, and two networks that train as one."""

from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

from explorer.analysis.corruption.masking import BERT_CORRUPTION, mask_tokens
from explorer.analysis.corruption.sampling import sample
from explorer.training import replaced
from explorer.training.masker import special_tokens
from explorer.training.pretraining import Plan, pretrain
from explorer.training.replaced import DETECTION_WEIGHT, ReplacedObjective, measure_replaced
from tests.training.tiny_networks import make_sampler, seeded, tiny_network, tiny_tokenizer

TOKENIZER = tiny_tokenizer("replaced")


@pytest.fixture
def task():
    return ReplacedObjective(tiny_network("replaced"), TOKENIZER, share=0.3)


@pytest.fixture
def rows(corpus, task):
    return make_sampler(corpus, task).draw(8, 20)


@pytest.fixture
def seen(task):
    """What the discriminator is given to judge."""
    inputs = []
    task.network.register_forward_pre_hook(lambda module, given: inputs.append(given[0]))
    return inputs


def pick(rows, share=0.3, seed=3):
    """What the generator sees, and where it writes, for the same seed."""
    return mask_tokens(
        rows,
        mask_id=TOKENIZER.mask_token_id,
        vocab_size=len(TOKENIZER),
        is_special=special_tokens(TOKENIZER),
        share=share,
        corruption=BERT_CORRUPTION,
        generator=seeded(seed),
    )


def judge(task, corrupted, rows) -> float:
    """The discriminator's loss where whatever differs from the text counts as replaced."""
    logits = task.network(corrupted).logits
    return functional.binary_cross_entropy_with_logits(logits, (corrupted != rows).float()).item()


def test_tokens_are_replaced_only_where_the_generator_wrote(task, rows, seen):
    task.loss(rows, 0.0, seeded())
    _, picked = pick(rows)
    assert torch.equal(seen[0][~picked], rows[~picked])
    assert (seen[0][picked] != rows[picked]).double().mean() > 0.8  # an untrained one is hardly ever right


def test_the_loss_is_that_of_both_networks(task, rows, seen):
    loss, reported = task.loss(rows, 0.0, seeded())
    masked, picked = pick(rows)
    of_generator = functional.cross_entropy(task.generator(masked).logits[picked], rows[picked])
    assert reported == pytest.approx(judge(task, seen[0], rows), abs=1e-5)
    assert loss.item() == pytest.approx(of_generator.item() + DETECTION_WEIGHT * reported, abs=1e-3)


def test_a_token_that_the_generator_got_right_is_the_texts_own(task, rows, seen, monkeypatch):
    _, picked = pick(rows)
    half = torch.arange(int(picked.sum())) % 2 == 0
    own = rows[picked]
    other = torch.where(own == 6, 7, 6)
    monkeypatch.setattr(replaced, "sample", lambda logits, generator: torch.where(half, own, other))
    _, reported = task.loss(rows, 0.0, seeded())
    corrupted = rows.clone()
    corrupted[picked] = torch.where(half, own, other)
    assert torch.equal(seen[0], corrupted)
    assert reported == pytest.approx(judge(task, corrupted, rows), abs=1e-5)
    assert (corrupted != rows).sum() == (~half).sum()


def test_the_generator_learns_from_its_own_loss_alone(task, rows, monkeypatch):
    loss, _ = task.loss(rows, 0.0, seeded())
    weight = task.generator.generator_predictions.dense.weight
    (gradient,) = torch.autograd.grad(loss, weight)
    monkeypatch.setattr(replaced, "DETECTION_WEIGHT", 0.0)
    (alone,) = torch.autograd.grad(task.loss(rows, 0.0, seeded())[0], weight)
    assert alone.any() and torch.allclose(gradient, alone, atol=1e-6)


def test_tokens_are_drawn_as_often_as_expected():
    expected = torch.tensor([0.5, 0.3, 0.15, 0.05, 0.0])
    drawn = sample(expected.log().expand(20_000, -1), seeded())
    assert torch.allclose(drawn.bincount(minlength=5) / 20_000, expected, atol=0.015)
    assert torch.equal(drawn, sample(expected.log().expand(20_000, -1), seeded()))


def test_the_networks_share_their_layers_and_each_weight_is_trained_once(task):
    assert task.generator.electra is task.network.electra
    assert task.generator.get_output_embeddings().weight is task.network.get_input_embeddings().weight
    grouped = [id(weight) for group in task.parameter_groups(1e-3) for weight in group["params"]]
    assert len(set(grouped)) == len(grouped)
    assert set(grouped) == {id(weight) for weight in task.trained.parameters()}
    assert all(group["lr"] == 1e-3 for group in task.parameter_groups(1e-3))


def test_the_seed_decides_the_generators_weights():
    network = tiny_network("replaced")
    one, same, other = (
        ReplacedObjective(network, TOKENIZER, seed=seed).generator.generator_predictions.dense.weight
        for seed in (1, 1, 2)
    )
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_training_that_was_cut_ends_like_one_that_was_not(corpus, tmp_path):
    plan = Plan(tokens=1_024, batch_tokens=128, lengths_tokens=(16,), learning_rate=2e-3)

    def train(folder, stop_at_tokens=0):
        def on_step(step):
            if step.tokens == stop_at_tokens:
                raise KeyboardInterrupt

        task = ReplacedObjective(tiny_network("replaced"), TOKENIZER)
        pretrain(task, make_sampler(corpus, task), plan, tmp_path / folder, on_step)
        return task.trained.state_dict()

    whole = train("whole")
    with pytest.raises(KeyboardInterrupt):
        train("cut", stop_at_tokens=384)
    cut = train("cut")
    assert {name.split(".")[0] for name in whole} == {"network", "generator"}
    for name, value in whole.items():
        assert torch.allclose(cut[name], value, atol=1e-6), name


@pytest.mark.parametrize(
    ("sure", "found", "accused", "loss"),
    [
        (lambda other: other, 1.0, 0.0, 0.0),
        (lambda other: other & False, 0.0, 0.0, None),
        (lambda other: ~other, 0.0, 1.0, 20.0),
    ],
    ids=["perfect", "never accuses", "always wrong"],
)
def test_held_out_numbers_by_hand(rows, monkeypatch, sure, found, accused, loss):
    network = tiny_network("replaced")
    shares = []

    def say(ids):
        shares.append(((ids != rows).sum() / (~special_tokens(TOKENIZER)[rows]).sum()).item())
        return SimpleNamespace(logits=torch.where(sure(ids != rows), 20.0, -20.0))

    monkeypatch.setattr(network, "forward", say)
    report = measure_replaced(network, TOKENIZER, rows)
    assert (report.length_tokens, report.tokens) == (20, 8 * 18)
    assert (report.found, report.accused) == (found, accused)
    assert report.loss_nats == pytest.approx(20.0 * shares[0] if loss is None else loss, abs=1e-5)
    assert 0.05 < shares[0] <= 0.25


def test_measuring_depends_neither_on_the_batch_nor_on_the_mode(rows):
    network, reports = tiny_network("replaced"), []
    for batch_rows, training in ((64, True), (3, False)):
        network.train(training)
        reports.append(measure_replaced(network, TOKENIZER, rows, batch_rows=batch_rows))
        assert network.training is training
    assert reports[0].loss_nats == pytest.approx(reports[1].loss_nats, abs=1e-6)
    assert (reports[0].found, reports[0].accused) == (reports[1].found, reports[1].accused)
