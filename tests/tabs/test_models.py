"""What the buttons of the models' table do, whatever a press says of itself."""

import gradio as gr
import pytest
from gradio.events import EventData

from explorer.errors import ModelUnavailable
from explorer.models.catalogue import CATALOGUE, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.models.status import Budget, ModelStatus
from explorer.tabs.models import ANYTHING, build

OTHER, UNREACHABLE = CATALOGUE[1].name, CATALOGUE[2].name
NO_WAY = "The server is away. Check the network."


class Backend:
    """Has every model but one, and remembers which it was to let go."""

    def __init__(self) -> None:
        self.unloaded = []

    def load(self, card, is_waiting) -> None:
        if card.name == UNREACHABLE:
            raise ModelUnavailable(NO_WAY)

    def unload(self, card) -> None:
        self.unloaded.append(card.name)

    def status(self):
        return {card: ModelStatus(card.name, "ready", "cpu") for card in CATALOGUE if card.name != UNREACHABLE}

    def budget(self):
        return Budget("cpu", 1, 0, 1)


@pytest.fixture
def backend():
    return Backend()


@pytest.fixture
def press(backend):
    """Press a button, with other filters than those that list all, and return the message and the table."""
    registry = Registry(CATALOGUE, lambda: backend)
    registry.load(OTHER)  # a backend is opened by the first model
    with gr.Blocks(analytics_enabled=False) as page:
        build(registry)
    act = next(one.fn for one in page.fns.values() if getattr(one.fn, "__name__", "") == "act")

    def press(*, family: str = ANYTHING, **event: str) -> tuple[str, str]:
        message, _, _, table = list(act(ANYTHING, family, False, EventData(None, event)))[-1]
        return message, table

    return press


def refused_rows(table: str) -> list[str]:
    return [row for row in table.split("<tr")[1:] if "role='alert'" in row]


def test_a_model_that_is_idle_is_unloaded(press, backend):
    message, table = press(act="unload", name=OTHER)
    assert message == "" and not refused_rows(table)
    assert backend.unloaded == [OTHER]


def test_the_model_that_all_begin_with_is_not(press, backend):
    message, table = press(act="unload", name=DEFAULT_MODEL)
    (row,) = refused_rows(table)
    assert "every visitor begins with it" in row and f"<b>{DEFAULT_MODEL}</b>" in row
    assert message == "" and backend.unloaded == []


def test_nor_one_that_is_not_on_offer(press, backend):
    message, table = press(act="unload", name="org/somebody-elses")
    assert "No model is called" in message and not refused_rows(table)
    assert backend.unloaded == []


def test_a_load_that_fails_says_so_in_its_row(press):
    message, table = press(act="load", name=UNREACHABLE)
    (row,) = refused_rows(table)
    assert NO_WAY in row and f"<b>{UNREACHABLE}</b>" in row and message == ""
    assert not refused_rows(press(act="load", name=OTHER)[1])  # a later press says nothing of it


def test_where_its_row_is_not_in_sight_it_says_so_above_the_table(press):
    message, table = press(act="load", name=UNREACHABLE, family="BERT")
    assert NO_WAY in message and UNREACHABLE not in table
