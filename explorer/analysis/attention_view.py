"""A part of what was read of a model's attention: one head, one layer, a mean, the rollout; by pieces or by words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.attention_levels import (
    MEANS,
    PartialStack,
    mean_heads,
    roll_out,
    special_tokens,
    to_words,
    without_tokens,
)
from explorer.analysis.attention_results import AttentionReading, AttentionStack
from explorer.errors import UnsuitableText

LEVELS = ("pieces", "words")
AVERAGES = ("none", *MEANS, "rollout")


@dataclass(frozen=True, eq=False)
class AttentionView:
    """Some of a reading, as it is shown or taken away.

    Attributes:
        model: Name of the model.
        text: As given.
        second_text: As in AttentionReading.
        written_by_model: Likewise.
        level: One of LEVELS. Between words: attention to the pieces of a word summed, from them averaged.
        average: One of AVERAGES: what was averaged, or "rollout" (Abnar and Zuidema 2020).
        layers: Number of each layer in the stack, from 0; () where they were averaged.
        heads: Number of each head in the stack, from 0; () where they were averaged.
        stack: The weights that are left.
        query_places: Where the tokens that attend stand in all that the model read (or among its words), from 0.
        key_places: Likewise, those that are attended to.
        hidden: The tokens that are left out; () where all are there.
        absorbed: What the tokens that are left pay to the hidden ones, per layer and head; None where all are there.
        is_rescaled: Whether the rows were made to sum to 1 again.
    """

    model: str
    text: str
    second_text: str | None
    written_by_model: bool
    level: str
    average: str
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    stack: AttentionStack
    query_places: tuple[int, ...]
    key_places: tuple[int, ...]
    hidden: tuple[str, ...]
    absorbed: Float[ndarray, "layer head"] | None
    is_rescaled: bool


def view_attention(
    reading: AttentionReading,
    *,
    stack: str = "",
    layer: int | None = None,
    head: int | None = None,
    level: str = "pieces",
    average: str = "none",
    hide_special: bool = False,
    rescale: bool = False,
) -> AttentionView:
    """Choose what to see of a reading.

    Args:
        reading: Of all layers.
        stack: "encoder", "decoder" or "cross"; "" = the first there is.
        layer: Only this one, from 0; None = all. Of a rollout: up to and including this one.
        head: Only this one, from 0; None = all.
        level: One of LEVELS.
        average: One of AVERAGES. What is averaged is what was chosen; rollout takes all heads.
        hide_special: Whether to leave out special tokens, and the first token of a decoder.
        rescale: Whether rows sum to 1 again where tokens are left out.

    Raises:
        UnsuitableText: There is no such stack, layer, head or setting.
    """
    _check_choice("level", level, LEVELS)
    _check_choice("average", average, AVERAGES)
    stacks = {one.name: one for one in reading.stacks}
    if stack and stack not in stacks:
        raise UnsuitableText(f"{reading.model} has no {stack!r} attention here. Choose one of: {', '.join(stacks)}.")
    chosen = stacks[stack] if stack else reading.stacks[0]
    layers, heads = (tuple(range(size)) for size in chosen.weights.shape[:2])
    if average == "rollout":
        if head is not None:
            raise UnsuitableText("The rollout takes all heads of a layer together: leave the head out.")
        chosen, heads = roll_out(chosen), ()
    if layer is not None:
        _check_number(reading.model, "layer", layer, len(layers))
        chosen, layers = replace(chosen, weights=chosen.weights[layer : layer + 1]), (layer,)
    if head is not None:
        _check_number(reading.model, "head", head, len(heads))
        chosen, heads = replace(chosen, weights=chosen.weights[:, head : head + 1]), (head,)
    if average in MEANS:
        chosen = mean_heads(chosen, average)
        layers = () if average in ("layers", "both") else layers
        heads = () if average in ("heads", "both") else heads
    if level == "words":
        chosen = to_words(chosen)
    hidden = special_tokens(chosen) if hide_special else ()
    partial: PartialStack | None = without_tokens(chosen, hidden, rescale=rescale) if hidden else None
    left = tuple(place for place in range(len(chosen.keys)) if place not in hidden)
    return AttentionView(
        model=reading.model,
        text=reading.text,
        second_text=reading.second_text,
        written_by_model=reading.written_by_model,
        level=level,
        average=average,
        layers=layers,
        heads=heads,
        stack=partial.stack if partial else chosen,
        query_places=left if chosen.queries == chosen.keys else tuple(range(len(chosen.queries))),
        key_places=left,
        hidden=tuple(chosen.keys[place].text for place in hidden),
        absorbed=partial.absorbed if partial else None,
        is_rescaled=bool(partial and partial.is_rescaled),
    )


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnsuitableText(f"There is no {name} {value!r}. Choose one of: {', '.join(known)}.")


def _check_number(model: str, name: str, value: int, count: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        raise UnsuitableText(f"{model} has no {name} {value!r} there: its {name}s are counted from 0 to {count - 1}.")
