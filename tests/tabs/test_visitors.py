"""Models that a visitor names, and what handlers say while a model is on its way."""

import re
import threading
from dataclasses import replace

import pytest

from explorer.errors import ModelRefused, NothingFound, UnknownModel, UnsuitableModel, UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.models.status import ModelStatus
from explorer.tabs.fill_blanks.candidates import read_candidates
from explorer.tabs.messages import explain, in_place, progress_box, stopped_box
from explorer.tabs.seeds import read_seed
from explorer.tabs.visitors import find_model

NAME = CATALOGUE[0].name


class SlowBackend:
    """A backend whose only model takes until it is told to be ready."""

    def __init__(self) -> None:
        self.ready = threading.Event()

    def load(self, card, is_waiting) -> None:
        self.ready.wait(10)

    def status(self):
        if self.ready.is_set():
            return {CATALOGUE[0]: ModelStatus(NAME, state="ready")}
        return {CATALOGUE[0]: ModelStatus(NAME, state="downloading", progress=0.5)}


@pytest.fixture
def backend():
    return SlowBackend()


@pytest.fixture
def registry(backend):
    return Registry(CATALOGUE, lambda: backend)


def test_a_model_on_offer_needs_no_card_of_its_own(registry):
    assert find_model(registry, f" {NAME} ") == (registry, NAME)


def test_a_visitors_model_is_found_under_the_name_of_its_card(registry, monkeypatch):
    card = replace(CATALOGUE[0], name="Org/Model")
    monkeypatch.setattr("explorer.tabs.visitors._card", lambda name: card)
    models, name = find_model(registry, "org/model")
    assert (models.card(name), name) == (card, "Org/Model")
    assert "Org/Model" not in registry.names()


def test_a_misspelt_name_is_answered_by_the_nearest_alone(registry):
    with pytest.raises(UnknownModel, match=re.escape(NAME)) as caught:
        find_model(registry, "MiniLM masked")
    assert [card.name for card in CATALOGUE if card.name in str(caught.value)] == [NAME]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:\\x", "a/b/c", "a/<b>"])
def test_paths_are_refused(registry, name):
    with pytest.raises(ModelRefused):
        find_model(registry, name)


def test_while_a_model_is_on_its_way_the_visitor_is_told(registry, backend):
    @in_place(registry, outputs=1)
    def draw(models, model, text):
        return (text.upper(),)

    steps = draw(NAME, "hello")
    assert f"Downloading {NAME}: 50%" in next(steps)[0]
    backend.ready.set()
    assert list(steps)[-1] == ("", "HELLO")


def test_an_analysis_that_takes_long_says_so_with_a_way_to_stop_it(registry, backend, monkeypatch):
    backend.ready.set()
    monkeypatch.setattr("explorer.tabs.messages.SLOWER_SECONDS", 0.01)
    go_on = threading.Event()

    @in_place(registry, outputs=1)
    def draw(models, model, text):
        go_on.wait(10)
        return (text.upper(),)

    steps = draw(NAME, "hello")
    message, _ = next(steps)
    assert f"Computing with {NAME}" in message and "data-action='stop'" in message
    go_on.set()
    assert list(steps)[-1] == ("", "HELLO")


def test_mistakes_and_faults_become_messages(registry, backend, caplog):
    backend.ready.set()

    @in_place(registry, outputs=1)
    def draw(models, model, error):
        raise error

    ((message, _),) = draw(NAME, UnsuitableText("Write <b>."))
    assert "Write &lt;b&gt;." in message and "of-model" not in message and "beside" not in message
    assert "beside" in explain(NothingFound("None is there."))
    ((message, _),) = draw(NAME, UnsuitableModel("It writes nothing."))
    assert "of-model" in message  # it stands below the picker
    ((message, _),) = draw([NAME, NAME], UnsuitableModel("It writes nothing."))
    assert "of-model" not in message, "it may be the other"
    ((message, _),) = draw([NAME, "no such model"], None)
    assert "of-model" not in message
    ((message, _),) = draw(["no such model", NAME], None)
    assert "of-model" in message
    ((message, _),) = draw(NAME, ZeroDivisionError("secret path"))
    reference = re.search(r"reference (\w{8})", message).group(1)
    assert "secret" not in message and reference in caplog.text


def test_candidates_are_read_line_by_line():
    assert read_candidates("is, are\n\nhis/her/their") == [["is", "are"], [], ["his", "her", "their"]]
    assert read_candidates("and/or, km/h\nnurse\n\n") == [["and/or", "km/h"], ["nurse"]]
    assert read_candidates("book; and/or\na; b, c") == [["book", "and/or"], ["a; b", "c"]]


@pytest.mark.parametrize(("typed", "seed"), [(None, 0), (7, 7), (-5, 5), (1_000_003, 3), (1e20, 0), (float("inf"), 0)])
def test_whatever_is_typed_is_a_seed(typed, seed):
    assert read_seed(typed) == seed


def test_only_a_stopped_download_is_said_to_go_on():
    assert "download goes on" in stopped_box(progress_box("Downloading BERT base: 3 % …"))
    assert "download" not in stopped_box(None)
    assert "download" not in stopped_box(progress_box("Computing with BERT base, 3 s so far …"))
