import math
import re
from dataclasses import replace

import pytest

from explorer.analysis.results import Piece, Tokenization
from explorer.analysis.strategies import STRATEGIES
from explorer.analysis.words import split_words
from explorer.figures.sentences import caption, completion_list, reveal_list, token_strip, word_buttons
from explorer.figures.style import count_of, likelihood, nats, percent, small_number, times
from tests.figures.results import fills, reveal, tokenization


def test_the_filled_words_are_marked_where_the_blanks_were():
    html = completion_list(fills())
    assert "The <mark>cat</mark> sat on a <mark>sat</mark>." in html
    assert "−1.50" in html


def test_whatever_the_visitor_typed_is_escaped():
    html = completion_list(fills("<b>___</b> & ___", filled="<b>cat</b> & sat"))
    assert "&lt;b&gt;<mark>cat</mark>&lt;/b&gt; &amp; <mark>sat</mark>" in html
    assert "<b>" not in html


def test_sentences_are_as_likely_as_their_words_multiplied_and_the_first_is_set_beside_the_second():
    best = fills().completions[0]
    several = replace(
        fills(),
        strategy="independent",
        completions=(replace(best, log_probability=-2.15), replace(best, log_probability=-3.38)),
    )
    html = completion_list(several)
    assert re.findall(r"nats'>([^<]*)</span>", html) == ["12 %", "3.4 %"] and "no probability" not in html
    assert "The first sentence is 3.4 times as likely as the second." in html
    assert "<summary>As a logarithm</summary>" in html and "−2.15 for the first" in html
    assert "the second" not in completion_list(fills())


def test_what_is_no_probability_of_a_sentence_is_not_written_as_one():
    best = fills().completions[0]
    scored = [replace(best, log_probability=score) for score in (-0.43, -0.97, -1.1)]  # 0.65 + 0.38 + 0.33 > 1
    html = completion_list(replace(fills(), strategy="joint", completions=tuple(scored)))
    assert re.findall(r"nats'>([^<]*)</span>", html) == ["0.65", "0.38", "0.33"]
    assert "no probability of theirs" in html and "need not add up to 1" in html and "times as likely" not in html
    one = replace(fills(), strategy="joint", blanks=fills().blanks[:1])
    assert "22 %" in completion_list(one), "a blank without others has a probability"


@pytest.mark.parametrize(
    ("logarithm", "said"),
    [(0.0, "1"), (math.log(0.044), "0.044"), (math.log(1.04e-4), "0.0001"), (math.log(3.6e-8), "4 · 10⁻⁸"),
     (math.log(9.7e-12), "1 · 10⁻¹¹"), (-math.inf, "0")],
)  # fmt: skip
def test_small_scores_are_written_as_powers_of_ten(logarithm, said):
    assert small_number(logarithm) == said


def test_what_the_numbers_of_sentences_are_is_said_for_each_strategy():
    said = {key: completion_list(replace(fills(), strategy=key)) for key in STRATEGIES}
    assert "each filled word while all blanks are open, all of them multiplied" in said["independent"]
    assert "each filled word with all other blanks filled as they are here" in said["joint"]
    assert len(set(said.values())) == len(STRATEGIES)


def test_of_one_blank_the_best_sentence_stands_alone():
    two = fills().completions * 2
    html = completion_list(replace(fills(), blanks=fills().blanks[:1], completions=two))
    assert html.count("<li>") == 1 and "logarithm" not in html.replace("log-probability", "")
    assert completion_list(replace(fills(), completions=two)).count("<li>") == 2


@pytest.mark.parametrize(
    ("log_probability", "said"),
    [(0.0, "100 %"), (-9.9, "0.01 %"), (-9.91, "1 in 20,000"), (math.log(3.6e-8), "1 in 28 million"),
     (math.log(9.7e-12), "1 in 100 billion"), (-800.0, "1 in 10³⁴⁷"), (-math.inf, "0 %")],
)  # fmt: skip
def test_small_probabilities_are_written_as_one_in_so_many(log_probability, said):
    assert likelihood(log_probability) == said


def test_one_thing_is_said_in_the_singular():
    assert [count_of(number, "token") for number in (0, 1, 1200)] == ["0 tokens", "1 token", "1,200 tokens"]


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(1.0, "about as likely as"), (1.04, "about as likely as"), (3.42, "3.4 times as likely as"),
     (12.6, "13 times as likely as"),
     (4567.0, "4,567 times as likely as"), (1e9, "more than a million times as likely as")],
)  # fmt: skip
def test_a_ratio_is_said_in_words(ratio, said):
    assert times(math.log(ratio)) == said


@pytest.mark.parametrize("mask", ["[MASK]", "<mask>"])
def test_a_models_own_mask_is_a_blank_like_any_other(mask):
    text = f"The {mask} sat on a {mask}."
    assert "The <mark>cat</mark> sat on a <mark>sat</mark>." in completion_list(fills(text))
    steps = reveal_list(replace(reveal(), text=text), 2)
    assert "The <b class='open'>___</b> sat on a <b class='open'>___</b>." in steps
    assert "The <b class='open'>___</b> sat on a <mark>cat</mark>." in steps
    word = word_buttons(split_words(text))
    assert word.count("class='word blank'") == 2 and word.count(">___</button>") == 2 and "MASK" not in word


def test_a_text_with_an_unknown_mask_is_shown_unmarked():
    assert "The cat sat on a sat." in completion_list(fills("The [~] sat on a [~]."))


def test_a_long_text_has_its_first_words_as_buttons():
    html = word_buttons(split_words("word " * 5000))
    assert html.count("<button") == 60 and "… and 4,940 more" in html
    assert "more" not in word_buttons(split_words("word " * 60))


def test_a_blank_that_hides_no_word_says_where_it_can_be_written_over():
    html = word_buttons(split_words("Der 🐈 ___ on [MASK].", ("sat", "")))
    assert html.count("data-start") == 1 and "data-start='13' data-end='19'" in html
    assert "Put “sat” back" in html and "Write a word here" in html


def test_one_token_is_said_to_fill_what_hides_several_words():
    text = "The ___ on the ___."
    assert "puts one token into a blank that hides several" in word_buttons(split_words(text, ("cat sat", "mat")))
    assert "token" not in word_buttons(split_words(text, ("cat", "")))


def test_only_blanks_beside_each_other_can_be_joined():
    html = word_buttons(split_words("The ___ ___ sat on ___."))
    assert html.count("class='join'") == 1
    assert ">___</button><button type='button' class='join' data-index='1' data-last='2'" in html


def test_the_steps_say_which_blank_was_filled_and_how_sure_the_model_was():
    assert reveal_list(reveal(), 0).count("<li>") == 1
    html = reveal_list(reveal(), 2)
    assert html.count("<li>") == 3
    assert "blank 2: <mark>cat</mark> 70 %" in html
    assert "The <mark>cat</mark> sat on a <mark>cat</mark>." in html
    assert "−0.70 nats" in html and "nats" not in reveal_list(reveal(), 1)


def test_tokens_show_ids_specials_unknowns_and_the_limit():
    html = token_strip(tokenization())
    assert re.search("class='piece special'.*?\\[CLS\\].*?101", html)
    assert "class='piece unknown'" in html
    assert "&lt;b&gt;" in html
    assert "3 of at most 2 tokens, 1 unknown to the vocabulary: more than the model can read" in html
    assert "note over" in html


@pytest.mark.parametrize(
    ("text", "starts", "told"),
    [
        ("the cat isn't here", [0, 4, 8, 11, 12, 14], "each word of this text whole"),
        (
            "unbelievable cats",
            [0, 2, 9, 13],
            "One word is cut into pieces, as the vocabulary lacks it whole: “unbelievable",
        ),
        ("walking talking", [0, 4, 8, 12, 14], "lacks them whole: “talking” into 3, “walking” into 2."),
        ("ab cd ef gh", [0, 1, 3, 4, 6, 7, 9, 10], "“ab” into 2, “cd” into 2, “ef” into 2, and 1 more."),
        ("walking €", [0, 4, 8, 8], "2 words and signs are cut into pieces"),
        ("a €", [0, 2, 2], "One sign is cut into pieces"),
        ("schläft", [0, 4, 4, 5], "One word is cut into pieces, as the vocabulary lacks it whole: “schläft” into 4."),
        ("in 1921 it", [0, 3, 8], "each word and number of this text whole"),
        (
            "Hello 12345678.",
            [0, 6, 9, 11, 14],
            "One number is cut into pieces, as the vocabulary lacks it whole: “12345",
        ),
        ("covid19", [0, 2, 5], "One word is cut into pieces, as the vocabulary lacks it whole: “covid19” into 3."),
        ("born 1921 €", [0, 2, 5, 8, 10, 10], "3 words, numbers and signs are cut into pieces"),
        ("猫が走る", [0, 1, 2, 3], ""),
        ("", [], ""),
    ],
)
def test_the_word_in_most_pieces_is_named(text, starts, told):
    ends = [*starts[1:], len(text)]
    pieces = []
    for start, end in zip(starts, ends, strict=False):
        token = text[start:end].strip() or text[start]  # a letter's first byte is of the whole letter
        pieces.append(Piece(token, 5, False, False, start, start + len(token)))
    html = token_strip(Tokenization("M", text, tuple(pieces), 30522, 512))
    assert told in html and ("senses-said" in html) is bool(told)


@pytest.mark.parametrize(("cuts", "told"), [([2, 6, 9], "“walking” into 2."), ([2, 9], "")])
def test_what_is_unknown_is_not_called_whole_and_a_cut_word_beside_it_is_named(cuts, told):
    text = "☃ walking"
    known = [Piece(text[start:end], 5, False, False, start, end) for start, end in zip(cuts, cuts[1:], strict=False)]
    html = token_strip(Tokenization("M", text, (Piece("[UNK]", 100, False, True, 0, 1), *known), 30522, 512))
    assert told in html and ("senses-said" in html) is bool(told) and "1 unknown to the vocabulary" in html


def test_a_caption_links_only_to_web_addresses():
    assert "<a href='https://arxiv.org/abs/1810.04805'" in caption(["a", "", "b"], "https://arxiv.org/abs/1810.04805")
    assert "javascript" not in caption(["a"], "javascript:alert(1)")


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (1.0, "100 %"),
        (1 - 1e-6, "100 %"),
        (1 - 1e-5, "> 99.9 %"),
        (0.9994, "99.9 %"),
        (0.995, "99.5 %"),
        (0.9949, "99 %"),
        (0.492, "49 %"),
        (0.925, "93 %"),  # 92.5, which Python rounds to the even number
        (0.0625, "6.3 %"),
        (0.0313, "3.1 %"),
        (0.00021, "0.02 %"),
        (0.0995, "10 %"),
        (1e-9, "< 0.01 %"),
        (0.0, "0 %"),
    ],
)
def test_probabilities_read_as_people_say_them(probability, words):
    assert percent(probability) == words


def test_log_probabilities_have_a_real_minus_sign():
    assert nats(-4.984) == "−4.98"
