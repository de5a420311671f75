"""What is sent to a handler has to be of the kinds that it takes: else the handler is not called.

The page itself sends no others; whoever writes a request by hand may. Gradio passes most of them on as they are.
"""

from functools import cache, lru_cache, reduce
from inspect import signature, unwrap
from operator import or_
from typing import Annotated, Any, TypeVar, get_type_hints

import gradio as gr
from gradio.block_function import BlockFunction
from pydantic import BeforeValidator, Field, FiniteFloat, TypeAdapter, ValidationError

from explorer.tabs import lenient

T = TypeVar("T")
WHOLE = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # beyond that NumPy takes none
NUMBER = FiniteFloat | WHOLE
TEXT = Annotated[str, BeforeValidator(lambda sent: "" if sent is None else sent)]
CHANGING = lenient.Dropdown | lenient.Radio | lenient.CheckboxGroup  # their offer, and then perhaps their value
CLICK = "the click"


def take_values(handler: BlockFunction, sent: list[Any]) -> list[Any]:
    """What a handler is called with: what was sent, where "5" and 5.0 are whole numbers to an endpoint.

    Args:
        handler: Of the page.
        sent: A value for each of its inputs; those beyond are left as they are.

    Raises:
        gr.Error: One is of another kind than the component, or the parameter of the endpoint, takes; one that the page
            does not show where a number is not typed to its end.
    """
    is_endpoint = handler.api_visibility != "private"
    if not is_endpoint and any(map(_is_unfinished, handler.inputs, sent)):
        raise gr.Error("A number is being typed.", visible=False, print_exception=False)
    wanted = _parameters(handler.fn) if is_endpoint else [(_name(field), _kind(field)) for field in handler.inputs]
    taken = [
        _take(name, kind, value, is_strict=not is_endpoint) for (name, kind), value in zip(wanted, sent, strict=False)
    ]
    return taken + sent[len(taken) :]


def told(event: gr.EventData, kind: type[T]) -> T:
    """What a script of the page tells of a click.

    Args:
        event: The event of a gr.HTML.
        kind: A dataclass of what is told; what is told beyond is left out.

    Raises:
        gr.Error: It is not that.
    """
    return _take(CLICK, kind, event._data, is_strict=False)


def _take(name: str, kind: Any, value: Any, *, is_strict: bool) -> Any:
    try:
        return _adapter(kind).validate_python(value, strict=is_strict)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise gr.Error(f"{name}: {first['msg']}", print_exception=False) from None


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


@lru_cache(maxsize=64)
def _parameters(endpoint: Any) -> list[tuple[str, Any]]:
    """Names and kinds of the parameters of an endpoint, in order."""
    hints = get_type_hints(unwrap(endpoint))
    return [(name, hints[name]) for name in signature(endpoint).parameters]


def _is_unfinished(field: gr.components.Component, value: Any) -> bool:
    """Whether the number box of a slider is just being typed into; when it is left, the page puts right what is not."""
    if not isinstance(field, gr.Slider) or isinstance(value, bool):
        return False
    return value is None or (isinstance(value, int | float) and field.minimum is not None and value < field.minimum)


def _name(field: gr.components.Component) -> str:
    return getattr(field, "label", None) or type(field).__name__


def _kind(field: gr.components.Component) -> Any:
    """The kind of a component's values, as the page sends them: none only where there is none at first, or may be."""
    may_be_empty = field.value is None or isinstance(field, CHANGING | gr.Number)
    match field:
        case gr.Textbox() | gr.HTML() | gr.Markdown():
            kind = TEXT
        case gr.Checkbox():
            kind = bool
        case gr.Slider() | gr.Number():
            kind = NUMBER
        case gr.Dropdown() | gr.Radio() | gr.CheckboxGroup():
            is_open = getattr(field, "allow_custom_value", False) or not field.choices
            one = reduce(or_, {type(value) for _, value in field.choices} | ({str} if is_open else set()))
            are_many = isinstance(field, gr.CheckboxGroup) or getattr(field, "multiselect", False)
            kind = list[one] if are_many else one
        case _:
            return Any  # files and tables, which Gradio reads into models of its own; and what the page keeps here
    return kind | None if may_be_empty else kind
