"""Commands of the shell about attention."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from explorer.models.catalogue import DEFAULT_MODEL
from explorer.shell import JsonOption, ModelOption, print_result, read, run
from explorer.terminal_attention import describe_attention

if TYPE_CHECKING:
    from explorer.analysis.attention_results import AttentionReading

NAMES_HEAD = re.compile("[0-9]-[0-9]")
LEVELS = "pieces, words"  # named here: the shell's help does not wait for NumPy


def read_attention(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A text, ___ for masks; - reads standard input.")],
    second_text: Annotated[
        str, typer.Argument(metavar="SECOND_TEXT", help="Of a pair; what was written behind; what a decoder reads.")
    ] = "",
    model: ModelOption = DEFAULT_MODEL,
    head: Annotated[
        str, typer.Option(help="3-5 = head 5 of layer 3, 3 = mean of layer 3, decoder-3-5 of a stack; else the mean.")
    ] = "",
    stack: Annotated[str, typer.Option(help="encoder, decoder or cross; else the first there is.")] = "",
    level: Annotated[str, typer.Option(help=f"Between: {LEVELS}.")] = "pieces",
    rollout: Annotated[
        bool, typer.Option("--rollout", help="Multiplied through the layers, up to that of --head.")
    ] = False,
    hide_special: Annotated[bool, typer.Option("--hide-special", help="Leave out [CLS] and its like.")] = False,
    rescale: Annotated[bool, typer.Option("--rescale", help="What is left sums to 1 again.")] = False,
    top: Annotated[int, typer.Option(help="How many links.", min=1)] = 20,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all weights as CSV.")] = False,
) -> None:
    """Show which tokens a head looks at, or the heads on average."""
    from explorer.analysis import read_attention
    from explorer.analysis.attention_view import view_attention
    from explorer.analysis.exporting import to_csv, to_tables

    reading = run(
        model, partial(read_attention, text=read(text), second_text=second_text or None), needs_masked_head=False
    )
    chosen = _choose(reading, head, stack, is_rollout=rollout)
    view = view_attention(reading, **chosen, level=level, hide_special=hide_special, rescale=rescale)
    if as_csv:
        typer.echo(to_csv(to_tables(view)["weights"]), nl=False)
    else:
        print_result(view, as_json, partial(describe_attention, top=top))


def _choose(reading: AttentionReading, word: str, stack: str, *, is_rollout: bool) -> dict[str, str | int]:
    """What view_attention is to show of the head, or the layer, that a word names."""
    from explorer.analysis.head_choice import read_heads

    if not word:
        return {"stack": stack, "average": "rollout" if is_rollout else "both"}
    counts = {one.name: one.weights.shape[:2] for one in reading.stacks}
    named, layer, head = read_heads([f"{stack}-{word}" if stack else word], counts)[0]
    chosen: dict[str, str | int] = {"stack": named, "layer": layer}
    if is_rollout:
        return chosen | {"average": "rollout"}
    return chosen | ({"head": head} if NAMES_HEAD.search(word) else {"average": "heads"})


COMMANDS = (read_attention,)
