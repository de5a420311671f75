import pytest
from transformers import ByT5Tokenizer

from explorer.analysis.tokenize_text import tokenize_text
from explorer.errors import UnsuitableText
from explorer.models.elmo_tokenizer import ElmoTokenizer
from tests.analysis.tiny_models import loaded, word_piece
from tests.training.tiny_networks import tiny_network, tiny_tokenizer


def read(tokenization):
    return [
        (piece.token, None if piece.start is None else tokenization.text[piece.start : piece.end])
        for piece in tokenization.pieces
    ]


def test_word_pieces_and_where_they_come_from(bert):
    tokenization = tokenize_text(bert, "The Cat ___, unplayed __ 🙂")
    assert read(tokenization) == [
        ("[CLS]", None),
        ("the", "The"),
        ("cat", "Cat"),
        ("[MASK]", "___"),
        (",", ","),
        ("[UNK]", "unplayed"),
        ("[MASK]", "__"),
        ("[UNK]", "🙂"),
        ("[SEP]", None),
    ]
    kinds = [(piece.is_special, piece.is_unknown) for piece in tokenization.pieces]
    assert [index for index, (special, _) in enumerate(kinds) if special] == [0, 3, 6, 8]
    assert [index for index, (_, unknown) in enumerate(kinds) if unknown] == [5, 7]
    assert tokenization.vocabulary_size == len(bert.tokenizer)
    assert tokenization.limit_tokens == 64


def test_byte_level_pieces_leave_the_space_out(roberta):
    tokenization = tokenize_text(roberta, "The cat ___ (walks).")
    assert read(tokenization)[2:5] == [("Ġcat", "cat"), ("<mask>", "___"), ("Ġ(", "(")]


def test_spans_cover_all_text_in_order(family):
    text = "The  cat __ is\n(___) é unhappily [MASK] <mask> 🙂 שלום ____."
    end = 0
    covered = set()
    for piece in tokenize_text(family, text).pieces:
        if piece.start is not None:
            assert piece.start <= end <= len(text) or piece.start >= end
            assert piece.start <= piece.end
            end = piece.end
            covered.update(range(piece.start, piece.end))
    visible = {index for index, character in enumerate(text) if not character.isspace()}
    assert visible <= covered


def test_visitors_special_tokens_are_marked(bert):
    piece = tokenize_text(bert, "a [SEP]").pieces[2]
    assert (piece.token, piece.is_special, piece.start, piece.end) == ("[SEP]", True, 2, 7)


def test_blanks_are_sentinels_where_the_model_was_trained_on_them():
    tokenization = tokenize_text(loaded(tiny_network("span"), tiny_tokenizer("span")), "the ___ sees __ <extra_id_0>")
    blanks = [piece for piece in tokenization.pieces if piece.token.startswith("<extra_id_")]
    assert [piece.token for piece in blanks] == ["<extra_id_0>", "<extra_id_1>", "<extra_id_0>"]
    assert [(piece.start, piece.end) for piece in blanks] == [(4, 7), (13, 15), (None, None)]
    assert all(piece.is_special for piece in blanks)


def test_without_a_mask_token_blanks_stay_text(gpt):
    tokenization = tokenize_text(gpt, "a __")
    assert read(tokenization) == [("a", "a"), ("Ġ", " "), ("_", "_"), ("_", "_")]
    assert not any(piece.is_special for piece in tokenization.pieces)


def test_a_tokenizer_in_python_has_no_spans():
    tokenization = tokenize_text(loaded(word_piece().network, ByT5Tokenizer()), "ab")
    assert [piece.token_id for piece in tokenization.pieces if not piece.is_special] == [100, 101]
    assert all(piece.start is None for piece in tokenization.pieces)


def test_words_of_elmo_have_no_ids():
    elmo = loaded(word_piece().network, ElmoTokenizer())
    tokenization = tokenize_text(elmo, "The cat's ___ 🙂")
    assert read(tokenization)[:3] == [("The", "The"), ("cat", "cat"), ("'s", "'s")]
    assert {piece.token_id for piece in tokenization.pieces} == {-1}
    assert tokenization.vocabulary_size == 262


def test_empty_and_over_long_texts_are_counted(bert):
    assert len(tokenize_text(bert, "").pieces) == 2
    assert len(tokenize_text(bert, "the " * 100).pieces) == 102


@pytest.mark.parametrize("text", ["a\0b", "x" * 20_001])
def test_what_no_tokenizer_should_see_is_refused(bert, text):
    with pytest.raises(UnsuitableText):
        tokenize_text(bert, text)
