"""Parts of the page that follow the job in sight: each is drawn anew only when it is in sight and something changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import gradio as gr

from explorer.tabs.fine_tune.looking import Looked


@dataclass(frozen=True)
class Part:
    """A part of the page.

    Attributes:
        name: Of its own.
        view: Id of the sub-tab it stands in; "" = it is always in sight.
        outputs: What it draws.
        draw: What stands in the outputs, of what is looked at and of the values of the inputs.
        key: What the drawing hangs on, likewise, as JSON knows it.
        inputs: Controls of its own.
    """

    name: str
    view: str
    outputs: list[gr.components.Component]
    draw: Callable[..., tuple]
    key: Callable[..., object]
    inputs: list[gr.components.Component] = field(default_factory=list)


def known_keys(parts: list[Part], looked: Looked, shown: str) -> dict[str, str]:
    """What the parts in sight hang on before anything is drawn anew: they are laid out with it.

    Args:
        parts: In page order.
        looked: What the page is laid out with.
        shown: Id of the first sub-tab.
    """
    first = [part for part in parts if part.view in ("", shown)]
    return {part.name: _key(part, looked, [component.value for component in part.inputs]) for part in first}


def draw_parts(parts: list[Part], looked: Looked, shown: str, seen: dict[str, str], given: list) -> tuple:
    """What changes on the page: a new `seen` first, then the outputs of all parts; gr.skip() where nothing does.

    Args:
        parts: In page order.
        looked: What is looked at.
        shown: Id of the sub-tab in sight.
        seen: Name of a part -> what its last drawing hung on.
        given: The values of the inputs of all parts, in their order.
    """
    values, drawn, keys = iter(given), [], dict(seen)
    for part in parts:
        own = [next(values) for _ in part.inputs]
        key = _key(part, looked, own)
        if part.view not in ("", shown) or seen.get(part.name) == key:
            drawn += [gr.skip()] * len(part.outputs)
            continue
        drawn += part.draw(looked, *own)
        keys[part.name] = key
    return (gr.skip() if keys == seen else keys), *drawn


def _key(part: Part, looked: Looked, own: list) -> str:
    return json.dumps(part.key(looked, *own), default=str)
