"""The tab that shows attention: what it opens on, what its examples claim, and what it keeps."""

import pickle
import threading
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from explorer.analysis.attention_packing import (
    PackedReading,
    PackedStack,
    head_counts,
    select_weights,
    unpack_weights,
)
from explorer.analysis.attention_results import AttentionToken
from explorer.errors import UnsuitableText
from explorer.figures.bertviz import bertviz_frame, most_tokens
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.attention.first_reading import compute_first_reading, read_first_reading
from explorer.tabs.attention.gallery import read_gallery
from explorer.tabs.attention.head import OF_T5, draw_foot, unknown_note
from explorer.tabs.attention.look import read_shown, tidy_look
from explorer.tabs.attention.passing import Passing
from explorer.tabs.attention.readings import Ask, Readings, read_ask, tidy_ask
from explorer.tabs.attention.which import head_word, layer_of, read_which
from tests.analysis.tiny_models import loaded, word_piece
from tests.models.attention_networks import NETWORKS

COUNTS = {"encoder": (6, 12), "cross": (6, 8)}


def make_packed(length: int, layers: int = 1, texts: tuple[str, ...] = ()) -> PackedReading:
    names = texts or tuple(f"t{place}" for place in range(length))
    tokens = tuple(AttentionToken(name, place, 0, False, name) for place, name in enumerate(names))
    roots = np.full((layers, 2, length, length), 1000, np.uint16)
    return PackedReading("any", "text", None, False, (PackedStack("encoder", tokens, tokens, roots, layers),))


class FakeRegistry:
    """Answers with a reading of the length of the text, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def run(self, name, analysis):
        self.gate.wait(10)
        ask = analysis.keywords["ask"]
        self.asked.append(ask.text)
        return make_packed(len(ask.text))


def test_the_stored_first_reading_is_the_models_own(shipped_registry):
    stored, live = read_first_reading(), compute_first_reading(shipped_registry)
    assert [stack.queries for stack in stored.stacks] == [stack.queries for stack in live.stacks]
    for before, now in zip(stored.stacks, live.stacks, strict=True):
        np.testing.assert_allclose(unpack_weights(before.roots), unpack_weights(now.roots), atol=1e-3)


@pytest.mark.parametrize("start", read_gallery(), ids=lambda start: start.label)
def test_an_example_shows_what_it_says(shipped_registry, start):
    ask = tidy_ask(shipped_registry, start.model, Ask(start.model, start.text, start.second, start.new_tokens))
    reading = Readings(64).all_layers(shipped_registry, ask)
    counts = {stack.name: (stack.layers, stack.roots.shape[1]) for stack in reading.stacks}
    which = read_which(start.at, counts)
    assert which.word == start.at, "the model has this head"
    stack = next(stack for stack in reading.stacks if stack.name == which.stack)
    weights = unpack_weights(select_weights(reading, which.stack, which.layer, which.head))
    looks, seen, least = start.shows
    found = [
        weights[query, key]
        for query, one in enumerate(stack.queries)
        for key, other in enumerate(stack.keys)
        if (one.text, other.text) == (looks, seen)
    ]
    assert found and max(found) >= least
    if start.label == "The token after":
        tops = [row.argmax() == query + 1 for query, row in enumerate(weights[:-1])]
        assert len(tops) > sum(tops) >= 0.8 * len(tops) and "nearly each token" in start.look_for, "[CLS] does not"
    if start.look.startswith("p"):
        assert stack.queries[int(start.look[1:])].text == looks


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("encoder-3-5", "encoder-3-5"),
        ("encoder-99-0", "encoder-6-1"),
        ("cross-1-12", "cross-1-8"),
        ("cross-rollout", "cross-mean"),
        ("cross-3-rollout", "cross-3-mean"),
        ("encoder-rollout", "encoder-6-rollout"),
        ("encoder-mean-rollout", "encoder-6-rollout"),
        ("encoder-9-rollout", "encoder-6-rollout"),
        ("encoder-2-rollout", "encoder-2-rollout"),
        ("encoder-mean-mean", "encoder-mean"),
        ("cross-mean-12", "cross-mean-8"),
        ("encoder-2-mean", "encoder-2-mean"),
        ("decoder-2-2", "encoder-2-2"),
        ("<script>", "encoder-1-1"),
        ("", "encoder-1-1"),
    ],
)
def test_a_word_means_the_nearest_head_of_the_model(word, meant):
    assert read_which(word, COUNTS).word == meant


def test_what_was_written_behind_a_text_keeps_its_border(shipped_registry):
    asked = Ask("MiniLM (causal)", "In the evening", " the old man slept.", 7)
    ask = tidy_ask(shipped_registry, asked.model, asked)
    assert ask == replace(asked, new_tokens=0)
    tokens = Readings(64).all_layers(shipped_registry, ask).stacks[0].queries
    behind = [token.surface.strip() for token in tokens if token.segment == 1]
    assert behind == ["the", "old", "man", "slept", "."]


@pytest.mark.parametrize("look", ["", "words", "matrix.words.nospecial.nofirst.01.t2.p4", "012.xx", None])
def test_a_look_says_what_is_shown(look):
    shown = read_shown(look)
    assert shown.by_words == ("words" in (look or "")) and shown.special == ("nospecial" not in (look or ""))
    assert shown.texts == ((0, 1) if ".01." in (look or "") else None)


def test_words_are_counted_from_one_and_indexes_from_zero():
    assert head_word("encoder", 2, 4) == "encoder-3-5"
    assert head_word("encoder", 2, None) == "encoder-3-mean"
    assert layer_of("encoder-3-5") == 2 and layer_of("nonsense") == 0
    assert {layer_of(f"encoder-{word}") for word in ("mean", "mean-2", "rollout", "2-rollout")} == {None}


def test_readings_leave_when_there_is_no_room_and_are_read_again():
    registry, readings = FakeRegistry(), Readings(room_mib=1)
    first, second = Ask("any", "a" * 500), Ask("any", "b" * 400)  # 0.95 and 0.61 MiB
    assert readings.all_layers(registry, first) is readings.all_layers(registry, first)
    readings.all_layers(registry, second)
    assert readings.size_bytes == 400 * 400 * 2 * 2
    readings.all_layers(registry, first)
    assert [text[0] for text in registry.asked] == ["a", "b", "a"]
    readings.all_layers(registry, Ask("any", "c" * 600))  # larger than all the room: answered, and not kept
    assert readings.size_bytes <= 2**20


def test_whoever_asks_for_the_same_waits_for_the_same():
    registry, readings = FakeRegistry(), Readings(room_mib=1)
    registry.gate.clear()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(readings.all_layers(registry, Ask("any", "abc"))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    registry.gate.set()
    for thread in threads:
        thread.join(10)
    assert registry.asked == ["abc"] and len({id(reading) for reading in found}) == 1


class PassingRegistry:
    """Passes two layers of three, and reads the last when it is let go on; counts what it reads."""

    def __init__(self) -> None:
        self.asked: list[int | None] = []
        self.gate = threading.Event()

    def run(self, name, analysis):
        layer = analysis.keywords.get("layer")
        self.asked.append(layer)
        whole = make_packed(2, layers=3)
        if layer is None:
            for place in range(2):
                analysis.keywords["passing"].put(place, take_layer(whole, place))
            assert self.gate.wait(10)
        return whole if layer is None else take_layer(whole, layer)


def take_layer(reading: PackedReading, layer: int) -> PackedReading:
    [stack] = reading.stacks
    return replace(reading, stacks=(replace(stack, roots=stack.roots[layer : layer + 1], first_layer=layer),))


def test_a_second_layer_has_all_read_and_comes_as_soon_as_it_was_passed():
    registry, readings, ask = PassingRegistry(), Readings(room_mib=1), Ask("any", "ab")
    assert readings.with_layer(registry, ask, "encoder-1-1").stacks[0].first_layer == 0
    readings.with_layer(registry, ask, "encoder-1-2")
    assert registry.asked == [0]
    assert readings.with_layer(registry, ask, "encoder-2-1").stacks[0].first_layer == 1  # while the rest is read
    found = []
    waits = threading.Thread(target=lambda: found.append(readings.with_layer(registry, ask, "encoder-3-1")))
    waits.start()
    registry.gate.set()
    waits.join(10)
    assert found[0].stacks[0].has(None) and registry.asked == [0, None]
    assert readings.with_layer(registry, ask, "encoder-2-2").stacks[0].has(None)


def test_a_reading_that_fails_keeps_nobody_waiting():
    class FailingRegistry(PassingRegistry):
        def run(self, name, analysis):
            if analysis.keywords.get("layer") is None:
                self.asked.append(None)
                raise UnsuitableText("too large")
            return super().run(name, analysis)

    registry, readings, ask = FailingRegistry(), Readings(room_mib=1), Ask("any", "ab")
    for word, layer in (("encoder-1-1", 0), ("encoder-3-1", 2)):
        assert readings.with_layer(registry, ask, word).stacks[0].first_layer == layer
    assert registry.asked == [0, None, 2]


def test_what_is_awaited_here_is_empty_where_a_model_lives_elsewhere():
    passing = Passing()
    passing.put(0, make_packed(1))
    copy = pickle.loads(pickle.dumps(passing))
    copy.close()
    assert copy.wait(0) is None and passing.wait(0) is not None


@pytest.mark.parametrize(
    "sent",
    [None, [], {}, {"asked": {}, "which": "encoder-1-1"}, {"asked": "x", "which": "y"},
     {"asked": {"model": "m", "text": 3, "second": "", "new_tokens": 0}, "which": ""},
     {"asked": {"model": "m", "text": "", "second": "", "new_tokens": True}, "which": ""},
     {"asked": {"model": "m", "text": "", "second": "", "new_tokens": 0, "more": 1}, "which": ""}],
)  # fmt: skip
def test_what_the_page_never_sends_is_refused(sent):
    with pytest.raises(UnsuitableText):
        read_ask(sent)


def test_bertviz_gets_hostile_tokens_as_data_once_and_nothing_from_outside():
    hostile = "</script><script>alert(1)</script>"
    frame = bertviz_frame(make_packed(3, texts=("a", hostile, "مرحبا")), "model")
    assert "sandbox='allow-scripts'" in frame and "allow-same-origin" not in frame
    assert hostile not in frame and "&lt;/script&gt;&lt;script&gt;alert" not in frame
    assert frame.count("\\u003c/script>\\u003cscript>alert".replace(">", "&gt;")) == 2  # as a row, and as a column
    assert "default-src &#x27;none&#x27;" in frame


@pytest.mark.parametrize("name", ["bert", "t5"])  # three layers; three, and two in the decoder
@pytest.mark.parametrize("asked", ["encoder-1-1", "encoder-3-2", "encoder-9-4", "cross-3-1", "decoder-mean"])
def test_a_head_of_a_layer_that_a_model_may_lack(name, asked):
    torch.manual_seed(0)
    model = loaded(NETWORKS[name](), word_piece().tokenizer)
    registry = Registry([model.card], lambda: SimpleNamespace(run=lambda card, analysis: analysis(model)))
    ask = Ask(model.card.name, "The cat sat.")
    whole, one = Readings(64).all_layers(registry, ask), Readings(64).with_layer(registry, ask, asked)
    assert head_counts(one) == head_counts(whole)
    which = read_which(asked, head_counts(one))
    for first, second in [(select_weights(reading, which.stack, which.layer, which.head) for reading in (whole, one))]:
        np.testing.assert_array_equal(first, second)


def test_bertviz_opens_on_the_stack_in_sight():
    [encoder] = make_packed(2, layers=3).stacks
    reading = PackedReading("any", "text", None, True, (encoder, replace(encoder, name="cross")))
    frame = unescape(bertviz_frame(reading, "head", "cross", 2, 1))
    assert '"default_filter":"1"' in frame and "<option value='1' selected>Cross-attention</option>" in frame
    assert '"layer":2' in frame and "value='0' selected" not in frame


def test_bertviz_draws_fewer_tokens_of_larger_models():
    small, large = make_packed(4), make_packed(4, layers=1000)
    assert most_tokens(small) == 48
    assert most_tokens(large) == 8


@pytest.mark.parametrize(
    ("look", "tidy"),
    [
        ("matrix.words.01.nospecial.t3.p12", "matrix.words.01.nospecial.t3.p12"),
        ("table.\ud800.<b>.u12345.nofirst", "table.nofirst"),
        ("lines.h4.h12", "lines.h4.h12"),
        ("words." * 10**6, ".".join(["words"] * 16)),
        (None, ""),
    ],
)
def test_of_a_look_only_what_is_known_is_sent_back(look, tidy):
    assert tidy_look(look) == tidy


def test_words_that_the_model_cannot_read_are_said():
    assert "1 of the 3 tokens, special ones included, is unknown" in unknown_note(
        make_packed(3, texts=("[CLS]", "[UNK]", "[SEP]"))
    )
    assert unknown_note(make_packed(3)) == ""


@pytest.mark.parametrize("name, formula", [("BERT base", "softmax(QKᵀ/√d)"), ("T5 small", OF_T5)])
def test_the_weights_are_said_to_be_what_the_model_computes(name, formula):
    (card,) = (card for card in CATALOGUE if card.name == name)
    assert formula in draw_foot(make_packed(3), Ask(name, "Any text.", "", 0), card)
