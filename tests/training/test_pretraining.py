"""The loop: repeatable, resumable, and honest about what ended it."""

import errno
import json
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import pytest
import torch

from explorer.errors import ModelRefused, UnsuitableCorpus, UnwritableFolder
from explorer.training.masked import MaskedObjective
from explorer.training.pretraining import CHECKPOINT, LOG, Plan, PretrainingStep, learning_rate_factor, pretrain
from explorer.training.windows import WindowSampler
from tests.training.conftest import make_network

PLAN = Plan(tokens=4_000, batch_tokens=512, lengths_tokens=(16, 32), learning_rate=2e-3, seed=5)
KEYS = {"network", "optimizer", "sampler", "random", "tokens", "seconds", "running"}


@pytest.fixture
def train(corpus, tokenizer, tmp_path):
    """Train a fresh network in a folder; returns its weights and the last step."""

    def run(folder="run", plan=PLAN, on_step=lambda step: None, network=None):
        network = network or make_network()
        edges = {"before": [tokenizer.cls_token_id], "after": [tokenizer.sep_token_id]}
        task = MaskedObjective(network, tokenizer, unlikelihood=0.5)
        sampler = WindowSampler(corpus.train, [1.0], seed=plan.seed, **edges)
        step = pretrain(task, sampler, plan, tmp_path / folder, on_step)
        return {name: value.clone() for name, value in network.state_dict().items()}, step

    return run


def stop_at(number: int, error: BaseException):
    """An on_step that raises at a step."""
    seen = []

    def on_step(step: PretrainingStep) -> None:
        seen.append(step)
        if len(seen) == number:
            raise error

    return on_step


def same(one: dict, other: dict) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


@contextmanager
def files_no_larger_than(size_bytes: int):
    """The system refuses to let a file grow further, as it does on a full disk."""
    resource = pytest.importorskip("resource", reason="Windows has no limit on the size of a file")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def half_a_file(content: dict, path: Path) -> None:
    """What torch.save does where the disk is full after some bytes."""
    path.write_bytes(b"half a checkpoint")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_short_sequences_come_first_for_as_long_as_the_plan_says():
    plan = Plan(tokens=1, lengths_tokens=(64, 16, 32), short_first=0.25)
    random = torch.Generator().manual_seed(0)
    assert {plan.draw_length(share / 400, random) for share in range(100)} == {16}
    assert {plan.draw_length(share / 400, random) for share in range(100, 200)} == {16, 32, 64}


def test_the_loop_asks_the_plan_for_lengths(train, monkeypatch):
    shapes = []
    draw = WindowSampler.draw
    monkeypatch.setattr(WindowSampler, "draw", lambda self, *shape: shapes.append(shape) or draw(self, *shape))
    train(plan=Plan(**{**vars(PLAN), "short_first": 0.5}))
    assert shapes[:4] == [(32, 16)] * 4 and (16, 32) in shapes[4:]


def test_the_same_seed_gives_the_same_weights(train):
    one, _ = train("one")
    assert same(one, train("two")[0])
    other, _ = train("three", plan=Plan(**{**vars(PLAN), "seed": 6}))
    assert not same(one, other)
    assert not same(one, make_network().state_dict())


def test_a_training_that_was_cut_ends_like_one_that_was_not(train, tmp_path):
    whole, _ = train("whole")
    for number in (3, 7):
        with pytest.raises(KeyboardInterrupt):
            train("cut", on_step=stop_at(number - 2, KeyboardInterrupt()))
    cut, step = train("cut")
    for name, value in whole.items():
        assert torch.allclose(cut[name], value, atol=1e-6), name
    logs = [[json.loads(line) for line in (tmp_path / run / LOG).read_text().splitlines()] for run in ("whole", "cut")]
    assert [line["tokens"] for line in logs[0]] == [line["tokens"] for line in logs[1]]
    assert [line["loss_nats"] for line in logs[0]] == pytest.approx([line["loss_nats"] for line in logs[1]], abs=1e-5)
    assert step.tokens == logs[0][-1]["tokens"] >= PLAN.tokens
    assert step.seconds == logs[1][-1]["seconds"] > logs[1][2]["seconds"]


def test_a_longer_plan_goes_on_where_the_shorter_one_ended(train):
    _, first = train("run")
    weights, again = train("run")  # nothing is left to do
    assert again.tokens == first.tokens
    longer, step = train("run", plan=Plan(**{**vars(PLAN), "tokens": 5_000}))
    assert step.tokens >= 5_000
    assert not same(longer, weights)


def test_an_interrupt_leaves_a_whole_checkpoint(train, tmp_path):
    steps = []
    stop = stop_at(4, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        train(on_step=lambda step: (steps.append(step), stop(step)))
    assert not getattr(caught.value, "__notes__", [])
    saved = torch.load(tmp_path / "run" / CHECKPOINT, weights_only=True)
    assert set(saved) == KEYS
    assert (saved["tokens"], saved["running"]) == (steps[-1].tokens, steps[-1].loss_nats)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [CHECKPOINT, LOG]


def test_a_fault_goes_on_as_what_it_is(train, tmp_path):
    with pytest.raises(ZeroDivisionError, match="a fault of the page"):
        train(on_step=stop_at(2, ZeroDivisionError("a fault of the page")))
    assert torch.load(tmp_path / "run" / CHECKPOINT, weights_only=True)["tokens"] > 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("a fault")], ids=type)
def test_what_ended_the_training_is_not_hidden_by_a_checkpoint_that_fails(train, tmp_path, monkeypatch, error):
    train(plan=Plan(**{**vars(PLAN), "tokens": 512}))
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()
    monkeypatch.setattr(torch, "save", half_a_file)
    with pytest.raises(type(error)) as caught:
        train(on_step=stop_at(2, error))
    assert caught.value is error
    assert "No checkpoint could be written after it" in error.__notes__[0]
    assert "No space left on device" in error.__notes__[0]
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before


def test_a_full_disk_leaves_the_last_checkpoint(train, tmp_path, monkeypatch):
    train(plan=Plan(**{**vars(PLAN), "tokens": 512}))
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()
    with monkeypatch.context() as patch, pytest.raises(UnwritableFolder, match="No space left on device.*make room"):
        patch.setattr(torch, "save", half_a_file)
        train()
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [CHECKPOINT, LOG]
    train()  # there is room again


def test_a_file_that_cannot_grow_leaves_the_last_checkpoint(train, tmp_path):
    """As above, with torch's own failure to write; it is no OSError."""
    train(plan=Plan(**{**vars(PLAN), "tokens": 512}))
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()
    with files_no_larger_than(100_000), pytest.raises(UnwritableFolder, match="Nothing more can be written to"):
        train()
    assert len(before) > 100_000
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before


def test_checkpoints_are_written_on_the_way(train, tmp_path):
    written = []

    def look(step: PretrainingStep) -> None:
        if (tmp_path / "run" / CHECKPOINT).exists():
            written.append(torch.load(tmp_path / "run" / CHECKPOINT, weights_only=True)["tokens"])

    train(plan=Plan(**{**vars(PLAN), "checkpoint_minutes": 1e-6}), on_step=look)
    assert len(set(written)) == len(written) >= 5


def test_a_folder_that_may_not_be_written_is_explained(train, tmp_path):
    (tmp_path / "run").write_text("a file where a folder should be")
    with pytest.raises(UnwritableFolder, match="choose another folder"):
        train()


@pytest.mark.parametrize("content", [b"", b"no checkpoint", None])
def test_a_checkpoint_that_cannot_be_continued_is_refused(train, tmp_path, content):
    train(plan=Plan(**{**vars(PLAN), "tokens": 512}))
    path = tmp_path / "run" / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-2000] if content is None else content)
    with pytest.raises(ModelRefused, match="cannot be continued.*Choose another folder"):
        train()


def test_a_checkpoint_of_another_network_is_refused(train, tmp_path):
    train(plan=Plan(**{**vars(PLAN), "tokens": 512}))
    network = make_network()
    network.bert.encoder.layer = network.bert.encoder.layer[:1]
    with pytest.raises(ModelRefused, match="of another model"):
        train(network=network)


def test_nothing_to_do_and_nothing_to_train_on_are_refused(train, tmp_path):
    with pytest.raises(UnsuitableCorpus, match="--minutes or --tokens"):
        train(plan=Plan())
    with pytest.raises(UnsuitableCorpus, match="No document of the corpus has 998 tokens in a row"):
        train(plan=Plan(tokens=1000, lengths_tokens=(1000,)))


def test_the_log_has_a_line_per_step(train, tmp_path):
    steps = []
    _, last = train(on_step=steps.append)
    lines = [json.loads(line) for line in (tmp_path / "run" / LOG).read_text().splitlines()]
    assert lines == [vars(step) for step in steps]
    assert set(lines[0]) == {field.name for field in fields(PretrainingStep)}
    assert last == steps[-1]
    assert all(step.tokens % 512 == 0 and step.tokens_per_second > 0 for step in steps)


def test_a_plan_of_minutes_ends_in_time(train):
    _, step = train(plan=Plan(**{**vars(PLAN), "tokens": 0, "minutes": 0.01}))
    assert 0.6 <= step.seconds < 5
    assert Plan(minutes=2.0, tokens=1000).share_done(seconds=30.0, tokens=900) == 0.9
    assert Plan(minutes=2.0).share_done(seconds=300.0, tokens=0) == 1.0


def test_the_learning_rate_rises_quickly_and_falls_to_zero():
    assert learning_rate_factor(0.0) == pytest.approx(0.01)
    assert learning_rate_factor(0.01) == pytest.approx(0.51 * 0.99)
    assert learning_rate_factor(0.02) == pytest.approx(0.98)
    assert learning_rate_factor(0.5) == 0.5
    assert learning_rate_factor(1.0) == 0.0
