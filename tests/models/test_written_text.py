import random

import pytest

from explorer.models.written_text import WrittenText
from tests.analysis.tiny_models import FAMILIES, sentence_piece
from tests.analysis.writing_models import stories, writer

TEXTS = ("The cat is playing (slowly), unhappily.", "un home 我你 🙂 é", "play", "a  b\n\nc", "walk ' s")


def written(model, before, after):
    text = WrittenText(model, before)
    return [
        text.add(token_id, text.look([token_id])[0], is_last=number == len(after))
        for number, token_id in enumerate(after, start=1)
    ]


def decoded(model, ids):
    return model.tokenizer.decode(ids, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("name", [*FAMILIES, "openai-gpt", "stories"])
def test_what_tokens_add_is_what_they_read_as_all_at_once(name):
    model = stories() if name == "stories" else writer(name) if name not in FAMILIES else FAMILIES[name]()
    for text in TEXTS:
        ids = model.tokenizer(text, add_special_tokens=False)["input_ids"]
        for cut in range(1, len(ids)):
            before, after = ids[:cut], ids[cut:]
            if decoded(model, before).endswith("\ufffd"):
                continue
            assert decoded(model, before) + "".join(written(model, before, after)) == decoded(model, ids)


@pytest.mark.parametrize("name", [*FAMILIES, "stories"])
def test_random_tokens_read_so_too(name):
    model = stories() if name == "stories" else FAMILIES[name]()
    draw = random.Random(3)
    size = len(model.tokenizer)
    special = set(model.tokenizer.all_special_ids)
    if name == "stories":  # a run of its bytes that are no character reads as nothing but U+FFFD, whatever came before
        special |= set(range(3, 259))
    for _ in range(40):
        ids = [token_id for token_id in (draw.randrange(size) for _ in range(30)) if token_id not in special]
        start = model.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = decoded(model, [*start, *ids])
        assert decoded(model, start) + "".join(written(model, start, ids)) == whole


def test_a_character_of_several_tokens_is_said_when_it_is_whole():
    model = FAMILIES["byte_level"]()
    before = model.tokenizer("a", add_special_tokens=False)["input_ids"]
    smile = model.tokenizer("🙂", add_special_tokens=False)["input_ids"]
    assert len(smile) == 4
    assert written(model, before, smile) == ["", "", "", "🙂"]
    assert written(model, before, smile[:2])[-1] == "\ufffd"  # it will never be whole
    text = WrittenText(model, [*before, *smile[:3]], unsaid=3)  # went on after three of its four bytes
    assert text.add(smile[3], text.look([smile[3]])[0]) == "🙂"


def test_pieces_and_spaces_are_set_as_the_tokenizer_sets_them():
    model = sentence_piece()
    ids = model.tokenizer("Paris", add_special_tokens=False)["input_ids"]
    dog = model.tokenizer.convert_tokens_to_ids("▁York")
    assert WrittenText(model, ids).look([dog]) == [" York"]
    model = FAMILIES["word_piece"]()
    ids = model.tokenizer("play", add_special_tokens=False)["input_ids"]
    assert WrittenText(model, ids).look(model.tokenizer.convert_tokens_to_ids(["##ing", "home"])) == ["ing", " home"]
