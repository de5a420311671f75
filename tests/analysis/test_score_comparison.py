import pytest

from explorer.analysis import score_text
from explorer.analysis.exporting import to_tables
from explorer.analysis.score_comparison import compare_scores
from explorer.errors import UnsuitableText
from explorer.figures.scores import comparison_table
from tests.analysis import causal_models

TEXT = "The cat is  playing in\nParis."


def test_words_line_up_whatever_the_vocabularies(bert):
    first, other = score_text(causal_models.gpt2(), TEXT), score_text(bert, TEXT)
    compared = compare_scores(first, other)
    assert [word.word for word in compared.words] == TEXT.split()
    assert any(word.tokens[0] != word.tokens[1] for word in compared.words)
    for word, one, two in zip(compared.words, first.passes[0].words, other.passes[0].words, strict=True):
        assert word.difference_bits == pytest.approx(two.surprisal_bits - one.surprisal_bits)
        assert word.ranks == (one.rank, two.rank)
    assert compared.difference_bits == pytest.approx(other.surprisal_bits - first.surprisal_bits)
    assert compared.words_compared == 6


def test_a_word_that_one_model_does_not_score_is_left_out(bert):
    compared = compare_scores(score_text(causal_models.openai_gpt(), TEXT), score_text(bert, TEXT))
    assert compared.words[0].difference_bits is None and compared.words_compared == 5


def test_a_word_that_one_model_does_not_know_is_left_out_and_said_to_be(bert):
    text = "the 🙂 cat"
    compared = compare_scores(score_text(causal_models.gpt2(), text), score_text(bert, text))
    assert [word.unknown_to for word in compared.words] == [(), (compared.models[1],), ()]
    assert compared.words[1].difference_bits is None and compared.words_compared == 2
    drawn = comparison_table(compared)
    assert f"unknown to {compared.models[1]}" in drawn and "the 2 words that both scored and know" in drawn
    single = compare_scores(score_text(causal_models.gpt2(), "🙂 cat"), score_text(bert, "🙂 cat"))
    assert "Over the only word that both scored and know" in comparison_table(single)
    alone = compare_scores(score_text(causal_models.gpt2(), "🙂"), score_text(bert, "🙂"))
    assert "There is no word that both scored and know." in comparison_table(alone)


def test_two_texts_are_refused(bert):
    with pytest.raises(UnsuitableText, match="one text"):
        compare_scores(score_text(bert, "the cat"), score_text(bert, "the dog"))


def test_tables_hold_every_number(bert):
    first = score_text(causal_models.gpt2(), TEXT)
    compared = compare_scores(first, score_text(bert, TEXT))
    tables = to_tables(compared)
    assert set(tables) == {"comparison", "tokens", "words", "totals"}
    assert len(tables["comparison"]) == 7
    assert [row[tables["tokens"][0].index("log_probability_nats")] for row in tables["tokens"][1:]][
        : len(first.passes[0].tokens)
    ] == [token.log_probability for token in first.passes[0].tokens]
    assert {len(row) for table in tables.values() for row in table[:1]} == {
        len(row) for table in tables.values() for row in table
    }
