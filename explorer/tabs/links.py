"""A link restores the view: the address holds the tab and what was chosen and typed in it; Back steps through both."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import gradio as gr

from explorer.figures.notes import note
from explorer.tabs.messages import QUIET

OPENED, RESTORED = "() => explorer.opened()", "() => explorer.restored()"
DECIMAL = re.compile(r"[0-9]{1,4}(\.[0-9]{1,17})?(e-[0-9]{1,2})?")  # page.js writes 0.0000005 as 5e-7
LINKED_CHARACTERS = 3_000  # page.js leaves longer texts out of the address
LONGEST_STRETCHED = 4  # digits, fewer are taken
MOST_NAMED, MOST_QUOTED = 3, 30  # choices that are left out, and characters of each
TICKED = {"true": True, "false": False}  # as page.js writes a box that is ticked or not
SEPARATOR = "|"  # between several choices of one field; page.js joins them by the same


@dataclass(frozen=True)
class LinkedTab:
    """A tab and what a link to it restores.

    Attributes:
        tab: The tab.
        fields: Name in the address -> component that holds the value. Not "view", which Gradio uses.
        terse: Names of those that the address leaves out while they stand at their first value.
        views: The sub-tabs, and the field whose value is the id of the one in sight.
        clock: Runs while the tab is in sight, and is stopped when another is.
        settled: Event after which fields may have changed unnoticed: Gradio reports no change of a field in a tab that
            was not opened yet.
        stretching: Names of sliders that end where the model does: a link may ask for more than the first model has.
        look: The line that says what to look for in an example, and for each example what it fills and that line. A
            tuple is any of its values.
    """

    tab: gr.Tab
    fields: dict[str, gr.components.Component] = field(default_factory=dict)
    terse: tuple[str, ...] = ()
    views: tuple[gr.Tabs, str] | None = None
    clock: gr.Timer | None = None
    settled: gr.events.Dependency | None = None
    stretching: tuple[str, ...] = ()
    look: tuple[gr.HTML, tuple[tuple[Mapping[str, object], str], ...]] | None = None


def wire_links(page: gr.Blocks, tabs: gr.Tabs, linked: list[LinkedTab]) -> None:
    """Write the address when something changes, and read it when the page opens or the visitor goes back."""
    for entry in linked:
        entry.tab.select(**_remembering(entry, is_chosen=True))
        if entry.fields:  # one event for all: one for each would name all of them as often, in what the page loads
            gr.on([field.change for field in entry.fields.values()], **_remembering(entry, is_chosen=False))
        if entry.settled:
            entry.settled.then(**_remembering(entry, is_chosen=False))
    for entry in linked:
        if others := [other.clock for other in linked if other.clock and other is not entry]:
            entry.tab.select(_stopping(others), None, others, **QUIET)

    sub_tabs = [entry.views[0] for entry in linked if entry.views]
    components = [component for entry in linked for component in entry.fields.values()]
    looks = [entry.look[0] for entry in linked if entry.look]
    page.load(None, None, None, js=OPENED, **QUIET)  # it asks only if the address names anything
    for elem_id, otherwise in (("restore-address", _keep), ("restore-view", _first_value)):
        pressed = gr.Button("Restore", visible="hidden", elem_id=elem_id).click  # by page.js
        restored = pressed(_restorer(linked, otherwise), None, [tabs, *sub_tabs, *components, *looks], **QUIET)
        restored.then(None, None, None, js=RESTORED)


def _stopping(clocks: list[gr.Timer]) -> Callable[[], dict[gr.Timer, gr.Timer]]:
    """A handler that stops clocks; not a list, which Gradio takes for the value where there is one output alone."""
    return lambda: {clock: gr.Timer(active=False) for clock in clocks}


def names_other(request: gr.Request, tab: str, fields: Mapping[str, gr.components.Component], always: str) -> bool:
    """Whether an address leads to a view of a tab: the page has written it, or it names other than first values.

    Args:
        request: Of an event; Gradio repeats the address in it.
        tab: Id of the tab.
        fields: As of LinkedTab; they may not hold yet what it names.
        always: The one that every address that the page writes names.
    """
    given = request.query_params
    firsts = {name: _in_address(field.value) for name, field in fields.items()}
    names = any(given.get(name, first) != first for name, first in firsts.items())
    return given.get("tab") == tab and (names or always in given)


def _remembering(entry: LinkedTab, *, is_chosen: bool) -> dict[str, object]:
    """An event, without the server, that writes the address of a tab."""
    defaults = {name: _in_address(entry.fields[name].value) for name in entry.terse}
    known = ", ".join(json.dumps(part) for part in (entry.tab.id, is_chosen, list(entry.fields), defaults))
    js = f"(...values) => {{ explorer.remember({known}, values); }}"
    return {"fn": None, "inputs": list(entry.fields.values()), "js": js, **QUIET}


def _keep(component: gr.components.Component) -> object:
    return gr.skip()


def _first_value(component: gr.components.Component) -> object:
    return component.value


def _restorer(linked: list[LinkedTab], otherwise: Callable[[gr.components.Component], object]) -> Callable:
    """A handler that puts the address of its request into the tabs and fields.

    Args:
        linked: As in wire_links.
        otherwise: What a field gets that the address does not name.
    """

    def restore(request: gr.Request) -> list:
        given = request.query_params
        ids = [entry.tab.id for entry in linked]
        wanted = given.get("tab") if given.get("tab") in ids else ids[0]
        sub_tabs, values, looks = [], [], []
        for entry in linked:
            is_wanted = entry.tab.id == wanted
            ends_here = bool(entry.stretching) and not _names_other_model(given, entry)
            found = {
                name: _stretched(given, name, component, otherwise, ends_here=ends_here)
                if name in entry.stretching
                else _found(given, name, component, otherwise)
                for name, component in entry.fields.items()
            }
            values += found.values() if is_wanted else [gr.skip()] * len(found)
            if entry.views:
                shown = found[entry.views[1]]
                is_kept = not is_wanted or not isinstance(shown, str)
                sub_tabs.append(gr.skip() if is_kept else gr.Tabs(selected=shown))
            if entry.look:
                told = _cut(given, entry) + _left_out(given, entry, ids) or _what_to_look_for(given, entry)
                looks.append(told if is_wanted else gr.skip())
        return [gr.Tabs(selected=wanted), *sub_tabs, *values, *looks]

    return restore


def _what_to_look_for(given: Mapping[str, str], entry: LinkedTab) -> str:
    """The line of the example that an address names; "" where it names none."""
    named = {name: given.get(name, _in_address(component.value)) for name, component in entry.fields.items()}
    for fills, line in entry.look[1]:
        if all(named[name] in _spellings(value) for name, value in fills.items()):
            return line
    return ""


def _spellings(value: object) -> list[str]:
    return [_in_address(one) for one in (value if isinstance(value, tuple) else (value,))]


def _cut(given: Mapping[str, str], entry: LinkedTab) -> str:
    """Which fields page.js left out of an address, as it would have been too long; "" where there are none."""
    names = given.get("without", "").split(SEPARATOR)
    labels = [re.split("[,:]", field.label or name)[0] for name, field in entry.fields.items() if name in names]
    if not labels:
        return ""
    return note(
        f"Too long for a link, and so not in this one: {', '.join(labels)}. What stands here does without, and may say "
        "other than where the link was copied."
    )


def _left_out(given: Mapping[str, str], entry: LinkedTab, tabs: Sequence[str]) -> str:
    """What an address asks for that cannot be, which the visitor would miss in silence; "" where there is nothing.

    Args:
        given: The address.
        entry: The tab that it leads to.
        tabs: The ids of all.
    """
    wrong = [
        (component.label or name, given[name])
        for name, component in entry.fields.items()
        if given.get(name)
        and _value(given[name], component) is None
        and not (name in entry.stretching and _is_short_number(given[name]))
    ]
    wrong += [("tab", given["tab"])] if given.get("tab") and given["tab"] not in tabs else []
    named = [f"{label} “{value[:MOST_QUOTED]}”" for label, value in wrong[:MOST_NAMED]]
    named += ["and more"] if len(wrong) > MOST_NAMED else []
    return note(f"Left out of the link, as there is no such choice here: {', '.join(named)}.") if named else ""


def _found(given: Mapping[str, str], name: str, component: gr.components.Component, otherwise: Callable) -> object:
    value = None if given.get(name) is None else _value(given[name], component)
    return otherwise(component) if value is None else value


def _names_other_model(given: Mapping[str, str], entry: LinkedTab) -> bool:
    return given.get("model", entry.fields["model"].value) != entry.fields["model"].value


def _stretched(
    given: Mapping[str, str], name: str, component: gr.Slider, otherwise: Callable, *, ends_here: bool
) -> object:
    """As _found, and the slider ends no lower than its value: Gradio refuses what is beyond the end.

    Args:
        given: The address.
        name: Of the field.
        component: The slider.
        otherwise: As _restorer takes it.
        ends_here: Whether the model is the first one, so that the slider's end is known: what is beyond is the end.
    """
    asked = given.get(name, "")
    is_number = _is_short_number(asked)
    value = int(asked) if is_number else otherwise(component)
    if ends_here and is_number:
        value = min(value, component.maximum)
    return gr.Slider(value=value, maximum=max(value, component.maximum)) if isinstance(value, int) else value


def _is_short_number(asked: str) -> bool:
    return asked.isascii() and asked.isdigit() and len(asked) < LONGEST_STRETCHED


def _value(given: str, component: gr.components.Component) -> object:
    """What an address puts into a field; None for what the field cannot hold."""
    if isinstance(component, gr.Slider | gr.Number):
        return _number(given, component)
    if isinstance(component, gr.Checkbox):
        return TICKED.get(given)
    if not hasattr(component, "choices"):
        is_spelled = getattr(component, "is_spelled", None)  # set on a box that holds words of our own
        return None if is_spelled and not is_spelled(given) else given
    are_many = getattr(component, "multiselect", False) or isinstance(component, gr.CheckboxGroup)
    names = [name for name in given.split(SEPARATOR) if name] if are_many else [given]
    if not getattr(component, "allow_custom_value", False):
        offered = {str(value): value for _, value in component.choices}
        offered |= {value: value for value in getattr(component, "linked", ())}
        names = [offered[name] for name in names if name in offered]
    if are_many:
        return names[: getattr(component, "max_choices", None)]
    return names[0] if names else None


def _number(given: str, component: gr.Slider | gr.Number) -> int | float | None:
    """A number within the bounds of the field, whole where the field holds only whole ones."""
    least = -math.inf if component.minimum is None else component.minimum
    most = math.inf if component.maximum is None else component.maximum
    step = getattr(component, "step", None)
    if isinstance(step, float) and not step.is_integer() and DECIMAL.fullmatch(given):
        return float(given) if least <= float(given) <= most else None
    if not given.isascii() or not given.isdigit():
        return None
    return int(given) if len(given) < 9 and least <= int(given) <= most else None


def _in_address(value: object) -> str:
    if value is None:  # a field that stands empty, as page.js writes it
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):  # 1.0 is 1 there
        return f"{value:g}"
    return SEPARATOR.join(value) if isinstance(value, list) else str(value)
