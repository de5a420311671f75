"""What all heads do with a text, in a sentence made of the weights."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.attention_packing import pack_reading
from explorer.analysis.attention_results import AttentionReading, AttentionStack, AttentionToken
from explorer.figures.attention_words import AT_GAP, RESTING, heads_note

GOES = "over half of the attention of the text’s own tokens goes to"
TOKENS = tuple(
    AttentionToken(text, place, 0, is_special=text == "[CLS]", surface="" if text == "[CLS]" else text.lstrip("#"))
    for place, text in enumerate(["[CLS]", "the", "<b>", "##s", "."])
)


def reading(places: list[list[int | None]]) -> AttentionReading:
    """A reading whose heads put 0.6 of their attention on a place, or look at all alike (None)."""
    weights = np.full((len(places), len(places[0]), 5, 5), 0.2, dtype=np.float32)
    for layer, heads in enumerate(places):
        for head, place in enumerate(heads):
            if place is not None:
                weights[layer, head] = 0.1
                weights[layer, head, :, place] = 0.6
    return AttentionReading("any", "text", None, False, (AttentionStack("encoder", TOKENS, TOKENS, weights),))


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([[None, None]], f"In none of the 2 heads {GOES} one token."),
        ([[0, None], [0, 0]], f"In 3 of the 4 heads {GOES} “[CLS]”."),
        ([[0, 2], [0, None]], f"In 3 of the 4 heads {GOES} one token: “[CLS]” in 2, "
         "“&lt;b&gt;” in 1."),
        ([[0, 0, 1, 2, 3]], "“[CLS]” in 2, “the” in 1, “&lt;b&gt;” in 1, others in 1."),
    ],
)  # fmt: skip
def test_how_many_heads_rest_on_which_token(places, told):
    said = heads_note(pack_reading(reading(places)))
    assert told in said and (RESTING in said) == ("none" not in told) and AT_GAP not in said


@pytest.mark.parametrize(
    ("place", "surface", "told"),
    [(0, "the", [RESTING]), (2, "cat", []), (2, "", [RESTING]), (2, "–", [RESTING]), (2, "___", [AT_GAP])],
)
def test_a_word_or_the_gap_is_no_place_to_rest(place, surface, told):
    whole = reading([[place, None]])
    [stack] = whole.stacks
    keys = tuple(replace(token, surface=surface) if at == place else token for at, token in enumerate(stack.keys))
    said = heads_note(pack_reading(replace(whole, stacks=(replace(stack, keys=keys),))))
    assert "In 1 of the 2 heads" in said and [one for one in (RESTING, AT_GAP) if one in said] == told


def test_stacks_are_told_by_name_and_short_texts_not_at_all():
    whole = reading([[0]])
    [stack] = whole.stacks
    short = AttentionStack("cross", TOKENS, TOKENS[:3], np.full((1, 1, 5, 3), 1 / 3, dtype=np.float32))
    both = heads_note(pack_reading(replace(whole, stacks=(stack, short))))
    assert "Encoder: In 1 of the 1 heads" in both and "From decoder" not in both
    assert heads_note(pack_reading(replace(whole, stacks=(short,)))) == ""


def test_what_is_counted_is_what_the_text_gives():
    whole = reading([[0, 0]])
    [stack] = whole.stacks
    rows = np.array(stack.weights)
    rows[0, 0, 1:] = 0.2  # head 1 rests by the row of [CLS] alone
    rows[0, 0, 0] = [1.0, 0.0, 0.0, 0.0, 0.0]
    assert "In 1 of the 2 heads" in heads_note(pack_reading(replace(whole, stacks=(replace(stack, weights=rows),))))
    plain = tuple(replace(token, is_special=False, surface=token.text) for token in TOKENS)
    decoder = AttentionStack("decoder", plain, plain, rows)
    assert "In 1 of the 2 heads" in heads_note(pack_reading(replace(whole, stacks=(decoder,)))), "it sees itself alone"
    marks = tuple(replace(token, is_special=True) for token in TOKENS)
    assert heads_note(pack_reading(replace(whole, stacks=(AttentionStack("cross", marks, TOKENS, rows),)))) == ""
