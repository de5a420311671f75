"""What an objective makes of a text without a model's answers, and rolls that show what is special about it."""

from dataclasses import replace

import pytest

from explorer.analysis.compute_loss import IS_TELLING, SHOW, compute_loss, find_telling_example, show_objective
from explorer.analysis.objectives import SHOWN_WITHOUT, TELLING
from explorer.analysis.training_results import Fate
from explorer.errors import UnsuitableModel, UnsuitableText
from tests.analysis import objective_models

TEXT = "The cat is playing in Paris. He is happy, unhappily. A dog walks home."
LONG = f"{TEXT} The dog is happy in Paris. He walks home. The cat is playing."


def test_what_can_be_shown_is_what_the_page_offers():
    assert set(SHOW) == SHOWN_WITHOUT and IS_TELLING.keys() == TELLING.keys()


def test_a_pair_is_shown_as_the_model_of_two_heads_reads_it(bert):
    two_heads = objective_models.bert_with_both_heads()
    options = {"objective": "next_sentence", "other_text": "He is in Paris."}
    asked = compute_loss(two_heads, "The cat is happy.", **options)
    shown = show_objective(bert, "The cat is happy.", **options)
    assert shown == replace(asked, model=bert.card.name, answers=(), loss_nats=None)
    assert shown.segments == (0,) * 7 + (1,) * 6 and len(shown.inputs) == 13
    assert [token.token for token in shown.inputs if token.fate == Fate.SPECIAL] == ["[CLS]", "[SEP]", "[SEP]"]
    with pytest.raises(UnsuitableText, match="second sentence"):
        show_objective(bert, "The cat is happy.", objective="next_sentence")
    with pytest.raises(UnsuitableText, match="at most 64"):
        show_objective(bert, "The cat is happy.", objective="next_sentence", other_text="cat " * 70)


@pytest.mark.parametrize("noise", ["text_infilling", "token_deletion", "sentence_permutation"])
def test_a_text_is_damaged_as_for_a_model_that_repairs_it(bert, noise):
    bart = objective_models.bart()
    asked = compute_loss(bart, TEXT, objective="denoising", noise=noise, seed=3)
    shown = show_objective(bart, TEXT, objective="denoising", noise=noise, seed=3)
    assert shown == replace(asked, answers=(), loss_nats=None)
    by_bert = show_objective(bert, TEXT, objective="denoising", noise=noise, seed=3)
    assert by_bert.target_text and by_bert.inputs != by_bert.tokens


@pytest.mark.parametrize("noise", ["sentence_permutation", "document_rotation", "infilling_and_permutation"])
def test_what_moved_stands_elsewhere_and_what_stayed_did_not_move(bert, noise):
    seen = set()
    for seed in range(12):
        shown = show_objective(bert, TEXT, objective="denoising", noise=noise, seed=seed)
        read = [(token.token, token.fate) for token in shown.inputs if token.fate in (Fate.KEPT, Fate.MOVED)]
        left = [(token.token, token.fate) for token in shown.tokens if token.fate in (Fate.KEPT, Fate.MOVED)]
        stay = [place for place, (_, fate) in enumerate(left) if fate == Fate.KEPT]
        assert stay == [place for place, (_, fate) in enumerate(read) if fate == Fate.KEPT]
        assert all(left[place] == read[place] for place in stay)
        assert sorted(left) == sorted(read) and (left == read) == (len(stay) == len(left))
        seen |= {fate for _, fate in read} if noise != "document_rotation" else {Fate.KEPT, *dict(read).values()}
    assert seen == {Fate.KEPT, Fate.MOVED}


def test_only_what_needs_no_answer_is_shown(bert):
    with pytest.raises(UnsuitableText, match="Only with a model's answers: 'masked'"):
        show_objective(bert, TEXT, objective="masked")
    with pytest.raises(UnsuitableText, match="no noise"):
        show_objective(bert, TEXT, objective="denoising", noise="loud")


def test_a_roll_of_each_fate_is_the_next_one(bert):
    found = find_telling_example(bert, LONG, objective="masked", seed=4)
    assert found.seed > 4 and found == compute_loss(bert, LONG, seed=found.seed)
    fates = [{token.fate for token in compute_loss(bert, LONG, seed=seed).tokens} for seed in range(5, found.seed + 1)]
    each = {Fate.MASKED, Fate.RANDOMIZED, Fate.UNCHANGED}
    assert each <= fates[-1] and not any(each <= one for one in fates[:-1])


def test_a_roll_of_a_word_in_pieces_hides_all_of_them(bert):
    tokens = find_telling_example(bert, LONG, objective="whole_word").tokens
    picked = [token.fate not in (Fate.KEPT, Fate.SPECIAL) for token in tokens]
    assert any(token.token.startswith("##") and mine and before for token, mine, before in zip(
        tokens[1:], picked[1:], picked, strict=False
    ))  # fmt: skip


def test_a_roll_of_a_span_has_three_words(bert):
    tokens = find_telling_example(bert, LONG, objective="span_masked").tokens
    run = longest = 0
    for token in tokens:
        run = run + 1 if token.fate not in (Fate.KEPT, Fate.SPECIAL) else 0
        longest = max(longest, run)
    assert longest >= 3


def test_of_a_short_text_there_is_none(bert):
    assert find_telling_example(bert, "The cat is happy.", objective="masked") is None
    assert find_telling_example(bert, LONG, objective="masked", seed=2**31 - 1) is None, "the last seed there is"


def test_what_cannot_be_looked_for_is_refused(bert):
    with pytest.raises(UnsuitableModel, match="not trained so"):
        find_telling_example(bert, TEXT, objective="span")
    with pytest.raises(UnsuitableText, match="seed must be"):
        find_telling_example(bert, TEXT, objective="masked", seed=-1)
    with pytest.raises(UnsuitableText, match="Choose one of: masked, whole_word, span_masked"):
        find_telling_example(objective_models.bert_with_both_heads(), TEXT, objective="next_sentence")
    with pytest.raises(UnsuitableText, match="has a blank"):
        find_telling_example(bert, "the ___ sat", objective="masked")
