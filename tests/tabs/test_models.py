"""What the buttons of the models' table do, whatever a press says of itself."""

import gradio as gr
import pytest
from gradio.events import EventData

from explorer.models.catalogue import CATALOGUE, DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.models.status import Budget, ModelStatus
from explorer.tabs.models import ANYTHING, build

OTHER = CATALOGUE[1].name


class Backend:
    """Has every model, and remembers which it was to let go."""

    def __init__(self) -> None:
        self.unloaded = []

    def load(self, card, is_waiting) -> None:
        pass

    def unload(self, card) -> None:
        self.unloaded.append(card.name)

    def status(self):
        return {card: ModelStatus(card.name, "ready", "cpu") for card in CATALOGUE}

    def budget(self):
        return Budget("cpu", 1, 0, 1)


@pytest.fixture
def backend():
    return Backend()


@pytest.fixture
def press(backend):
    """Press a button, and return the message."""
    registry = Registry(CATALOGUE, lambda: backend)
    registry.load(OTHER)  # a backend is opened by the first model
    with gr.Blocks(analytics_enabled=False) as page:
        build(registry)
    act = next(one.fn for one in page.fns.values() if getattr(one.fn, "__name__", "") == "act")
    return lambda **event: list(act(ANYTHING, ANYTHING, False, EventData(None, event)))[-1][0]


def test_a_model_that_is_idle_is_unloaded(press, backend):
    assert press(act="unload", name=OTHER) == ""
    assert backend.unloaded == [OTHER]


def test_the_model_that_all_begin_with_is_not(press, backend):
    assert "every visitor begins with it" in press(act="unload", name=DEFAULT_MODEL)
    assert backend.unloaded == []


def test_nor_one_that_is_not_on_offer(press, backend):
    assert "No model is called" in press(act="unload", name="org/somebody-elses")
    assert backend.unloaded == []
