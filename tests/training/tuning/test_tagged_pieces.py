"""Words and their first pieces, for tokenizers that spell spaces in three ways, and for ELMo."""

import pytest

from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.training.tuning.tagged_pieces import encode_words
from tests.analysis.tiny_models import FAMILIES, word_piece

SENTENCES = [("playing", "he", "walks", "home", "."), ("The", "cat", "(slowly)", "playing", "in", "Paris")]


@pytest.mark.parametrize("family", FAMILIES)
def test_places_are_the_first_pieces_of_the_words(family):
    model = FAMILIES[family]()
    for words, row in zip(SENTENCES, encode_words(model.tokenizer, SENTENCES, 64), strict=True):
        assert row.ids == tuple(model.tokenizer(" ".join(words)).input_ids)
        own = [place for place, mark in enumerate(row.ids) if mark not in (*model.tokenizer.all_special_ids,)]
        assert None not in row.places
        assert list(row.places) == sorted(set(row.places)), "each word has a piece of its own, in order"
        for word, place, following in zip(words, row.places, (*row.places[1:], own[-1] + 1), strict=True):
            spelled = model.tokenizer.decode(row.ids[place:following]).strip()
            known = model.tokenizer.unk_token_id not in row.ids[place:following]
            assert not known or spelled.lower().replace(" ", "") == word.lower(), (word, spelled)


def test_word_pieces_agree_with_the_library():
    model = word_piece()
    for words, row in zip(SENTENCES, encode_words(model.tokenizer, SENTENCES, 64), strict=True):
        owners = model.tokenizer(list(words), is_split_into_words=True).word_ids()
        assert row.places == tuple(owners.index(number) for number in range(len(words)))


def test_a_long_sentence_is_cut_and_ends_as_it_should():
    model = word_piece()
    (row,) = encode_words(model.tokenizer, SENTENCES[:1], 6)
    assert len(row.ids) == 6
    assert row.ids[-1] == model.tokenizer.sep_token_id
    full = encode_words(model.tokenizer, SENTENCES[:1], 64)[0]
    assert row.places == tuple(place if place < 5 else None for place in full.places)
    assert None in row.places


def test_elmo_reads_whole_words():
    (row,) = encode_words(ElmoTokenizer(), [("He", "doesn't", "walk", ".")], 64)
    assert row.places == (0, 1, 3, 4), "its own words are He, doesn, 't, walk and the stop"


def test_nothing_gives_nothing():
    assert encode_words(word_piece().tokenizer, [], 64) == []
