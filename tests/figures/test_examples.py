"""Training examples as HTML: fates in words, losses, escaped tokens, and the strings of encoder-decoders."""

import math
import re
from dataclasses import replace

import pytest

from explorer.analysis.language_sampling import sample_languages
from explorer.analysis.objectives import OBJECTIVE_CARDS
from explorer.analysis.training_results import Answer, ExampleToken, Fate, TrainingExample
from explorer.figures.examples import describe_formula, draw_example
from explorer.figures.languages import language_bars

CLS = ExampleToken("[CLS]", "[CLS]", 101, Fate.SPECIAL)
MASK = ExampleToken("[MASK]", "[MASK]", 103, Fate.MASKED)


def token(text: str, fate: Fate = Fate.KEPT) -> ExampleToken:
    return ExampleToken(text, text, 7, fate)


def answer(index: int | None, right: str, loss: float, direction: str = "") -> Answer:
    return Answer(index, direction, right, "dog", math.exp(-loss), loss)


def masked() -> TrainingExample:
    tokens = (CLS, token("<b>", Fate.MASKED), token("cat"), token("sat", Fate.UNCHANGED), token("on", Fate.RANDOMIZED))
    return TrainingExample(
        model="M",
        text="<b> cat sat on",
        objective="masked",
        noise="",
        seed=0,
        tokens=tokens,
        inputs=(CLS, MASK, tokens[2], tokens[3], token("key", Fate.RANDOMIZED)),
        input_text="[CLS] [MASK] cat sat key",
        answers=(answer(1, "<b>", 2.0), answer(3, "sat", 0.25), answer(4, "on", 5.0)),
        target_text="",
        loss_nats=7.25 / 3,
        later_epochs=(tuple(each.fate for each in tokens),) * 3,
    )


def test_picked_tokens_say_their_fate_in_words_and_their_loss():
    html = draw_example(masked())
    assert html.count("class='token masked'><bdi>[MASK]") == 1
    assert "■ masked" in html and "? random" in html and "= unchanged" in html
    assert "&lt;b&gt;" in html and "<b>" not in html.replace("<b title", "")
    assert re.search(r"class='right'>on</small><small class='loss' title='[^']*'>5\.00", html)
    assert (
        "Mean loss <b title='2.4166666666666665'>2.42 nats</b> over 3 of 4 tokens: as if each right answer had " in html
    )
    assert "had a chance of 1 in 11" in html
    one = replace(masked(), answers=masked().answers[:1], loss_nats=2.0)
    assert "over 1 of 4 tokens: what was right had a chance of 1 in 7.4." in draw_example(one)


def test_bytes_and_spaces_alone_are_explained_in_every_form():
    byte, gap = ExampleToken("\ufffd", "Ð", 8, Fate.MASKED), ExampleToken("Ġ", "Ġ", 9, Fate.KEPT)
    plain = replace(
        masked(), tokens=(CLS, byte, gap), inputs=(CLS, MASK, gap), answers=(answer(1, "\ufffd", 2.0),), later_epochs=()
    )
    written = replace(plain, objective="span", target_text="\ufffd", answers=(answer(None, "Ġ", 2.0),) * 2)
    replaced = replace(plain, objective="replaced", answers=(answer(0, "original", 1.0),) * 3)
    pair = replace(plain, objective="next_sentence", inputs=(CLS, byte, gap), answers=())
    for one in (plain, written, replaced, pair):
        html = draw_example(one)
        assert "<bdi>␣</bdi>" in html and "<bdi>Ġ</bdi>" not in html
        assert html.count("␣: a space, as a token of its own.") == html.count("\ufffd: a byte, and no letter") == 1
    assert "a space, as a token" not in draw_example(masked()) and "a byte" not in draw_example(masked())


def test_a_token_that_stays_does_not_repeat_itself():
    assert "class='right'>sat" not in draw_example(masked())


def test_four_epochs_stand_beside_each_other_for_both_ways_of_masking():
    html = draw_example(masked())
    assert html.count("class='epoch'") == 8 and html.count("<figure>") == 2
    assert "one of ten copies, in 4 of 40 epochs" in html, "ten copies, each read four times"
    assert "aria-label='Epoch 2: &lt;b&gt; masked, sat unchanged, on random'" in html
    assert "class='epoch'" not in draw_example(replace(masked(), later_epochs=()))


def test_both_directions_have_their_own_loss():
    tokens = (token("a"), token("b"))
    answers = tuple(
        answer(index, "a", loss, side) for side, loss in (("forward", 1.0), ("backward", 3.0)) for index in (0, 1)
    )
    html = draw_example(
        replace(masked(), objective="bilm", tokens=tokens, inputs=tokens, answers=answers, loss_nats=2.0,
                later_epochs=())
    )  # fmt: skip
    assert html.count(">→ 1.00<") == 2 and html.count(">← 3.00<") == 2
    assert "over 2 tokens, from the left (→) and from the right (←)" in html
    assert "Of the picked tokens" not in html


def test_an_encoder_decoder_shows_text_input_target_and_both_strings():
    written = replace(
        masked(), objective="span", answers=(answer(None, "<extra_id_0>", 0.5),), target_text="<extra_id_0> <b>",
        later_epochs=(),
    )  # fmt: skip
    html = draw_example(written)
    for title in ("The text", "What the encoder reads", "What the decoder should write"):
        assert title in html
    assert "<dt>Target</dt><dd dir='auto'>&lt;extra_id_0&gt; &lt;b&gt;</dd>" in html


def test_an_end_that_costs_more_than_the_words_is_explained():
    ends = (answer(None, "<extra_id_0>", 0.5), answer(None, "cat", 1.5), answer(None, "[SEP]", 11.9))
    html = draw_example(replace(masked(), objective="span", answers=ends, target_text="<extra_id_0> cat"))
    assert "The end, [SEP], alone costs 11.90 nats; without it the mean is 1.00." in html
    cheap = (*ends[:2], answer(None, "[SEP]", 0.1))
    assert "alone costs" not in draw_example(replace(masked(), objective="span", answers=cheap, target_text="a"))


def test_replaced_tokens_are_told_only_when_asked_for():
    tokens = (CLS, token("the"), token("cat", Fate.REPLACED))
    inputs = (CLS, token("the"), token("<i>key", Fate.REPLACED))
    answers = (answer(0, "original", 0.1), answer(1, "original", 0.1), answer(2, "replaced", 0.25))
    html = draw_example(
        replace(masked(), objective="replaced", tokens=tokens, inputs=inputs, answers=answers, replaced_by="drawn by G")
    )
    assert html.count("class='token guess'") == 2 and html.count("data-replaced='true'") == 1
    assert "<small class='truth right'>was cat</small>" in html and "&lt;i&gt;key" in html
    assert "78 %" in html and "9.5 %" in html  # exp(-0.25); 1 - exp(-0.1)
    assert html.index("The replacements are drawn by G.") < html.index("Show what was replaced")


def test_the_chance_of_the_next_sentence_and_both_losses():
    html = draw_example(replace(masked(), objective="next_sentence", answers=(answer(None, "next", 0.25),)))
    assert "<b>78 %</b>" in html and "0.25 nats if it really follows, 1.51 nats if it does not" in html


def test_a_pair_shows_its_segments_and_without_a_model_what_is_to_be_said():
    html = draw_example(
        replace(masked(), objective="next_sentence", answers=(), loss_nats=None, segments=(0, 0, 0, 1, 1))
    )
    assert re.findall("<small class='segment'>(.)</small>", html) == ["A", "A", "A", "B", "B"]
    assert "“next” if B stood behind A" in html and "Loss" not in html


def test_a_damaged_text_without_a_model_shows_what_is_to_be_written():
    html = draw_example(replace(masked(), objective="denoising", answers=(), loss_nats=None, target_text="the cat"))
    assert "What the decoder should write<" in html and "Mean loss" not in html and "class='loss'" not in html
    read, written = html.split("What the decoder should write<")
    assert "[CLS]" in written.split("<dl")[0] and "[CLS]" not in read.split("What the encoder reads")[0]
    assert "<dt>Target</dt><dd dir='auto'>the cat</dd>" in html


@pytest.mark.parametrize("objective", OBJECTIVE_CARDS)
def test_every_objective_has_a_formula_that_closes_its_brackets_and_a_paper(objective):
    text = describe_formula(objective)
    assert text.count("$$") == 2 and text.replace("$$", "").count("$") % 2 == 0
    assert text.count("{") == text.count("}") and text.count(r"\left") == text.count(r"\right") - text.count(
        r"\rightarrow"
    )
    assert "](https://" in text


def test_languages_have_a_bar_for_the_text_and_one_for_what_is_read():
    html = language_bars(sample_languages(0.3), ["Swahili", "English", "Klingon"])
    assert html.count("class='bar share'") == html.count("class='bar sampled'") == 2
    assert html.index("English<small>300.8 GiB</small>") < html.index("Swahili<small>1.6 GiB</small>")
    assert "The 50 languages with the least text have 2.5 % of it together, and are 25 % of what is read." in html


def test_no_language_chosen_is_said():
    html = language_bars(sample_languages(0.3), [])
    assert "Choose a language above." in html and "<table" not in html and "The 50 languages" in html
