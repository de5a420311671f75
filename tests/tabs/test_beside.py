"""A visitor's own models stand in every picker, and beside every other model."""

import gradio as gr
import pytest

from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.kinds import take_values
from explorer.tabs.page import build_page
from explorer.tabs.picker import beside_options
from explorer.training.jobs.naming import tuned_name
from tests.tabs.test_tuned_models import ANNE, BOB, EXAMPLES, SPEC, finish, store  # noqa: F401


@pytest.fixture(scope="module")
def page():
    return build_page(Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded")))


def is_of_models(field: gr.components.Component) -> bool:
    names = {card.name for card in CATALOGUE}
    return isinstance(field, gr.Dropdown) and any(value in names for _, value in field.choices)


def offers(page: gr.Blocks, field: gr.Dropdown, owner: str) -> list[str] | None:
    """What a field offers to a visitor who comes to it; None = what it offered before."""
    for handler in page.fns.values():
        if (field._id, "focus") in handler.targets:
            sent = [owner] if "[[" in handler.js else owner
            return [value for _, value in handler.fn(*take_values(handler, [sent])).choices]
    return None


def test_a_visitors_models_are_in_every_picker_and_beside_every_other_model(page, store):  # noqa: F811
    id = store.submit(ANNE, SPEC, EXAMPLES)
    finish(store, id, 0)
    name = tuned_name(id, SPEC, 0)
    fields = [field for field in page.blocks.values() if is_of_models(field)]
    open_fields = [field for field in fields if field.allow_custom_value]
    assert len(open_fields) == 15  # the others offer what has a recorded training, or suits an objective
    unsuited = []
    for field in open_fields:
        everybody = [value for _, value in field.choices]
        assert offers(page, field, BOB) == everybody, field.label
        if offers(page, field, ANNE) == everybody:
            unsuited.append(everybody)
        else:
            assert offers(page, field, ANNE) == [*everybody, name], field.label
    assert unsuited == [[card.name for card in CATALOGUE if Ability.GENERATE in card.abilities]]  # it fills blanks


def test_models_on_this_machine_come_first_and_the_others_say_what_they_need(monkeypatch):
    registry = Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))
    monkeypatch.setattr("explorer.tabs.picker.is_here", lambda card: card.name in ("GPT-2", "BERT mini"))
    offered = beside_options(registry, ["BERT base", "BERT mini", "GPT", "GPT-2"])
    assert offered == [
        ("BERT mini", "BERT mini"), ("GPT-2", "GPT-2"), ("BERT base · needs internet", "BERT base"),
        ("GPT · needs internet", "GPT"),
    ]  # fmt: skip
