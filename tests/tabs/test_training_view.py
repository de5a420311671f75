"""The view "How it was trained": what it shows where no model of an objective is at hand, who draws replacements."""

import pytest
from huggingface_hub import constants

from explorer.analysis.objectives import TELLING
from explorer.tabs.fill_blanks.training import PASSAGE, _drawer, _lengthen, _with_generator, choose_model

LEFT = "MiniLM (masked)"
TEXT = "She opened the door. It was late."


@pytest.fixture
def drawn(shipped_registry, monkeypatch):
    """What the view ends on: the message, the example and what stands below it."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    def draw(objective, text=TEXT, left=LEFT, noise="text_infilling", following="Nobody was there."):
        *_, last = _drawer(shipped_registry)(left, text, objective, 0, None, noise, following, "")
        return last[0], last[-2], last[-1]

    return draw


def test_a_longer_text_keeps_the_one_whose_place_it_takes_and_not_itself():
    assert _lengthen(TEXT, "")[:2] == (PASSAGE, TEXT)
    text, kept, back = _lengthen(PASSAGE, TEXT)
    assert (text, kept, back.visible) == (PASSAGE, TEXT, True)
    assert not _lengthen(PASSAGE, "")[2].visible, "there is none before"


def test_a_pair_is_shown_without_a_model_that_judges_it(drawn):
    message, example, below = drawn("next_sentence")
    assert message == "" and f"cut by the tokenizer of {LEFT}, without" in example
    assert example.count("class='segment'>A<") == 11 and example.count("class='segment'>B<") == 5
    assert "What it should say" in example and "Next sentence prediction" in below
    assert "Write a second sentence above" in drawn("next_sentence", following=" ")[1]


def test_a_damaged_text_is_shown_without_a_model_that_repairs_it(drawn):
    message, example, _ = drawn("denoising", noise="sentence_permutation")
    assert message == "" and "What the decoder should write" in example and "Mean loss" not in example
    assert "stands in its old order: chance draws that, too" in example  # of two sentences every second draw is
    assert "old order" not in drawn("denoising", noise="document_rotation")[1] + drawn("denoising")[1]
    message, _, _ = drawn("denoising", text="Just one sentence.", noise="sentence_permutation")
    assert "Write two sentences or more" in message


def test_blanks_are_filled_before_it_is_shown(drawn):
    _, example, below = drawn("next_sentence", text="She opened the ___.")
    assert "blanks filled by the chosen model" in below and "___" not in example


def test_replacements_are_drawn_by_a_model_that_cuts_the_text_alike(drawn, shipped_registry):
    _, example, _ = drawn("replaced")
    assert "The replacements are drawn by BERT mini." in example
    options = {"text": TEXT, "objective": "replaced", "seed": 0, "noise": "text_infilling", "other_text": ""}
    alone, _ = _with_generator(shipped_registry, "ELECTRA mini", [LEFT], options)
    assert alone.replaced_by.startswith(f"other tokens of the text, because {LEFT} cuts it")
    assert choose_model(shipped_registry, "replaced", LEFT, None) == "ELECTRA mini"


@pytest.mark.parametrize("objective", TELLING)
def test_the_longer_text_has_something_to_show_of_each_objective(shipped_registry, objective):
    from explorer.analysis import find_telling_example

    for model in (LEFT, "BERT mini"):
        found = shipped_registry.run(model, lambda loaded: find_telling_example(loaded, PASSAGE, objective=objective))
        assert found is not None and found.seed <= 20, "a press or two"


@pytest.mark.parametrize(("objective", "offered"), [("next_sentence", []), ("replaced", ["ELECTRA mini"])])
def test_offline_a_model_is_to_be_chosen_only_where_one_is_at_hand(shipped_registry, monkeypatch, objective, offered):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    first, *_ = _drawer(shipped_registry)(LEFT, TEXT, objective, 0, None, "text_infilling", "Why?", "")
    picker = first[5]
    assert [name for _, name in picker.choices] == offered
    assert (picker.visible, picker.value) == (bool(offered), offered[0] if offered else None)


def test_more_than_the_share_is_hidden_where_a_long_word_is_last(shipped_registry):
    text = "The unbelievability of internationalization is unquestionably supercalifragilistic today."

    def shown(objective, seed):
        *_, last = _drawer(shipped_registry)(LEFT, text, objective, seed, None, "text_infilling", "", "")
        return last[-2]

    assert "15 % are 3 tokens; here 6, as words are hidden whole." in shown("span_masked", 8)
    assert "15 % are 3 tokens. “Longer" in shown("span_masked", 0)
    assert "15 % are 3 tokens. “Longer" in shown("masked", 8)
