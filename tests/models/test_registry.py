"""Names in, results out; the backend is opened late, and once."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from threading import Barrier, Event, Thread

import pytest

from explorer.errors import ModelRefused, UnknownModel
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.models.status import Budget, ModelStatus


def card_of(name: str, *abilities: Ability) -> ModelCard:
    return ModelCard(name, LocalFolder("nowhere"), "bert", frozenset(abilities), "", "", "", "")


CARDS = (
    card_of("BERT base", Ability.FILL_BLANKS, Ability.EMBED),
    card_of("BERT large", Ability.FILL_BLANKS),
    card_of("GPT-2", Ability.GENERATE, Ability.EMBED),
)


class HereBackend:
    """Runs analyses on the card itself: all that the registry needs of a place."""

    def __init__(self) -> None:
        self.loaded = []

    def run(self, card, analysis):
        return analysis(card)

    def stream(self, card, analysis) -> Iterator:
        yield from analysis(card)

    def load(self, card, is_waiting) -> None:
        self.loaded.append(card)

    def unload(self, card) -> None:
        self.loaded.remove(card)

    def status(self) -> dict:
        return {card: ModelStatus(card.name, "ready", "cpu", 5) for card in self.loaded}

    def budget(self) -> Budget:
        return Budget("cpu", 10, 5 * len(self.loaded), 20)


@pytest.fixture
def registry() -> Registry:
    return Registry(CARDS, HereBackend)


def test_names_stand_in_the_order_of_the_catalogue(registry):
    assert registry.names() == ["BERT base", "BERT large", "GPT-2"]
    assert registry.names(Ability.EMBED) == ["BERT base", "GPT-2"]
    assert registry.names(Ability.FILL_SPANS) == []
    assert registry.cards() == CARDS


def test_a_name_finds_its_card_and_an_analysis_its_model(registry):
    assert registry.card("GPT-2") is CARDS[2]
    assert registry.run("GPT-2", lambda model: model.name) == "GPT-2"
    assert list(registry.stream("GPT-2", lambda model: iter(model.name))) == list("GPT-2")


def test_an_unknown_name_is_answered_by_the_nearest_and_where_all_are_listed(registry):
    with pytest.raises(UnknownModel) as caught:
        registry.run("gpt 2", lambda model: None)
    assert str(caught.value) == ("No model is called “gpt 2”. Did you mean GPT-2?")
    with pytest.raises(UnknownModel, match="Did you mean BERT base or BERT large"):
        registry.card("bert")
    with pytest.raises(UnknownModel, match=re.escape("Did you mean BERT base?")):  # the other is much less like it
        registry.card("bert bas")
    for unlike in ("xyz", "nonsense", "word vectors"):
        with pytest.raises(UnknownModel, match=f"“{unlike}”. All models are listed in the Models tab"):
            registry.card(unlike)
    with pytest.raises(UnknownModel, match=re.escape("Did you mean BERT large?")):  # it holds what was typed
        registry.card("Large")


def test_the_nearest_names_say_which_need_internet(registry, monkeypatch):
    for names_here, is_off, told in (
        ({"BERT large"}, False, "Did you mean BERT large or BERT base (with internet)?"),
        ({"BERT large"}, True, "Did you mean BERT large?"),
        ((), True, "Did you mean BERT base or BERT large (with internet)?"),
    ):
        monkeypatch.setattr("explorer.models.registry.is_offline", lambda is_off=is_off: is_off)
        monkeypatch.setattr("explorer.models.registry.is_here", lambda card, here=names_here: card.name in here)
        with pytest.raises(UnknownModel, match=re.escape(told)):
            registry.card("BERT", Ability.FILL_BLANKS)
    small = card_of("BERT mini", Ability.EMBED)
    monkeypatch.setattr("explorer.models.registry.is_here", lambda card: card is small)
    with pytest.raises(UnknownModel, match=re.escape("(with internet)? Of its kind, BERT mini is here.")):
        registry.with_card(small).card("BERT bas")
    with pytest.raises(UnknownModel, match=re.escape("Did you mean GPT-2 (with internet)?")):
        registry.card("gpt 2")


def test_the_nearest_names_are_of_models_that_can_do_what_is_wanted(registry):
    with pytest.raises(UnknownModel, match=re.escape("Did you mean BERT large?")):
        registry.card("BERT lar", Ability.FILL_BLANKS)
    with pytest.raises(UnknownModel) as caught:
        registry.card("gpt 2", Ability.FILL_BLANKS)
    assert "GPT-2" not in str(caught.value)
    with pytest.raises(UnknownModel) as caught:
        registry.card("x" * 5000)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("bert-base-uncased", "BERT base"),
        ("gpt2", "GPT-2"),
        ("RoBERTa-base", "RoBERTa base"),
        ("bert MINI", "BERT mini"),
    ],
)
def test_an_old_short_id_of_the_hub_finds_the_model_on_offer(given, name):
    registry = Registry(CATALOGUE, HereBackend)
    assert registry.card(given).name == name
    assert registry.run(given, lambda card: card.name) == name


def test_an_unknown_name_is_told_before_a_stream_begins(registry):
    with pytest.raises(UnknownModel):
        registry.stream("gpt2", lambda model: iter(()))


def test_two_cards_may_not_share_a_name():
    with pytest.raises(ValueError, match="'GPT-2'"):
        Registry([*CARDS, card_of("GPT-2")], HereBackend)


def test_the_backend_is_opened_at_the_first_use_and_once():
    opened, others_ask = [], Event()

    def open_slowly() -> HereBackend:
        opened.append(True)
        assert others_ask.wait(timeout=30)
        return HereBackend()

    registry = Registry(CARDS, open_slowly)
    visitor = registry.with_card(card_of("mine"))
    assert registry.names() and registry.status() and registry.budget() is None and not opened
    registry.unload("GPT-2")
    assert not opened
    together = Barrier(9)
    asked = [registry, visitor] * 4
    threads = [Thread(target=lambda r=r: (together.wait(), r.run("GPT-2", lambda model: None))) for r in asked]
    for thread in threads:
        thread.start()
    together.wait()
    others_ask.set()
    for thread in threads:
        thread.join()
    assert opened == [True]


def test_a_backend_that_could_not_be_opened_is_tried_again():
    backends = [OSError("not yet"), HereBackend()]

    def open_backend() -> HereBackend:
        backend = backends.pop(0)
        if isinstance(backend, OSError):
            raise backend
        return backend

    registry = Registry(CARDS, open_backend)
    with pytest.raises(OSError, match="not yet"):
        registry.run("GPT-2", lambda model: None)
    assert registry.run("GPT-2", lambda model: 1) == 1


def test_an_unknown_name_opens_no_backend():
    def open_backend() -> HereBackend:
        raise AssertionError("nothing to do there")

    with pytest.raises(UnknownModel):
        Registry(CARDS, open_backend).run("xyz", lambda model: None)


def test_a_visitors_card_is_for_that_visitor(registry):
    mine = card_of("mine", Ability.EMBED)
    visitor = registry.with_card(mine)
    assert visitor.names(Ability.EMBED) == ["BERT base", "GPT-2", "mine"]
    assert visitor.run("mine", lambda model: model) is mine
    assert registry.names() == ["BERT base", "BERT large", "GPT-2"]
    assert visitor.with_card(mine).names() == visitor.names()


def test_a_visitors_card_cannot_take_a_name_on_offer(registry):
    with pytest.raises(ModelRefused, match="“GPT-2” is already the name"):
        registry.with_card(card_of("GPT-2", Ability.FILL_BLANKS))


def test_status_tells_of_every_model_on_offer(registry):
    mine = card_of("mine")
    visitor, other = registry.with_card(mine), registry.with_card(replace(mine, source=LocalFolder("elsewhere")))
    registry.load("BERT large")
    visitor.load("mine")
    assert [status.state for status in registry.status()] == ["not loaded", "ready", "not loaded"]
    assert visitor.status()[3] == ModelStatus("mine", "ready", "cpu", 5)
    assert other.status()[3] == ModelStatus("mine")  # of the same name, but another model
    assert registry.budget() == Budget("cpu", 10, 10, 20)
    registry.unload("BERT large")
    assert {status.state for status in registry.status()} == {"not loaded"}


def test_the_page_can_list_models_before_torch_is_imported():
    code = (
        "import sys, explorer.models, explorer.analysis.results, explorer.settings\n"
        "registry = explorer.models.Registry(explorer.models.CATALOGUE, None)\n"
        "assert registry.names() and registry.status()\n"
        "print({'torch', 'transformers', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
