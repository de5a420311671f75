"""How text becomes the character ids of ELMo."""

import numpy as np
import pytest
import torch

from explorer.models.elmo_tokenizer import ElmoTokenizer


def test_word_is_spelled_between_its_marks():
    encoded = ElmoTokenizer()("cat")
    # c, a, t are the bytes 99, 97, 116; every id is one higher, because 0 means that there is no word
    assert encoded["input_ids"] == [[259, 100, 98, 117, 260] + [261] * 45]
    assert encoded["attention_mask"] == [1]


def test_letters_outside_ascii_take_several_ids():
    ids = ElmoTokenizer()(["ë", "🙂"], return_tensors="np")["input_ids"]
    assert ids[0, 0, :4].tolist() == [259, 0xC3 + 1, 0xAB + 1, 260]
    assert ids[1, 0, :6].tolist() == [259, *(byte + 1 for byte in "🙂".encode()), 260]


def test_long_word_is_cut_to_48_bytes():
    ids = ElmoTokenizer()("a" * 60)["input_ids"][0]
    assert ids == [259] + [98] * 48 + [260]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat sat.", ["The", "cat", "sat", "."]),
        ("Don't panic, it's 3.14!", ["Don", "'t", "panic", ",", "it", "'s", "3.14", "!"]),
        ("a well-known fact -- or not", ["a", "well-known", "fact", "-", "-", "or", "not"]),
        ("  <b>\x00\n", ["<", "b", ">", "\x00"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        (" \n", []),
    ],
)
def test_words_and_where_they_stand(text, words):
    found, spans = ElmoTokenizer().split(text)
    assert found == words
    assert [text[start:end] for start, end in spans] == words


def test_rows_are_padded_with_zeros_and_masked():
    encoded = ElmoTokenizer()(["Two words", "One", ""], padding=True, return_offsets_mapping=True, return_tensors="pt")
    assert encoded["input_ids"].shape == (3, 2, 50) and encoded["input_ids"].dtype == torch.int64
    assert encoded["attention_mask"].tolist() == [[1, 1], [1, 0], [0, 0]]
    assert not encoded["input_ids"][1, 1].any() and not encoded["input_ids"][2].any()
    assert encoded["offset_mapping"].tolist() == [[[0, 3], [4, 9]], [[0, 3], [0, 0]], [[0, 0], [0, 0]]]
    assert encoded.words == [["Two", "words"], ["One"], []]
    assert encoded.tokens(1) == ["One"] and encoded.word_ids(0) == [0, 1]
    assert encoded.to("cpu")["input_ids"].device.type == "cpu"


def test_nothing_at_all():
    assert ElmoTokenizer()("", return_tensors="pt")["input_ids"].shape == (1, 0, 50)
    assert ElmoTokenizer()("")["input_ids"] == []


def test_words_that_are_split_already():
    encoded = ElmoTokenizer()([["U.S.", "law"], ["No"]], is_split_into_words=True, return_offsets_mapping=True)
    assert encoded.words == [["U.S.", "law"], ["No"]]
    assert encoded["attention_mask"] == [[1, 1], [1]]
    assert encoded["offset_mapping"] == [[[0, 4], [0, 3]], [[0, 2]]]
    assert ElmoTokenizer()(["U.S.", "law"], is_split_into_words=True)["attention_mask"] == [1, 1]


def test_truncation():
    encoded = ElmoTokenizer(model_max_length=3)("one two three four", truncation=True)
    assert encoded.words == [["one", "two", "three"]]
    assert ElmoTokenizer()("one two three four", truncation=True, max_length=2)["attention_mask"] == [1, 1]
    assert ElmoTokenizer(model_max_length=3)("one two three four")["attention_mask"] == [1, 1, 1, 1]


def test_rows_of_different_length_need_padding():
    with pytest.raises(ValueError, match="padding=True"):
        ElmoTokenizer()(["one", "two words"], return_tensors="pt")


def test_ids_read_back_as_words():
    tokenizer = ElmoTokenizer()
    words = ["naïve", "cat", "🙂", "x" * 60]
    ids = tokenizer([words], is_split_into_words=True, return_tensors="np")["input_ids"][0]
    assert tokenizer.convert_ids_to_tokens(ids) == ["naïve", "cat", "🙂", "x" * 48]
    assert tokenizer.convert_ids_to_tokens(np.zeros((1, 50), dtype=np.int64)) == [""]


def test_half_a_surrogate_pair_is_spelled_with_nothing():
    assert ElmoTokenizer()([["\ud83d"]], is_split_into_words=True)["input_ids"][0][0][:3] == [259, 260, 261]
