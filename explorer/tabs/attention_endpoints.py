"""The endpoints about attention; see endpoints.py."""

from collections.abc import Callable
from functools import partial
from typing import Any

from explorer import analysis
from explorer.analysis.attention_tables import check_numbers
from explorer.analysis.attention_view import view_attention
from explorer.analysis.exporting import to_json
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs.visitors import ask_model

Answer = dict[str, Any]


def attention_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns the frozen result as JSON."""

    def read_attention(
        text: str,
        model: str = DEFAULT_MODEL,
        second_text: str = "",
        stack: str = "",
        layer: int | None = None,
        head: int | None = None,
        level: str = "pieces",
        average: str = "none",
        hide_special: bool = False,
        rescale: bool = False,
        written: list[int] | None = None,
    ) -> Answer:
        ask = partial(analysis.read_attention, text=text, second_text=second_text or None, written=written or ())
        view = view_attention(
            ask_model(registry, model, ask),
            stack=stack,
            layer=layer,
            head=head,
            level=level,
            average=average,
            hide_special=hide_special,
            rescale=rescale,
        )
        check_numbers(view.stack)
        return to_json(view)

    return (read_attention,)
