"""Shared forward passes: the same numbers as alone, to the right caller, with less work."""

import gc
import random
import weakref
from threading import Barrier, Event, Thread

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from explorer.errors import UnsuitableText
from explorer.models import batching, turns
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.callers import Caller
from tests.models.masked_families import FAMILIES, LIMIT_TOKENS, SMALL, VOCABULARY, loaded


def some_rows(count: int, seed: int, longest: int = 30) -> list[Row]:
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        ids = tuple(draw.randrange(6, VOCABULARY) for _ in range(draw.randint(4, longest)))
        rows.append(Row(ids, tuple(draw.sample(range(len(ids)), draw.randint(1, 3)))))
    return rows


@torch.inference_mode()
def plainly(network: PreTrainedModel, row: Row) -> torch.Tensor:
    output = network(torch.tensor([row.ids]))
    return output["logits" if "logits" in output else "prediction_logits"][0, list(row.positions)]


def count_passes(network: PreTrainedModel) -> list[int]:
    """The number of rows of each forward pass from now on."""
    passes = []
    network.register_forward_pre_hook(
        lambda module, arguments, named: passes.append(len(named["input_ids"])), with_kwargs=True
    )
    return passes


@pytest.fixture
def bert() -> LoadedModel:
    return loaded(FAMILIES[0].build())


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_padded_batches_give_every_family_its_own_answers(family):
    network = family.build()
    rows = some_rows(12, seed=1)
    expected = [plainly(network, row) for row in rows]
    answers = masked_logits(loaded(network), rows)
    for answer, row, wanted in zip(answers, rows, expected, strict=True):
        assert answer.shape == (len(row.positions), VOCABULARY)
        torch.testing.assert_close(answer, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_one_row_alone_is_the_plain_forward_pass(family):
    network = family.build()
    row = Row(tuple(range(6, 18)), (3, 0, 7))
    expected = plainly(network, row)
    torch.testing.assert_close(masked_logits(loaded(network), [row])[0], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_the_head_works_only_at_the_wanted_positions(family):
    network = family.build()
    seen = []
    network.get_output_embeddings().register_forward_hook(lambda head, inputs, output: seen.append(inputs[0].shape))
    masked_logits(loaded(network), [Row((7, 8, 9, 10, 11), (2,)), Row((7, 8, 9), (0, 1))])
    assert sum(shape[:-1].numel() for shape in seen) == 3


def test_other_users_of_the_network_still_get_every_position(bert):
    masked_logits(bert, some_rows(1, seed=0))
    assert bert.network(torch.tensor([[7, 8, 9]])).logits.shape == (1, 3, VOCABULARY)


class OnePieceBert(transformers.BertForMaskedLM):
    """A network that calls all of itself its body."""

    base_model = property(lambda self: self)

    def get_input_embeddings(self):
        return self.bert.get_input_embeddings()


def test_a_network_without_a_body_runs_its_head_everywhere():
    network = OnePieceBert(transformers.BertConfig(**SMALL)).eval()
    rows = some_rows(5, seed=2)
    expected = [plainly(network, row) for row in rows]
    for answer, wanted in zip(masked_logits(loaded(network), rows), expected, strict=True):
        torch.testing.assert_close(answer, wanted, atol=1e-5, rtol=1e-5)


def test_micro_batches_hold_rows_of_similar_length_and_bounded_size(bert, monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 60)
    passes = count_passes(bert.network)
    rows = [Row((7,) * length, (0,)) for length in (30, 5, 20, 5, 30, 20, 5, 5)]
    masked_logits(bert, rows)
    assert passes == [4, 2, 2]


def test_no_rows_no_answers(bert):
    assert masked_logits(bert, []) == []


@pytest.mark.parametrize(
    ("row", "error", "says"),
    [
        (Row((7,) * (LIMIT_TOKENS + 1), (0,)), UnsuitableText, "has 41 tokens, and this model reads at most 40"),
        (Row((7, VOCABULARY), (0,)), ValueError, r"must lie in \[0, 97\), got 7 to 97"),
        (Row((7, -1), (0,)), ValueError, r"must lie in \[0, 97\)"),
        (Row((7, 8), (2,)), ValueError, r"positions \(2,\)"),
        (Row((), (0,)), ValueError, "at least one token"),
        (Row((7, 8), ()), ValueError, "at least one token"),
    ],
)
def test_what_would_break_the_device_is_refused_before_it(bert, row, error, says):
    passes = count_passes(bert.network)
    with pytest.raises(error, match=says):
        masked_logits(bert, [Row((7, 8), (0,)), row])
    assert passes == []


def test_an_encoder_decoder_is_refused():
    config = transformers.T5Config(vocab_size=VOCABULARY, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    with pytest.raises(ValueError, match="no single stack"):
        masked_logits(loaded(transformers.T5ForConditionalGeneration(config)), [Row((7,), (0,))])


def ask_at_once(model: LoadedModel, requests: list[list[Row]]) -> list:
    """What each of many simultaneous callers gets: answers, or the exception."""
    got = [None] * len(requests)
    start = Barrier(len(requests))

    def ask(caller: int) -> None:
        start.wait()
        try:
            got[caller] = masked_logits(model, requests[caller])
        except (UnsuitableText, ValueError, RuntimeError) as error:
            got[caller] = error

    threads = [Thread(target=ask, args=(caller,)) for caller in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return got


def test_32_callers_share_passes_and_get_their_own_answers(bert):
    requests = [some_rows(1 + caller % 3, seed=caller) for caller in range(32)]
    expected = [[plainly(bert.network, row) for row in rows] for rows in requests]
    passes = count_passes(bert.network)
    got = ask_at_once(bert, requests)
    for answers, wanted in zip(got, expected, strict=True):
        torch.testing.assert_close(answers, wanted, atol=1e-5, rtol=1e-5)
    assert sum(passes) == sum(len(rows) for rows in requests)  # no row ran twice
    assert len(passes) < len(requests)


def send(model: LoadedModel, caller: Thread, rows: int) -> None:
    """Start a caller, and return when what it asks is pending."""
    caller.start()
    while not any(len(request.todo) == rows for request in batching._combiner_of(model).pending):
        pass


def test_one_sentence_does_not_wait_for_a_large_batch(bert, monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 120)
    holds_small, answered, waited = [], Event(), []
    asker = Thread(target=lambda: (masked_logits(bert, [Row((50, 51, 52), (0,))]), answered.set()))

    def send_the_small_one(module, arguments, named):
        if not holds_small:
            send(bert, asker, rows=1)
        if len(holds_small) == 2:  # its rows are answered, and eight micro-batches of the other caller's are left
            waited.append(answered.wait(timeout=60))
        holds_small.append(bool((named["input_ids"] == 51).any()))

    bert.network.register_forward_pre_hook(send_the_small_one, with_kwargs=True)
    masked_logits(bert, [Row((7,) * 30, (0,))] * 40)  # ten micro-batches
    asker.join()
    assert holds_small == [False, True] + [False] * 9  # it ran with the very next rows
    assert waited == [True]  # and had its answer at once


def test_a_large_batch_goes_on_when_the_small_one_that_led_is_answered(bert, monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 120)
    got = []
    large = Thread(target=lambda: got.extend(masked_logits(bert, [Row((7,) * 30, (0,))] * 40)))

    def send_the_large_one(module, arguments, named):
        if large.ident is None:
            send(bert, large, rows=40)

    bert.network.register_forward_pre_hook(send_the_large_one, with_kwargs=True)
    masked_logits(bert, [Row((50, 51, 52), (0,))])
    large.join(timeout=60)
    assert len(got) == 40 and batching._combiner_of(bert).leader is None


def test_another_leads_when_the_leader_is_interrupted(bert, monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 120)
    got = []
    other = Thread(target=lambda: got.extend(masked_logits(bert, [Row((7, 8, 9), (0,))] * 2)))

    def interrupt(module, arguments, named):
        if other.ident is None:
            send(bert, other, rows=2)
            raise KeyboardInterrupt

    bert.network.register_forward_pre_hook(interrupt, with_kwargs=True)
    with pytest.raises(KeyboardInterrupt):
        masked_logits(bert, [Row((7,) * 30, (0,))] * 40)
    other.join(timeout=60)
    assert len(got) == 2 and not batching._combiner_of(bert).pending


def test_who_asks_for_many_gives_way_to_those_in_line(bert, monkeypatch):
    monkeypatch.setattr(batching, "CPU_BATCH_TOKENS", 60)
    monkeypatch.setattr(turns, "SLICE_SECONDS", -1.0)
    one_turn, served, passes = turns.Turns(1, 1, 60), [], []

    def come() -> None:
        with one_turn.take(Caller("other")):
            served.append(len(passes))

    other = Thread(target=come)

    def note(module, arguments):
        passes.append(1)
        if other.ident is None:
            other.start()
            while not one_turn._line:
                pass

    bert.network.register_forward_pre_hook(note)
    rows = [Row((7,) * length, (0,)) for length in (30, 10) * 20]  # 800 tokens: two parts of 480 at most
    with one_turn.take(Caller("many")):
        answers = masked_logits(bert, rows)
    other.join(timeout=60)
    assert 0 < served[0] < len(passes)
    for row, answer in zip(rows, answers, strict=True):
        torch.testing.assert_close(answer, plainly(bert.network, row), atol=1e-5, rtol=1e-5)


def test_a_fault_reaches_only_its_own_caller(bert):
    def fail_on_96(module, arguments, named):
        if (named["input_ids"] == 96).any():
            raise RuntimeError("the device failed")

    bert.network.register_forward_pre_hook(fail_on_96, with_kwargs=True)
    requests = [[Row((7, 8, 9), (0,))], [Row((7, 96, 9), (0,))], [Row((7, 8), (1,))]] * 4
    got = ask_at_once(bert, requests)
    assert [isinstance(answer, RuntimeError) for answer in got] == [False, True, False] * 4


def test_nothing_is_left_of_a_model_that_is_gone():
    model = loaded(FAMILIES[0].build())
    masked_logits(model, some_rows(1, seed=0))
    network, combiner = weakref.ref(model.network), weakref.ref(batching._combiners[model])
    del model
    gc.collect()
    assert network() is None and combiner() is None
