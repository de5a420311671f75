"""What may be sent to a handler of the page: mostly what it takes, often at its edges, and at times anything else."""

import types
from inspect import Parameter, signature
from typing import Any, Union, get_args, get_origin, get_type_hints

import gradio as gr
from gradio.block_function import BlockFunction
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

GOOD = (
    "The ___ sat on the ___.", "___ ___ ___", "The cat sat.", "They play in the park.\nThe play was long.", "play",
    "We saw a play.", "She will play the part.", "A cat, a dog and ___.", "Once upon a time",
)  # fmt: skip
STRANGE = (
    "", " ", "[MASK] [SEP]", "<extra_id_0>", "<b onclick=x>play</b>", "a" * 3000, "play " * 900, "\ud800", "\x00",
    "\u202e\u0301😀", "1e400", "-1",
)  # fmt: skip
EDGES = (-1, 0, 1, 2, 10**4, 2**31, 2**63, -(2**63), 10**30)
TOLD = {
    "index": 0, "blank": 0, "fill": "word", "act": "choose", "leaf": 0, "node": 0, "token": 7, "name": "MiniLM (span)",
    "job": "x", "jobs": ["x"], "guess": "x:0",
}  # fmt: skip
ACTS = ("choose", "show", "more", "opened", "load", "unload", "look", "tick")

texts = st.sampled_from(GOOD) | st.sampled_from(GOOD) | st.sampled_from(STRANGE) | st.text(max_size=40)
whole = st.integers(-3, 30) | st.sampled_from(EDGES)
decimal = st.floats(0, 1) | st.floats()
leaves = st.none() | st.booleans() | whole | decimal | texts
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | st.sampled_from(list(TOLD)), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def clicks(draw) -> Any:
    """What a script of the page tells, or what another one might."""
    if draw(st.integers(0, 5)) == 0:
        return draw(anything)
    told = TOLD | {"act": draw(st.sampled_from(ACTS))}
    for name in draw(st.lists(st.sampled_from(list(told)), max_size=2)):
        told[name] = draw(anything)
    for name in draw(st.lists(st.sampled_from(list(told)), max_size=1)):
        del told[name]
    return told


class Senders:
    """Strategies for what is sent to each handler of a page."""

    def __init__(self, page: gr.Blocks) -> None:
        self._words = st.sampled_from(sorted({word for one in page.blocks.values() for word in map(str, _words(one))}))
        self._known: dict[int, SearchStrategy[list[Any]]] = {}

    def values(self, handler: BlockFunction) -> SearchStrategy[list[Any]]:
        """A value for each of the handler's inputs; None for what the page keeps on the server."""
        if handler._id not in self._known:
            self._known[handler._id] = self._values(handler)
        return self._known[handler._id]

    def _values(self, handler: BlockFunction) -> SearchStrategy[list[Any]]:
        if handler.api_visibility == "private":
            wanted = [self._of_component(field) for field in handler.inputs]
        else:
            hints = get_type_hints(handler.fn)
            wanted = [
                self._of_parameter(hints[name], parameter.default)
                for name, parameter in signature(handler.fn).parameters.items()
            ]

        @st.composite
        def sent(draw) -> list[Any]:
            values = [draw(one) for one in wanted]
            if wanted and draw(st.integers(0, 3)) == 0:
                values[draw(st.integers(0, len(values) - 1))] = draw(anything)
            return values

        return sent()

    def _of_parameter(self, kind: Any, default: Any) -> SearchStrategy[Any]:
        given = self._of_kind(kind)
        return given if default is Parameter.empty else st.just(default) | st.just(default) | given

    def _of_kind(self, kind: Any) -> SearchStrategy[Any]:
        if get_origin(kind) in (Union, types.UnionType):
            return st.one_of([self._of_kind(one) for one in get_args(kind)])
        if get_origin(kind) is list:
            return st.lists(self._of_kind(get_args(kind)[0]), max_size=4)
        if get_origin(kind) is dict:
            return st.dictionaries(texts | self._words, self._of_kind(get_args(kind)[1]), max_size=3)
        simple = {str: texts | self._words, int: whole, float: decimal, bool: st.booleans(), type(None): st.none()}
        return simple.get(kind, anything)

    def _of_component(self, field: gr.components.Component) -> SearchStrategy[Any]:
        if isinstance(field, gr.State):
            return st.none()
        first = st.just(field.get_config().get("value"))
        words = list(_words(field))
        if words:
            one = st.sampled_from(words)
            are_many = isinstance(field, gr.CheckboxGroup) or getattr(field, "multiselect", False)
            others = st.lists(one, max_size=5) if are_many else one | st.none()
            is_open = getattr(field, "allow_custom_value", False) or type(field).__module__.endswith("lenient")
            return first | others | texts if is_open and not are_many else first | others
        if isinstance(field, gr.Slider | gr.Number):
            least, most = (getattr(field, name) for name in ("minimum", "maximum"))
            inside = st.floats(-3.0 if least is None else least, 30.0 if most is None else most)
            return first | inside | inside.map(int) | whole | (st.none() if isinstance(field, gr.Number) else whole)
        if isinstance(field, gr.Checkbox):
            return st.booleans() | st.none()
        if isinstance(field, gr.Textbox | gr.HTML | gr.Markdown):
            return first | texts | self._words | st.none()
        return first | st.none()  # files and tables


def _words(field: gr.blocks.Block) -> list[Any]:
    return [value for _, value in getattr(field, "choices", None) or ()]
