"""A text and what is read beside it, as attention heads are measured on them."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.attention_inputs import Part
from explorer.analysis.attention_sides import encode_beside
from explorer.analysis.head_sides import has_two_sides
from explorer.analysis.head_texts import EncodedText
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel


def encode_pair(
    model: LoadedModel, stack: str, texts: Sequence[str], second_text: str | None, written: Sequence[int]
) -> tuple[list[EncodedText], list[EncodedText] | None, str | None]:
    """What the heads of a stack read of one text and of what stands beside it.

    Args:
        model: Any with attention.
        stack: Whose heads.
        texts: The only one.
        second_text: As of attention.read_attention.
        written: Likewise.

    Returns:
        What is read, or the encoder's part of it; the decoder's, if the heads are those of a decoder beside an encoder;
        and what was read beside the text, None for an encoder that does not see what its decoder reads.

    Raises:
        UnsuitableText: There are several texts, or they cannot be read.
    """
    if len(texts) != 1:
        raise UnsuitableText("A second text, or what was written, goes with one text. Give one, or no second text.")
    read = encode_beside(model, texts[0], second_text, written)
    first = [_encoded(read.first)]
    if read.decoder is None:
        return first, None, read.second_text
    if has_two_sides(model, stack):
        return first, [_encoded(read.decoder)], read.second_text
    return first, None, None


def _encoded(part: Part) -> EncodedText:
    text = [place for place, token in enumerate(part.tokens) if not token.is_special]
    start, end = (text[0], text[-1] + 1) if text else (len(part.ids), len(part.ids))
    between = tuple(place for place in range(start, end) if part.tokens[place].is_special)
    return EncodedText(part.ids, start, len(part.ids) - end, between=between, types=part.types)
