"""Every head in little, as the page gets it: with the texts, which a picture of them says."""

import json

import numpy as np
import pytest

from explorer.analysis.attention_packing import PackedReading, PackedStack
from explorer.analysis.attention_results import AttentionToken
from explorer.analysis.head_thumbnails import Shown, draw_thumbnails, thumbnail_rows
from explorer.figures.attention import pack_thumbnails

EVIL = "</script><b>"


@pytest.mark.parametrize(("second", "texts"), [(None, ["a b"]), ("", ["a b"]), (EVIL, ["a b", EVIL])])
def test_a_picture_of_all_heads_can_say_what_was_read(second, texts):
    tokens = tuple(AttentionToken(text, place, 0, False, text) for place, text in enumerate("ab"))
    stack = PackedStack("encoder", tokens, tokens, np.full((1, 2, 2, 2), 1000, np.uint16), 1)
    reading, drawn = PackedReading("M", "a b", second, False, (stack,)), [draw_thumbnails(stack, 8, Shown())]
    packed = pack_thumbnails(reading, "encoder-1-1", "", drawn, thumbnail_rows("M", Shown(), drawn))
    assert EVIL not in packed
    told = json.loads(packed)
    assert told["texts"] == texts and told["model"] == "M"
    assert told["stacks"][0]["shape"][:2] == [1, 2]
