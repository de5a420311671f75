"""How many models that are not on offer one visitor may use, and what he is told then."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from explorer.errors import ExplorerError, ModelRefused, UnknownModel
from explorer.models.callers import OPERATOR, Caller, calling
from explorer.models.card import HubRepository, LocalFolder
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.named import LATELY_SECONDS, MOST_VISITORS, TRIES, NamedModels
from explorer.tabs.visitors import _named_models, find_model
from tests.models.conftest import set_settings  # noqa: F401

ANNA, BEN = Caller("anna"), Caller("ben")
CARD = replace(CATALOGUE[0], source=HubRepository("org/any", "main", is_named=True), weights_bytes=2**30)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def find(name: str):
    """Any name is that of a model of 1 GiB, but for those with "none"; case does not matter."""
    if "none" in name:
        raise UnknownModel("no such model")
    return replace(CARD, name=name.casefold())


def named(clock, *, most: int = 3, most_gib: float = 100, find=find) -> NamedModels:
    return NamedModels(find, most, int(most_gib * 2**30), clock)


def test_one_visitor_may_use_so_many_and_those_again_and_again(clock):
    models = named(clock)
    for name in ("org/a", "org/b", "org/c", "org/a", "Org/A"):
        assert models.card(ANNA, name).name == name.casefold()
    with pytest.raises(ModelRefused) as refused:
        models.card(ANNA, "org/d")
    assert str(refused.value) == (
        "You have used 3 models that are not on offer here, and one visitor may use so many within an hour "
        "(EXPLORER_MOST_NAMED). Go on with one on offer, or with one of these: org/a, org/b, org/c; or try again in 60 "
        "minutes."
    )
    assert models.card(ANNA, "org/b").name == "org/b"


def test_another_visitor_may_as_many_and_the_operator_any_number(clock):
    models = named(clock, most=1)
    models.card(ANNA, "org/a")
    models.card(BEN, "org/b")
    for index in range(TRIES + 5):
        models.card(OPERATOR, f"org/{index}")
    for visitor in (ANNA, BEN):
        with pytest.raises(ModelRefused):
            models.card(visitor, "org/c")


def test_what_was_not_used_for_an_hour_counts_no_more(clock):
    models = named(clock, most=2)
    models.card(ANNA, "org/a")
    clock.now += LATELY_SECONDS - 90
    models.card(ANNA, "org/b")
    with pytest.raises(ModelRefused, match="in 2 minutes"):
        models.card(ANNA, "org/c")
    clock.now += 90
    models.card(ANNA, "org/c")
    with pytest.raises(ModelRefused, match=re.escape("one of these: org/b, org/c;")):
        models.card(ANNA, "org/a")


def test_they_may_fill_so_much_of_the_disk_and_folders_on_it_fill_nothing(clock):
    def find_either(name: str):
        return replace(CARD, name=name, source=LocalFolder(name) if name.startswith("folder") else CARD.source)

    models = named(clock, most=9, most_gib=2.5, find=find_either)
    for name in ("org/a", "folder/a", "org/b", "folder/b"):
        models.card(ANNA, name)
    with pytest.raises(ModelRefused, match=r"With org/c .* take 3\.0 GiB, .* 2\.5 GiB \(half of EXPLORER_NAMED_ROOM"):
        models.card(ANNA, "org/c")
    with pytest.raises(ModelRefused, match=r"1\.0 GiB, .* Go on with one on offer\.$"):
        named(clock, most_gib=0.5).card(ANNA, "org/a")


def test_names_that_do_not_exist_count_as_tries_alone(clock):
    models = named(clock, most=1)
    for index in range(TRIES - 1):
        with pytest.raises(UnknownModel):
            models.card(ANNA, f"org/none-{index}")
    models.card(ANNA, "org/a")
    with pytest.raises(ModelRefused, match=rf"typed {TRIES} names of models within an hour.* in 60 minutes"):
        models.card(ANNA, "org/none")
    models.card(ANNA, "org/a")
    clock.now += LATELY_SECONDS
    models.card(ANNA, "org/a")


def test_of_names_that_come_at_once_no_more_are_let_through(clock):
    barrier = Barrier(8)

    def find_together(name: str):
        barrier.wait()
        return find(name)

    models = named(clock, find=find_together)

    def ask(index: int) -> bool:
        try:
            return bool(models.card(ANNA, f"org/{index}"))
        except ExplorerError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 3


def test_so_many_visitors_are_remembered(clock):
    models = named(clock, most=1)
    for index in range(MOST_VISITORS + 1):
        models.card(Caller(f"visitor {index}"), "org/a")
    models.card(Caller("visitor 0"), "org/b")  # forgotten
    with pytest.raises(ModelRefused):
        models.card(Caller(f"visitor {MOST_VISITORS}"), "org/b")


def test_the_page_asks_in_the_name_of_the_visitor_with_the_limits_of_the_settings(set_settings, monkeypatch):  # noqa: F811
    set_settings(most_named=2)
    monkeypatch.setattr("explorer.tabs.visitors._card", find)
    _named_models.cache_clear()
    registry = Registry(CATALOGUE, lambda: None)
    try:
        with calling(ANNA):
            for name in ("org/a", "org/b", CATALOGUE[1].name):
                assert find_model(registry, name)[1] == name
            with pytest.raises(ModelRefused, match="EXPLORER_MOST_NAMED"):
                find_model(registry, "org/c")
        assert find_model(registry, "org/c")[1] == "org/c"
    finally:
        _named_models.cache_clear()
