"""No event of the page can set itself off again without end."""

from collections import defaultdict

import pytest

from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.page import build_page


def test_one_handler_at_most_of_an_event_is_deferred():
    """Gradio runs all handlers of an event again once a deferred one may run: two would defer each other for ever."""
    page = build_page(Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded")))
    asking = defaultdict(list)  # (component, event) -> its handlers on the server that wait for their turn
    for handler in page.fns.values():
        if handler.fn is not None and handler.trigger_mode == "always_last":
            for target in handler.targets:
                asking[target].append(getattr(handler.fn, "__name__", str(handler.fn)))
    assert len(asking) > 20  # e.g. typing, sliders
    del asking[None, "then"]  # each of its own event
    assert {target: names for target, names in asking.items() if len(names) > 1} == {}
