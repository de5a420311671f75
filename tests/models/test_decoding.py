"""Texts that many write at once: the same numbers as alone, nobody waits long, nothing is left behind."""

import gc
import weakref
from functools import partial
from threading import Barrier, Event, Thread

import pytest
import torch

from explorer.analysis import continue_text
from explorer.errors import OutOfMemory, TooBusy
from explorer.models import decoding, draft
from explorer.models.decoding import begin_draft, extend_drafts, fork_draft
from explorer.models.local import LocalBackend
from explorer.settings import Settings, settings
from tests.analysis.writing_models import NETWORKS, build, plain_logits, writer

CAUSAL = "MiniLM (causal)"


def some_ids(model, length, seed):
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(5, model.network.config.vocab_size, (length,), generator=draw).tolist()


def count_rows(network):
    """How many rows each forward pass had that read one token."""
    rows = []

    def note(module, arguments, named):
        if named["input_ids"].shape[1] == 1:
            rows.append(named["input_ids"].shape[0])

    network.register_forward_pre_hook(note, with_kwargs=True)
    return rows


@pytest.mark.parametrize("architecture", NETWORKS)
def test_texts_of_different_lengths_read_together_as_they_do_alone(architecture):
    model = writer(architecture)
    texts = [some_ids(model, length, seed=length) for length in (3, 11, 1, 7)]
    drafts = []
    for ids in texts:
        draft, logits = begin_draft(model, ids, 20)
        drafts.append(draft)
        torch.testing.assert_close(logits, plain_logits(model, ids), atol=1e-4, rtol=1e-4)
    for step in range(4):
        tokens = some_ids(model, 4, seed=step)
        together = extend_drafts(model, drafts, tokens)
        for ids, token_id, logits in zip(texts, tokens, together, strict=True):
            ids.append(token_id)
            torch.testing.assert_close(logits, plain_logits(model, ids), atol=1e-4, rtol=1e-4)
    assert [draft.ids for draft in drafts] == texts
    for draft in drafts:
        draft.close()


def test_a_copy_goes_on_by_itself():
    model = writer("llama")
    draft, _ = begin_draft(model, [5, 6, 7], 10)
    copy = fork_draft(model, draft)
    one, other = extend_drafts(model, [draft, copy], [8, 9])
    torch.testing.assert_close(one, plain_logits(model, [5, 6, 7, 8]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(other, plain_logits(model, [5, 6, 7, 9]), atol=1e-4, rtol=1e-4)
    draft.close()
    logits = extend_drafts(model, [copy], [10])[0]
    torch.testing.assert_close(logits, plain_logits(model, [5, 6, 7, 9, 10]), atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="closed"):
        extend_drafts(model, [draft], [8])


@pytest.mark.parametrize(("length", "room"), [(0, 4), (5, 4), (4, 65)])
def test_a_draft_that_does_not_fit_is_a_fault(length, room):
    with pytest.raises(ValueError, match="room"):
        begin_draft(writer("gpt2"), [5] * length, room)


def write_at_once(model, prompts, **options):
    """What each of many simultaneous visitors gets: ids and probabilities, or the exception."""
    got = [None] * len(prompts)
    start = Barrier(len(prompts))

    def write(visitor):
        start.wait()
        try:
            steps = continue_text(model, prompts[visitor], seed=visitor, **options)
            got[visitor] = [(step.token_id, step.probability) for step in steps]
        except (RuntimeError, TooBusy) as error:
            got[visitor] = error

    threads = [Thread(target=write, args=(visitor,)) for visitor in range(len(prompts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return got


@pytest.mark.parametrize("architecture", ["gpt2", "bert", "gpt_neo", "openai-gpt"])
def test_16_visitors_get_what_each_would_get_alone(architecture):
    model = build(architecture)
    prompts = ["the cat " * (1 + visitor % 5) for visitor in range(16)]
    alone = [
        [(step.token_id, step.probability) for step in continue_text(model, prompt, seed=visitor, max_new_tokens=8)]
        for visitor, prompt in enumerate(prompts)
    ]
    rows = count_rows(model.network)
    together = write_at_once(model, prompts, max_new_tokens=8)
    for mine, own in zip(together, alone, strict=True):
        assert [token for token, _ in mine] == [token for token, _ in own]
        assert [p for _, p in mine] == pytest.approx([p for _, p in own], abs=1e-4)
    if rows:  # a network that remembers
        assert sum(rows) == sum(len(own) - 1 for own in alone)  # no step ran twice
        assert len(rows) < sum(rows) / 2  # and most shared a pass
    assert all(draft.is_closed for draft in decoding._decoder_of(model).drafts)


def test_all_strategies_at_once_get_what_each_would_get_alone():
    model = build("llama")
    strategies = ["greedy", "sample", "beams", "contrastive"] * 2
    alone = [
        [s.token_id for s in continue_text(model, "the cat", strategy=each, seed=4, max_new_tokens=8)]
        for each in strategies
    ]
    got = [None] * len(strategies)

    def write(place):
        got[place] = [
            s.token_id for s in continue_text(model, "the cat", strategy=strategies[place], seed=4, max_new_tokens=8)
        ]

    threads = [Thread(target=write, args=(place,)) for place in range(len(strategies))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert got == alone


def test_a_fault_reaches_only_its_own_visitor():
    model = build("gpt2")

    def fail_on_9(module, arguments, named):
        if named["input_ids"].shape[1] == 1 and (named["input_ids"] == 9).any():
            raise RuntimeError("the device failed")

    drafts = [begin_draft(model, some_ids(model, 2 + place, seed=place), 30)[0] for place in range(8)]
    model.network.register_forward_pre_hook(fail_on_9, with_kwargs=True)
    got = [None] * 8
    start = Barrier(8)

    def go_on(place):
        start.wait()
        try:
            for _ in range(5):
                got[place] = extend_drafts(model, [drafts[place]], [9 if place == 3 else 10])[0]
        except RuntimeError as error:
            got[place] = error

    threads = [Thread(target=go_on, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [isinstance(answer, RuntimeError) for answer in got] == [place == 3 for place in range(8)]
    for place in set(range(8)) - {3}:
        torch.testing.assert_close(got[place], plain_logits(model, drafts[place].ids), atol=1e-4, rtol=1e-4)


def test_a_long_prompt_does_not_stop_those_who_write():
    model = build("gpt2")
    draft, _ = begin_draft(model, [5, 6], 30)
    order = []

    def slow_prompt(module, arguments, named):
        if named["input_ids"].shape[1] == 40:
            order.append("prompt begins")
            extend_drafts(model, [draft], [7])
            order.append("another moved")

    model.network.register_forward_pre_hook(slow_prompt, with_kwargs=True)
    reader = Thread(target=lambda: (begin_draft(model, [5] * 40, 41), order.append("prompt read")))
    reader.start()
    reader.join(timeout=30)
    assert order == ["prompt begins", "another moved", "prompt read"]


def test_memory_is_bounded_and_comes_back(monkeypatch):
    model = build("gpt2")
    bytes_per_token = decoding._decoder_of(model).bytes_per_token
    assert bytes_per_token == 2 * 2 * 24 * 4  # keys and values, layers, width, float32
    monkeypatch.setattr(decoding, "settings", lambda: Settings(most_drafts_mib=1))
    monkeypatch.setattr(decoding, "MIB", 100 * bytes_per_token)
    first, _ = begin_draft(model, [5, 6], 60)
    with pytest.raises(TooBusy, match="EXPLORER_MOST_DRAFTS_MIB"):
        begin_draft(model, [5, 6], 60)
    first.close()
    stream = continue_text(model, "the cat", strategy="greedy", max_new_tokens=40)
    next(stream)
    held = [weakref.ref(layer) for draft in decoding._decoder_of(model).drafts for layer in draft.keys]
    assert held and all(layer() is not None for layer in held)
    stream.close()
    assert all(layer() is None for layer in held)
    with pytest.raises(TooBusy):  # beams take room for each
        list(continue_text(model, "the cat", strategy="beams", beams=8, max_new_tokens=40))
    begin_draft(model, [5, 6], 60)[0].close()


def test_a_stream_that_fails_leaves_nothing_behind(monkeypatch):
    model = build("gpt2")
    stream = continue_text(model, "the cat", strategy="contrastive", max_new_tokens=20)
    next(stream)
    monkeypatch.setattr(decoding, "read_next", lambda *_: (_ for _ in ()).throw(RuntimeError("the device failed")))
    with pytest.raises(RuntimeError, match="device failed"):
        list(stream)
    decoder = decoding._decoder_of(model)
    assert all(draft.is_closed for draft in decoder.drafts) and not decoder.pending and not decoder.is_at_work


def test_a_lack_of_memory_is_not_taken_for_a_network_that_cannot_remember(monkeypatch):
    model = build("gpt2")
    with monkeypatch.context() as patch:
        patch.setattr(draft, "read_next", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError()))
        with pytest.raises(torch.OutOfMemoryError):
            decoding._decoder_of(model)
    assert decoding._decoder_of(model).remembers


def test_running_out_of_memory_is_told_to_the_visitor(monkeypatch):
    model = build("gpt2")
    backend = LocalBackend(load=lambda card, **_: model, settings=Settings(device="cpu"))
    stream = backend.stream(model.card, partial(continue_text, prompt="the cat", strategy="greedy"))
    next(stream)
    out_of_memory = torch.OutOfMemoryError("CUDA out of memory")
    monkeypatch.setattr(decoding, "read_next", lambda *_: (_ for _ in ()).throw(out_of_memory))
    with pytest.raises(OutOfMemory, match="memory of cpu is too small"):
        next(stream)


def test_nothing_is_left_of_a_model_that_is_gone():
    model = build("gpt2")
    list(continue_text(model, "the cat", max_new_tokens=3))
    network, decoder = weakref.ref(model.network), weakref.ref(decoding._decoders[model])
    del model
    gc.collect()
    assert network() is None and decoder() is None


def test_a_closed_stream_stops_while_others_go_on(shipped_registry):
    def stream(place):  # greedy: it goes round in circles rather than end
        options = {"strategy": "greedy", "max_new_tokens": settings().most_new_tokens}
        analysis = partial(continue_text, prompt="Once upon a time " * (1 + place), **options)
        return shipped_registry.stream(CAUSAL, analysis)

    next(stream(0))  # the model is there
    counts, streams, first_is_closed = [0] * 4, [stream(place) for place in range(4)], Event()

    def read(place):
        for _ in streams[place]:
            counts[place] += 1
            if counts[place] == 3 if place == 0 else first_is_closed.is_set() and min(counts[1:]) >= 10:
                break
        streams[place].close()
        if place == 0:
            first_is_closed.set()

    threads = [Thread(target=read, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert counts[0] == 3 and min(counts[1:]) >= 10
    assert max(counts) < 60  # nobody starves, nor goes on for long before the first is let go
