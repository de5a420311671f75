"""Scores, layers and options as HTML: the text stays the text, its numbers are there, and nothing is unescaped."""

import html
import math
import re
from dataclasses import replace

import pytest

from explorer.analysis import choose_option, read_layers, score_text
from explorer.analysis.exporting import to_tables
from explorer.analysis.score_comparison import compare_scores
from explorer.figures.layers import layer_table, layers_note
from explorer.figures.options import option_columns
from explorer.figures.scores import comparison_table, protocol_note, score_table, scored_texts
from explorer.figures.style import likelihood
from tests.analysis import causal_models, objective_models
from tests.analysis.tiny_models import word_piece

EVIL = "the <b>cat</b> & 'dog'  is\n我\u0301 happy"


@pytest.mark.parametrize("make", causal_models.MODELS.values(), ids=causal_models.MODELS)
def test_every_character_of_the_text_is_there_once(make):
    drawn = scored_texts([score_text(make(), EVIL, alternatives=0)])
    bare = re.sub(r"<span class='facts' role='tooltip'>(?:<span>.*?</span>)*</span>", "", drawn)
    [text] = re.findall(r"<p class='scored-text' dir='auto'>(.*?)</p>", bare, flags=re.DOTALL)
    assert html.unescape(re.sub(r"<[^>]+>", "", text)) == EVIL
    assert "<b>cat" not in drawn


def test_surprisal_shades_and_numbers_agree():
    score = score_text(word_piece(), "the cat is in paris")
    drawn = scored_texts([score])
    shades = [float(shade) for shade in re.findall(r"class='scored-token' tabindex='0' style='--c:([\d.]+)'", drawn)]
    bits = [token.surprisal_bits for token in score.passes[0].tokens]
    assert shades == pytest.approx([min(each / 16, 1) for each in bits], abs=0.006)
    assert f"{bits[1]:.2f} bits" in drawn and f"Pseudo-perplexity <b title='{score.perplexity!r}'>" in drawn
    assert score_table(score).count("<tr>") == 1 + 5
    assert "</b>: the one token had a chance of 1 in so many" in scored_texts([score_text(word_piece(), "cat")])
    assert "pseudo-log-likelihood" in protocol_note([score])
    word = score.passes[0].words[1]
    shown = f"{likelihood(-word.surprisal_bits * math.log(2))} <small>{word.surprisal_bits:.1f}</small>"
    assert f"title='{word.surprisal_bits!r} bits'>{shown}</td>" in score_table(score)


def test_both_directions_are_drawn():
    score = score_text(objective_models.mini("bilm"), "the dog barks")
    drawn = scored_texts([score]) + score_table(score)
    assert "as if each of 3 tokens, in either reading, had had a chance of 1 in so many" in drawn
    assert score.bits_a_reading == pytest.approx(3 * math.log2(score.perplexity))
    assert f"{score.bits_a_reading:.1f} bits</b> a reading · {score.bits_a_reading / 13:.2f} bits per" in drawn
    assert "first token from the sign that starts a text, and, read from the right, the last one" in score.remarks[0]
    assert "what stands before it" in drawn and "what stands behind it" in drawn and "bits →" in drawn


def test_of_two_readings_the_one_from_the_left_is_compared_and_none_sees_both_sides():
    both, left = (
        score_text(objective_models.mini("bilm"), "the dog barks"),
        score_text(causal_models.gpt2(), "the dog barks"),
    )
    compared = compare_scores(left, both)
    assert f"Of {both.model} the reading from the left alone is compared." in comparison_table(compared)
    assert "has it easier" not in protocol_note([left, both]) and not compare_scores(left, left).left_alone
    head, row, *_ = to_tables(compared)["comparison"]
    assert [row[head.index(name)] for name in ("direction", "other_direction")] == ["forward", "forward"]


def test_a_comparison_says_in_words_who_expected_a_word_more():
    first, other = score_text(causal_models.openai_gpt(), EVIL), score_text(word_piece(), EVIL)
    compared = compare_scores(first, other)
    drawn = comparison_table(compared)
    for word in compared.words:
        if word.difference_bits is not None and abs(word.difference_bits) >= 0.05:
            who = first.model if word.difference_bits > 0 else other.model
            assert f"{abs(word.difference_bits):.1f} bits more expected by {who}" in drawn
    sums = [math.fsum(word.surprisal_bits[one] for word in compared.words if word.difference_bits is not None)
            for one in (0, 1)]  # fmt: skip
    (less, who), (more, _) = sorted(zip(sums, compared.models, strict=True))
    assert f"{who} was surprised less: {less:.1f} bits in all against {more:.1f}." in drawn
    assert "&lt;b&gt;cat" in drawn and "<b>cat" not in drawn
    assert "has it easier" in protocol_note([first, other])


def test_a_difference_that_rounds_to_nothing_is_nobodys():
    compared = compare_scores(score_text(causal_models.gpt2(), "the cat"), score_text(word_piece(), "the cat"))
    for difference, words in ((0.049, "expected alike by both"), (0.0, "expected alike by both"), (0.051, "0.1 bits")):
        word = replace(compared.words[0], difference_bits=difference)
        drawn = comparison_table(replace(compared, words=(word,)))
        assert f"<td class='difference' title='{words}" in drawn and "0.0 bits more" not in drawn


def test_layers_frame_the_final_answer():
    result = read_layers(causal_models.bert_decoder(), "the cat is", top_k=3)
    drawn = layer_table(result)
    assert drawn.count("<tr>") == 1 + len(result.layers)
    framed = sum(
        token.token_id == result.layers[-1].tokens[0].token_id for one in result.layers for token in one.tokens
    )
    assert drawn.count("heat answer") == framed >= 1
    scale = "<span class='ends'>0 %<i class='scale root'></i>100 %</span><span>how probable"
    assert scale in drawn, "no line of a phone ends within the scale"
    assert len(to_tables(result)["layers"]) == 1 + 3 * len(result.layers)


def test_from_which_layer_on_the_answer_is_first_is_said():
    result = read_layers(causal_models.bert_decoder(), "the cat is", top_k=3)
    answer, *_ = (token.text.strip() or token.token for token in result.layers[-1].tokens)
    count = len(result.layers) - 1
    for ranks, told in (
        ([1] * count, "is first in every layer"),
        ([9] * count, f"Only the last layer puts “{html.escape(answer)}” first"),
        ([9, *[1] * (count - 1)], f"is first from layer 1 of {count} on; the input embeddings alone put it at rank 9."),
    ):
        layers = [replace(layer, rank=rank) for layer, rank in zip(result.layers, [*ranks, 1], strict=True)]
        assert told in layers_note(replace(result, layers=tuple(layers)))
    for ranks, told in (
        ([1, 7], ["The last layer puts", "at rank 1."]),
        ([9, 1, 7], ["The last layer puts", "at rank 9; layer 1 had put it first, too, and later ones lost it."]),
        ([9, 1, 7, 1, 7, 1], ["first from layer 5 of 6 on", "layers 1, 3 had put it first, too"]),
    ):
        layers = [replace(result.layers[0], layer=number, rank=rank) for number, rank in enumerate(ranks)]
        words = layers_note(replace(result, layers=(*layers, replace(result.layers[-1], layer=len(ranks)))))
        assert all(one in words for one in told)
    smiled = replace(result, prompt="🙂", seen=("ð", "Ĥ"), position=1)
    assert "Ĥ: not letters of the text, but bytes" in layers_note(smiled) and "Ĥ" not in layers_note(result)


def test_options_show_their_sums_and_escape_what_was_typed():
    model = causal_models.bert_decoder()
    options = ["<i>happy", "a dog"]
    choice = choose_option(model, "the cat is", options=options, normalise="pmi", domain="he <u>is")
    drawn = option_columns([choice])
    assert "<i>happy" not in drawn and "<u>" not in drawn and "&lt;i&gt;happy" in drawn
    for one in choice.options:
        for token in (*one.part.tokens, *one.baseline.tokens):
            assert f"{token.log_probability:.2f}".replace("-", "−") in drawn
    assert drawn.index("✓ chosen") < drawn.index(html.escape(choice.options[1].option) + "</bdi>")
    per_token = option_columns([choose_option(model, "the cat is", options=options, normalise="tokens")])
    assert "÷ 2 tokens" in per_token
    assert "a last digit may seem off" in drawn and "less the same in “he &lt;u&gt;is &lt;i&gt;happy”" in drawn
    assert "goes on otherwise" not in drawn
    otherwise = choose_option(model, "the cat is", options=options, normalise="pmi", domain="he {} is")
    told = option_columns([otherwise])
    assert "less all from “a dog” on in “he a dog is”" in told and "The neutral text goes on otherwise" in told
    assert len(to_tables(choice)["options"]) == 3


def test_a_tie_has_no_winner():
    model, options = causal_models.bert_decoder(), ["happy", "a dog", "the cat"]
    choice = choose_option(model, "he is {}.", options=options, normalise="pmi", domain="he is")
    drawn = option_columns([choice])
    assert drawn.count("<li class='best'>") == drawn.count("<span class='chosen'>a tie</span>") == 3
    assert "✓ chosen" not in drawn
    first, second, third = choice.options
    two = option_columns([replace(choice, options=(first, second, replace(third, score=third.score - 0.01)))])
    assert two.count("<li class='best'>") == two.count("a tie</span>") == 2 and "✓ chosen" not in two
