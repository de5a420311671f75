"""Whatever is computed ends before the next forward pass once nobody waits for it, and lets others in before."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from threading import Event, Thread

import pytest
import torch

from explorer import analysis
from explorer.errors import NobodyWaits
from explorer.models.backend import LoadedModel
from explorer.models.callers import Caller
from explorer.models.padding import may_be_padded
from explorer.models.turns import Turns, end_with_turns
from tests.analysis import objective_models, tiny_models, writing_models
from tests.analysis.test_embeddings import own
from tests.models.tiny_loader import wait_until

MOST_SECONDS = 30

BLANKS = "the ___ is in the ___ (happy)"
TEXT = "the cat is playing in the house and the dog runs home"
SENTENCES = tuple(f"the cat {'is ' * number}playing" for number in range(1, 50))
PLACES = tuple((4, 7) for _ in SENTENCES)
PAIRS = [(one, other, 0.1 * number) for number, (one, other) in enumerate(zip(SENTENCES, SENTENCES[1:], strict=False))]


def encoder() -> LoadedModel:
    model = own("word_piece")  # which other tests use, too
    return replace(model, network=deepcopy(model.network))


ASKED = {  # model, analysis
    "fills": (tiny_models.word_piece, partial(analysis.fill_blanks, text=BLANKS)),
    "fills from left to right": (
        tiny_models.byte_level,
        partial(analysis.fill_blanks, text=BLANKS, strategy="left_to_right"),
    ),
    "reveal": (tiny_models.word_piece, partial(analysis.reveal_blanks, text=BLANKS)),
    "candidates": (
        tiny_models.word_piece,
        partial(analysis.rank_candidates, text=BLANKS, candidates=(("new york", "un happy"), ("home",))),
    ),
    "spans of a masked model": (tiny_models.word_piece, partial(analysis.fill_spans, text=BLANKS)),
    "spans of a causal model": (partial(writing_models.build, "gpt2"), partial(analysis.fill_spans, text=BLANKS)),
    "spans of T5": (partial(objective_models.mini, "span"), partial(analysis.fill_spans, text=BLANKS)),
    "spans of BART": (objective_models.bart, partial(analysis.fill_spans, text=BLANKS)),
    "continuation": (partial(writing_models.build, "llama"), partial(analysis.continue_text, prompt=TEXT)),
    "continuation without memory": (
        partial(writing_models.build, "xlnet"),
        partial(analysis.continue_text, prompt=TEXT),
    ),
    "beams": (partial(writing_models.build, "bert"), partial(analysis.search_beams, prompt=TEXT)),
    "score": (tiny_models.word_piece, partial(analysis.score_text, text=f"{TEXT} {TEXT} {TEXT}")),
    "scores": (partial(writing_models.build, "gpt2"), partial(analysis.score_texts, texts=(TEXT * 2, "the cat") * 40)),
    "heads": (tiny_models.word_piece, partial(analysis.measure_heads)),
    "ranked heads": (tiny_models.word_piece, partial(analysis.rank_heads, text=TEXT)),
    "uses": (
        encoder,
        partial(analysis.embed_occurrences, sentences=SENTENCES, positions=PLACES),
    ),
    "anisotropy": (encoder, partial(analysis.measure_anisotropy, sentences=SENTENCES)),
    "rogue dimensions": (encoder, partial(analysis.find_rogue_dimensions, sentences=SENTENCES)),
    "similarity": (encoder, partial(analysis.compare_similarity, pairs=PAIRS)),
}


def count_passes(network: torch.nn.Module, act=lambda: None) -> list[int]:
    """One entry for each time that the network reads tokens; they are embedded behind the point where passes end."""
    passes = []

    def note(module, arguments):
        passes.append(1)
        act()

    vocabulary = len(network.get_input_embeddings().weight)
    for part in network.modules():
        if isinstance(part, torch.nn.Embedding) and len(part.weight) == vocabulary:
            part.register_forward_pre_hook(note)
    return passes


def work(model, ask):
    result = ask(model)
    return list(result) if isinstance(result, Iterator) else result


@pytest.mark.parametrize("asked", ASKED)
def test_it_ends_before_the_next_pass(asked):
    build, ask = ASKED[asked]
    model = build()
    end_with_turns(model.network)
    here = [True]
    if not model.network.config.is_encoder_decoder:
        may_be_padded(model, model.network.base_model)  # asked once for each model, for all who come
    passes = count_passes(model.network, here.clear)
    turns = Turns(1, 1, 10)
    with pytest.raises(NobodyWaits), turns.take(Caller("a", lambda: bool(here))):
        work(model, ask)
    assert len(passes) == 1
    passes.clear()
    with turns.take(Caller("b")):
        work(model, ask)  # and nothing of it is left behind for the next
    assert len(passes) > 1


@pytest.mark.parametrize("asked", ASKED)
def test_others_are_let_in_between_its_passes(asked, monkeypatch):
    monkeypatch.setattr("explorer.models.turns.SLICE_SECONDS", -1.0)
    build, ask = ASKED[asked]
    model = build()
    end_with_turns(model.network)
    turns = Turns(1, 1, MOST_SECONDS)
    had = Event()

    def visit() -> None:
        with turns.take(Caller("other")):
            had.set()

    def come() -> None:
        if not threads:
            threads.append(Thread(target=visit))
            threads[0].start()
            wait_until(lambda: turns._line)
        elif had.is_set():
            served_before.append(len(passes))

    threads, served_before = [], []
    passes = count_passes(model.network, come)
    with turns.take(Caller("long")):
        work(model, ask)
    threads[0].join(MOST_SECONDS)
    assert served_before, f"{len(passes)} passes, and who came at the first had to wait for them all"
