"""The masked objective against transformers' own loss and against sums done by hand."""

import math

import numpy as np
import pytest
import torch

from explorer.analysis.corruption.masking import ALL_MASKED, BERT_CORRUPTION, mask_tokens
from explorer.training.masked import MaskedObjective, measure_masked, predict_picked
from explorer.training.masker import special_tokens
from explorer.training.objectives import held_out_rows, measure_held_out
from explorer.training.parameters import freeze_embeddings
from explorer.training.pretraining import Plan, pretrain
from explorer.training.windows import WindowSampler
from tests.training.conftest import make_constant, make_network
from tests.training.tiny_corpus import VOCABULARY

THE, DOT = VOCABULARY.index("the"), VOCABULARY.index(".")


def seeded(seed: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def corrupt(ids, tokenizer, share):
    """What MaskedObjective sees for the same seed."""
    return mask_tokens(
        ids,
        mask_id=tokenizer.mask_token_id,
        vocab_size=len(tokenizer),
        is_special=special_tokens(tokenizer),
        share=share,
        generator=seeded(),
    )


@pytest.fixture
def rows(corpus, tokenizer):
    edges = {"before": [tokenizer.cls_token_id], "after": [tokenizer.sep_token_id]}
    return WindowSampler(corpus.train, [1.0], **edges).draw(16, 40)


@pytest.fixture
def expected_tokens():
    """Some probability of each token of the vocabulary, no two alike."""
    return torch.softmax(torch.linspace(0, 3, len(VOCABULARY)), dim=0)


def test_the_loss_is_that_of_transformers(rows, tokenizer, network):
    loss, reported = MaskedObjective(network, tokenizer, share=0.25).loss(rows, 0.0, seeded())
    corrupted, picked = corrupt(rows, tokenizer, 0.25)
    theirs = network(input_ids=corrupted, labels=torch.where(picked, rows, -100)).loss
    assert loss.item() == pytest.approx(theirs.item(), abs=1e-5)
    assert reported == pytest.approx(theirs.item(), abs=1e-5)
    ours, reference = (
        torch.autograd.grad(value, network.bert.encoder.layer[0].output.dense.weight)[0] for value in (loss, theirs)
    )
    assert torch.allclose(ours, reference, atol=1e-7)


def test_the_unlikelihood_term_is_that_of_a_sum_by_hand(rows, tokenizer, network, expected_tokens):
    make_constant(network, expected_tokens)
    common = torch.tensor([THE, DOT])
    task = MaskedObjective(network, tokenizer, share=0.25, unlikelihood=0.7, common_ids=common)
    corrupted, picked = corrupt(rows, tokenizer, 0.25)
    never_pushed = {*tokenizer.all_special_ids, THE, DOT}
    cross_entropy = penalty = 0.0
    for row, column in picked.nonzero().tolist():
        target = rows[row, column].item()
        cross_entropy -= math.log(expected_tokens[target])
        for visible in corrupted[row].tolist():
            if visible != target and visible not in never_pushed:
                penalty -= math.log(1 - expected_tokens[visible])
    count = picked.sum().item()
    loss, reported = task.loss(rows, 0.0, seeded())
    assert reported == pytest.approx(cross_entropy / count, abs=1e-5)
    assert penalty / count > 0.1
    assert loss.item() == pytest.approx((cross_entropy + 0.7 * penalty) / count, abs=1e-5)


def test_the_unlikelihood_term_fades_to_nothing(rows, tokenizer, network):
    task = MaskedObjective(network, tokenizer, unlikelihood=1.0)
    extra = []
    for share_done in (0.0, 0.5, 1.0):
        loss, reported = task.loss(rows, share_done, seeded())
        extra.append(loss.item() - reported)
    assert extra[0] > 0.1
    assert extra[1] == pytest.approx(extra[0] / 2, rel=1e-4)
    assert extra[2] == pytest.approx(0, abs=1e-6)


def test_common_tokens_are_never_pushed_down(rows, tokenizer, network):
    task = MaskedObjective(network, tokenizer, unlikelihood=1.0, common_ids=torch.arange(len(VOCABULARY)))
    loss, reported = task.loss(rows, 0.0, seeded())
    assert loss.item() == reported


def test_a_step_in_which_nothing_is_picked_changes_nothing(rows, tokenizer, network):
    loss, reported = MaskedObjective(network, tokenizer, share=1e-9, unlikelihood=1.0).loss(rows, 0.0, seeded())
    loss.backward()
    assert loss.item() == reported == 0.0
    assert all(not weight.grad.any() for weight in network.parameters() if weight.grad is not None)


def test_the_embeddings_stay_and_everything_else_learns_once(tokenizer, network):
    freeze_embeddings(network)
    matrices, rest = MaskedObjective(network, tokenizer, head_learning_rate=2e-3).parameter_groups(1e-3)
    assert (matrices["lr"], matrices["weight_decay"], rest["lr"], rest["weight_decay"]) == (1e-3, 0.01, 2e-3, 0.0)
    names = {id(weight): name for name, weight in network.named_parameters()}
    grouped = [names[id(weight)] for group in (matrices, rest) for weight in group["params"]]
    assert len(set(grouped)) == len(grouped)
    assert set(names.values()) - set(grouped) == {
        "bert.embeddings.word_embeddings.weight",
        "bert.embeddings.position_embeddings.weight",
    }
    assert all(".encoder." in names[id(weight)] and weight.ndim == 2 for weight in matrices["params"])


def test_logits_at_the_picked_positions_are_those_of_the_whole_network(rows, network):
    picked = torch.rand(rows.shape, generator=seeded()) < 0.2
    with torch.inference_mode():
        assert torch.allclose(predict_picked(network, rows, picked), network(rows).logits[picked], atol=1e-6)


@pytest.mark.parametrize("corruption", [BERT_CORRUPTION, ALL_MASKED], ids=str)
def test_held_out_numbers_of_a_model_without_context(rows, tokenizer, network, expected_tokens, corruption):
    make_constant(network, expected_tokens)
    report = measure_masked(network, tokenizer, rows, corruption=corruption, seed=3)
    targets = rows[corrupt(rows, tokenizer, 0.15)[1]]
    best = expected_tokens.argsort(descending=True)
    assert report.masked_as == str(corruption)
    assert (report.length_tokens, report.picked) == (40, len(targets))
    assert report.loss_nats == pytest.approx(-expected_tokens.log()[targets].mean().item(), abs=1e-5)
    assert report.top1 == (targets == best[0]).double().mean().item()
    assert report.top5 == pytest.approx(torch.isin(targets, best[:5]).double().mean().item())
    assert 0 < report.top5 < 1


def test_measuring_depends_neither_on_the_batch_nor_on_the_mode(rows, tokenizer, network):
    reports = []
    for batch_rows, training in ((64, True), (3, False)):
        network.train(training)
        reports.append(measure_masked(network, tokenizer, rows, batch_rows=batch_rows))
        assert network.training is training
    assert reports[0].loss_nats == pytest.approx(reports[1].loss_nats, abs=1e-6)
    assert (reports[0].top1, reports[0].top5) == (reports[1].top1, reports[1].top5)


def test_training_lowers_the_held_out_loss(corpus, tokenizer, tmp_path):
    network = make_network(initializer_range=0.2)  # embeddings stay as they are, so they must tell tokens apart
    rows = held_out_rows(corpus.held_out[0], tokenizer, length_tokens=32)
    before = measure_masked(network, tokenizer, rows, corruption=ALL_MASKED)
    edges = {"before": [tokenizer.cls_token_id], "after": [tokenizer.sep_token_id]}
    task = MaskedObjective(network, tokenizer, unlikelihood=0.2, head_learning_rate=5e-3)
    plan = Plan(tokens=40_000, batch_tokens=512, lengths_tokens=(32,), learning_rate=5e-3)
    pretrain(task, WindowSampler(corpus.train, [1.0], **edges), plan, tmp_path)
    after = measure_masked(network, tokenizer, rows, corruption=ALL_MASKED)
    counts = np.bincount(corpus.train[0].ids)
    shares = counts[counts > 0] / counts.sum()
    knows_only_how_often = -(shares * np.log(shares)).sum()
    assert after.loss_nats < knows_only_how_often - 0.8 < before.loss_nats - 0.8
    assert after.top1 > 0.5 > 0.2 > before.top1


def test_a_report_names_file_length_and_masking(corpus, tokenizer, network):
    reports = measure_held_out("masked", network, tokenizer, corpus, length_tokens=32, tokens_per_file=640)
    assert [(r.corpus, r.what, r.length_tokens) for r in reports] == [
        ("animals.txt", "80/10/10", 32),
        ("animals.txt", "all masked", 32),
    ]
    assert reports[0].count == reports[1].count
    again = measure_held_out("masked", make_network(), tokenizer, corpus, length_tokens=32, tokens_per_file=640)
    assert [vars(report) for report in again] == [vars(report) for report in reports]


def test_a_short_text_is_measured_at_most_once_per_sentence(corpus, tokenizer, network):
    text = corpus.held_out[0]
    assert len(held_out_rows(text, tokenizer, length_tokens=32)) == len(text.window_starts(30))
    assert len(held_out_rows(text, tokenizer, length_tokens=32, tokens=64)) == 2
    assert held_out_rows(text, tokenizer, length_tokens=200) is None  # longer than any document
    assert measure_held_out("masked", network, tokenizer, corpus, length_tokens=200) == []
