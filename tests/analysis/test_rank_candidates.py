from functools import partial

import pytest

from explorer.analysis.blanks import parse_blanks
from explorer.analysis.fill_blanks import fill_blanks
from explorer.analysis.rank_candidates import rank_candidates
from explorer.errors import UnsuitableText
from tests.analysis.tiny_models import log_probabilities, sentence_piece


def own(ranking):
    return {candidate.text: candidate for candidate in ranking if candidate.is_own}


def scored_plainly(model, text, tokens, blank=0):
    """PLL-word-l2r, one pass per piece: the blank widened, each piece with itself and the later ones masked."""
    parsed = parse_blanks(model, text)
    pieces = model.tokenizer.convert_tokens_to_ids(list(tokens))
    position = parsed.positions[blank]
    total = 0.0
    for index, piece in enumerate(pieces):
        masks = [model.tokenizer.mask_token_id] * (len(pieces) - index)
        ids = [*parsed.ids[:position], *pieces[:index], *masks, *parsed.ids[position + 1 :]]
        total += float(log_probabilities(model, [ids], [position + index])[0, piece])
    return total


CASES = [
    ("bert", "he is in ___.", "Paris", ("paris",)),
    ("bert", "he is in ___.", "New York", ("new", "york")),
    ("bert", "walk___ home", "ing", ("##ing",)),  # "walking" would be the pieces walk ##ing
    ("bert", "he is (___)", "happy", ("happy",)),
    ("bert", "he is ##___", "ing", ("ing",)),
    ("bert", "walk ___", "##ing", ("##ing",)),
    ("roberta", "The cat ___ in", "walks", ("Ġwalks",)),
    ("roberta", "___ is", "He", ("He",)),  # no space before it
    ("roberta", "The cat ___ in", "play", ("Ġplay",)),
    ("roberta", "The (___)", "s", ("s",)),
    ("roberta", "The cat___", "s", ("s",)),
    ("roberta", "The cat___", " s ", ("s",)),
]


@pytest.mark.parametrize("name, text, candidate, tokens", CASES)
def test_pieces_and_scores_of_candidates(request, name, text, candidate, tokens):
    model = request.getfixturevalue(name)
    [ranking] = rank_candidates(model, text, candidates=[[candidate]]).blanks
    [ranked] = own(ranking).values()
    assert ranked.tokens == tokens
    assert ranked.log_probability == pytest.approx(scored_plainly(model, text, tokens), abs=1e-4)
    assert ranked.log_probability_per_token == pytest.approx(ranked.log_probability / len(tokens))


def test_pieces_of_sentence_piece():
    model = sentence_piece()
    [ranking] = rank_candidates(model, "The cat ___", candidates=[["Paris", "New York"]]).blanks
    assert own(ranking)["Paris"].tokens == ("▁Paris",)
    assert own(ranking)["New York"].tokens == ("▁New", "▁York")
    expected = scored_plainly(model, "The cat ___", ("▁New", "▁York"))
    assert own(ranking)["New York"].log_probability == pytest.approx(expected, abs=1e-4)


def test_a_single_piece_scores_as_the_choice_it_is(bert):
    fills = fill_blanks(bert, "the ___ is ___", top_k=50)
    rankings = rank_candidates(bert, "the ___ is ___", candidates=[["cat", "dog"], ["happy"]], top_k=50).blanks
    for blank, ranking in zip(fills.blanks, rankings, strict=True):
        probability = {choice.text: choice.probability for choice in blank.choices}
        assert len(ranking) == len(blank.choices)  # a choice that is named too stands there once
        for candidate in ranking:
            assert 2.718281828459045**candidate.log_probability == pytest.approx(probability[candidate.text], abs=1e-5)


def test_other_blanks_stay_open_and_where_they_belong(bert):
    text = "the ___ is in ___ with ___"
    rankings = rank_candidates(bert, text, candidates=[[], ["new york"], ["new york", "he"]]).blanks
    assert rankings[0] == ()
    for blank in (1, 2):
        expected = scored_plainly(bert, text, ("new", "york"), blank)
        assert own(rankings[blank])["new york"].log_probability == pytest.approx(expected, abs=1e-4)


def test_ranked_best_first_with_the_models_choices(bert):
    [ranking] = rank_candidates(bert, "the ___ is", candidates=[["cat", "new york"]], top_k=4).blanks
    scores = [candidate.log_probability for candidate in ranking]
    assert scores == sorted(scores, reverse=True)
    assert [candidate.is_own for candidate in ranking].count(False) in (3, 4)


def test_case_and_repetition_do_not_make_another_candidate(bert):
    [ranking] = rank_candidates(bert, "the ___ is", candidates=[["Cat", "cat", " CAT "]]).blanks
    assert list(own(ranking)) == ["Cat"]


def test_says_how_it_scores(bert):
    ranking = rank_candidates(bert, "the ___ is", candidates=[["cat"]])
    assert "PLL-word-l2r" in ranking.score
    assert ranking.model == "tiny bert"


@pytest.mark.parametrize(
    "candidates, message",
    [
        ([[""]], "candidate for blank 1 is empty"),
        ([["cat", "  "]], "candidate for blank 1 is empty"),
        ([["\u200b"]], "sees no token in the candidate"),
        ([["🙂"]], r"cannot spell the candidate “🙂”.*\[UNK\]"),
        ([["cat 🙂"]], "cannot spell"),
        ([["___"]], "contains a blank"),
        ([["a [MASK]"]], "contains a blank"),
        ([["<mask>"]], "mask of another model"),
        ([["[SEP]"]], "contains a special token"),
        ([["a\0b"]], "control characters"),
        ([["cat"] * 21], "Blank 1 has 21 candidates; at most 20"),
        ([["cat " * 70]], r"With the candidate “cat cat.*has 74 tokens.*at most 64"),
        ([[]], "There are no candidates"),
        ([], "The text has 1 blank, and there are candidates for 0"),
        ([["cat"], ["dog"]], "The text has 1 blank, and there are candidates for 2"),
        (["cat"], "Give a list of candidates for each blank"),
    ],
)
def test_unsuitable_candidates_are_named(bert, candidates, message):
    with pytest.raises(UnsuitableText, match=message):
        rank_candidates(bert, "the ___ is", candidates=candidates)


def test_byte_pieces_are_told_from_words(shipped_registry):
    ask = partial(rank_candidates, text="My grandmother is every ___.", candidates=[["year"]], top_k=20)
    (ranked,) = shipped_registry.run("BERT mini", ask).blanks
    shown = {one.tokens: one.text for one in ranked}
    assert shown[("day",)] == "##day" and shown[("Ġday",)] == "day"


def test_where_a_text_begins_the_likelier_spelling_of_a_candidate_counts(shipped_registry):
    ask = partial(rank_candidates, text="___ lives in Warsaw.", candidates=[["His", "The", "Warsaw"]], top_k=8)
    [ranking] = shipped_registry.run("BERT mini", ask).blanks
    assert [(one.text, one.tokens, one.is_own) for one in ranking[:3]] == [
        ("His", ("ĠHis",), True),
        ("The", ("The",), True),
        ("␣The", ("ĠThe",), False),
    ]
    assert sum(one.is_own for one in ranking) == 3, "each once"
    inside = partial(rank_candidates, text="Yesterday ___ lives.", candidates=[["His"]], top_k=1)
    assert shipped_registry.run("BERT mini", inside).blanks[0][-1].tokens == ("ĠHis",)
