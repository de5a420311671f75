"""What reading a model's attention returns: plain values and arrays, free of torch."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class AttentionToken:
    """One token that attends, or is attended to.

    Attributes:
        text: As the vocabulary spells it, e.g. "##ing".
        word: Which word it belongs to, counted from 0 over all texts; None for a special token.
        segment: Which text it comes from: 0 = the first, 1 = the second.
        is_special: Whether it is a token such as [CLS], which stands for no part of the text.
        surface: The characters of the text that it stands for; "" for a special token, and for one that is only the
            beginning of a character. Those of a word make the word.
    """

    text: str
    word: int | None
    segment: int
    is_special: bool
    surface: str = ""


@dataclass(frozen=True, eq=False)
class AttentionStack:
    """Who looks at whom in one stack of attention layers.

    Attributes:
        name: "encoder", "decoder" or "cross" (the decoder's look at the encoder).
        queries: The tokens that attend; the rows of the weights.
        keys: The tokens that are attended to; those of the encoder where the name is "cross", else the queries.
        weights: Each row sums to 1. Nothing is left out, nothing is rounded.
    """

    name: str
    queries: tuple[AttentionToken, ...]
    keys: tuple[AttentionToken, ...]
    weights: Float[ndarray, "layer head query key"]


@dataclass(frozen=True, eq=False)
class AttentionReading:
    """The attention of one model over one text, or two.

    Attributes:
        model: Name of the model.
        text: As given.
        second_text: As given; for an encoder-decoder, what the decoder read; None where there is none.
        written_by_model: Whether the model itself wrote second_text, because none was given.
        stacks: The encoder's, the decoder's and the cross-attention, those that the model has, in this order.
    """

    model: str
    text: str
    second_text: str | None
    written_by_model: bool
    stacks: tuple[AttentionStack, ...]

    @property
    def weights(self) -> Float[ndarray, "layer head query key"]:
        """Of the first stack: the encoder's, or those of a model that is a decoder alone."""
        return self.stacks[0].weights

    @property
    def tokens(self) -> tuple[AttentionToken, ...]:
        """Of the first stack."""
        return self.stacks[0].queries

    @property
    def cross(self) -> Float[ndarray, "layer head query key"] | None:
        """The decoder's look at the encoder; None for a model without one."""
        return next((stack.weights for stack in self.stacks if stack.name == "cross"), None)
