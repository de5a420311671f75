import math

import pytest

from explorer.analysis import choose_option, score_text, scoring
from explorer.errors import UnsuitableText
from tests.analysis import causal_models, objective_models
from tests.analysis.test_scoring import expected_from_left

TEXT = "he is {} in Paris."
OPTIONS = ["happy", "un happy", "a dog"]


@pytest.fixture(scope="module")
def decoder():
    return causal_models.bert_decoder()


def by_option(choice):
    return {one.option: one for one in choice.options}


def test_a_causal_model_sums_over_the_option_and_what_follows(decoder):
    choice = choose_option(decoder, TEXT, options=OPTIONS)
    for option, one in by_option(choice).items():
        expected = expected_from_left(decoder, TEXT.format(option))[2:]  # behind "he is"
        assert [token.log_probability for token in one.part.tokens] == pytest.approx(expected, abs=1e-4)
        assert one.score == one.part.log_probability == pytest.approx(sum(expected), abs=1e-3)
    scores = [one.score for one in choice.options]
    assert scores == sorted(scores, reverse=True)
    assert sum(one.share for one in choice.options) == pytest.approx(1)
    ratio = choice.options[0].share / choice.options[1].share
    assert math.log(ratio) == pytest.approx(scores[0] - scores[1])


def test_options_may_be_given_by_place_and_the_function_is_among_those_that_score(decoder):
    assert scoring.choose_option is choose_option
    assert choose_option(decoder, TEXT, OPTIONS) == choose_option(decoder, TEXT, options=OPTIONS)


def test_options_may_follow_the_text_or_be_whole_sentences(causal):
    text, option = "the cat is", "happy"
    ending = by_option(choose_option(causal, text, options=[option, "a dog"]))[option]
    assert ending.text == "the cat is happy"
    before = score_text(causal, text).log_probability
    assert ending.score == pytest.approx(score_text(causal, ending.text).log_probability - before, abs=1e-3)
    pair = ["the cats walk", "the cats walks"]
    for sentence, one in by_option(choose_option(causal, "", options=pair)).items():
        assert one.score == pytest.approx(score_text(causal, sentence).log_probability, abs=1e-4)


def test_a_masked_model_scores_the_option_between_both_sides(family):
    for option, one in by_option(choose_option(family, "he is {} in Paris.", options=["happy", "a dog"])).items():
        whole = score_text(family, f"he is {option} in Paris.").passes[0].tokens
        own = {(token.start, token.token): token for token in whole}
        assert "".join(token.text for token in one.part.tokens) == option.replace(" ", "")
        for token in one.part.tokens:
            assert token.log_probability == pytest.approx(own[token.start, token.token].log_probability, abs=1e-4)


@pytest.mark.parametrize(
    ("normalise", "by"),
    [
        ("tokens", lambda one: len(one.part.tokens)),
        ("characters", lambda one: len(one.option)),
        ("bytes", lambda one: len(one.option.encode())),
    ],
)
def test_longer_options_are_normalised(decoder, normalise, by):
    for one in choose_option(decoder, "he is", options=["happy", "我 happy"], normalise=normalise).options:
        assert one.score == pytest.approx(one.part.log_probability / by(one))


@pytest.mark.parametrize("normalise", ["characters", "bytes"])
def test_what_is_divided_by_is_the_length_of_what_is_summed(decoder, family, normalise):
    def divisors(model, text):
        found = choose_option(model, text, options=OPTIONS, normalise=normalise).options
        assert all(one.score == pytest.approx(one.part.log_probability / getattr(one, normalise)) for one in found)
        return {one.option: getattr(one, normalise) for one in found}

    assert divisors(decoder, TEXT) == {option: len(f"{option} in Paris.") for option in OPTIONS}
    assert divisors(decoder, "he is") == divisors(family, TEXT) == {option: len(option) for option in OPTIONS}
    assert divisors(objective_models.mini("bilm"), TEXT) == {option: len(TEXT.format(option)) for option in OPTIONS}


def test_pmi_takes_off_what_the_option_gets_anyway(decoder):
    choice = choose_option(decoder, "the cat is", options=["happy", "a dog"], normalise="pmi", domain="he is")
    for one in choice.options:
        before = score_text(decoder, "he is").log_probability
        neutral = score_text(decoder, f"he is {one.option}").log_probability - before
        assert one.baseline.log_probability == pytest.approx(neutral, abs=1e-3)
        assert one.score == pytest.approx(one.part.log_probability - neutral, abs=1e-3)


def test_pmi_sums_the_same_tokens_behind_the_option_on_both_sides(decoder):
    text, options = "the cat is {} in Paris.", ["happy", "a dog"]
    for one in choose_option(decoder, text, options=options, normalise="pmi", domain="he is ").options:
        assert one.baseline_text == f"he is {one.option} in Paris."
        expected = expected_from_left(decoder, one.baseline_text)[2:]  # behind "he is"
        assert [token.log_probability for token in one.baseline.tokens] == pytest.approx(expected, abs=1e-4)
        assert [token.token for token in one.baseline.tokens] == [token.token for token in one.part.tokens]
        assert one.score == pytest.approx(one.part.log_probability - sum(expected), abs=1e-3)


def test_a_masked_model_sees_the_same_behind_the_option_on_both_sides(family):
    choice = choose_option(family, "the cat is ___ in Paris.", ["happy", "a dog"], normalise="pmi", domain="he is")
    alone = by_option(choose_option(family, "he is {} in Paris.", options=["happy", "a dog"]))
    for one in choice.options:
        assert one.baseline.log_probability == pytest.approx(alone[one.option].score, abs=1e-4)


def test_a_neutral_text_with_a_slot_of_its_own_stands_as_given(decoder):
    options = {"options": ["happy", "a dog"], "normalise": "pmi"}
    for domain in ("he is {}, not a cat", "he is ___, not a cat"):
        for one in choose_option(decoder, "the cat is {} in Paris.", domain=domain, **options).options:
            assert one.baseline_text == f"he is {one.option}, not a cat"
    summed = choose_option(decoder, "the cat is {} in Paris.", options=["happy", "a dog"], domain="he is")
    assert {(one.baseline, one.baseline_text) for one in summed.options} == {(None, "")}


def test_options_that_share_the_first_place_are_a_tie(decoder):
    tied = choose_option(decoder, "he is {}.", ["happy", "a dog", "the cat"], normalise="pmi", domain="he is {}.")
    assert [one.score for one in tied.options] == pytest.approx([0, 0, 0], abs=1e-6) and tied.firsts == 3
    assert choose_option(decoder, TEXT, options=OPTIONS).firsts == 1


@pytest.mark.parametrize(
    ("text", "options", "more", "says"),
    [
        ("he is", ["happy"], {}, "there are 1"),
        ("he is", ["happy", " "], {}, "Option 2 is empty"),
        ("he is", ["happy", "happy "], {}, "there twice"),
        ("he is", ["happy", "Happy"], {}, "just like another"),
        ("he is", ["a\0", "b"], {}, "control"),
        ("he is", "happy", {}, "list of options"),
        ("{} is ___", ["he", "she"], {}, "2 slots"),
        ("he is", ["a", "the"], {"normalise": "best"}, "normalise"),
        ("", ["a", "the"], {"normalise": "pmi"}, "write a text"),
        ("{} is happy.", ["a dog", "the cat"], {"normalise": "pmi"}, "its own neutral text"),
        ("he is " + "cat " * 50, ["a", "the"], {}, "reads at most 48"),
    ],
)
def test_bad_options_are_refused(decoder, text, options, more, says):
    with pytest.raises(UnsuitableText, match=says):
        choose_option(decoder, text, options=options, **more)


def test_nothing_before_an_option_needs_a_start():
    with pytest.raises(UnsuitableText, match="write a word before"):
        choose_option(causal_models.openai_gpt(), "{} is happy", options=["he", "she"])
