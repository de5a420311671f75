from dataclasses import replace

import pytest

from explorer.analysis.blanks import parse_blanks
from explorer.analysis.reading import Reading, filled_text, ids_beside_blanks, read_in_blank, read_tokens


def written(model, text: str, *tokens: str | None) -> str:
    """The text with tokens, as the vocabulary spells them, in its blanks."""
    parsed = parse_blanks(model, text)
    ids = [None if token is None else model.tokenizer.convert_tokens_to_ids(token) for token in tokens]
    assert model.tokenizer.unk_token_id not in ids, "the test's vocabulary lacks a token"
    readings = read_tokens(model, {i for i in ids if i is not None} | ids_beside_blanks(parsed))
    return filled_text(parsed, ids, readings)


WORDPIECE = [
    ("The ___ is happy.", ["cat"], "The cat is happy."),  # the visitor's capitals stay, and the model gives what it has
    ("I walk ___ home", ["##ing"], "I walking home"),
    ("walk___ home", ["##ing"], "walking home"),
    ("walk\n___ home", ["##ing"], "walk\ning home"),
    ("walk___ home", ["home"], "walk home home"),  # the model saw two words
    ("___ing", ["walk"], "walk ing"),
    ("Paris___ he", [","], "Paris, he"),
    ("Paris ___ he", [","], "Paris, he"),
    ("(___)", ["paris"], "(paris)"),
    ("happy,___", ["he"], "happy, he"),
    ("un-___", ["happy"], "un-happy"),
    ("in [MASK][MASK]", ["new", "york"], "in new york"),
    ("in ___ ___.", ["new", "york"], "in new york."),
    ("in ___ ___.", ["new", None], "in new ___."),
    ("in ___ ___.", [None, "york"], "in ___ york."),
    ("___ is", ["##ing"], "ing is"),
    ("我___。", ["你"], "我你。"),
    ("  the  ___  \n is", ["cat"], "  the  cat  \n is"),
]


@pytest.mark.parametrize("text, tokens, expected", WORDPIECE)
def test_word_pieces(bert, text, tokens, expected):
    assert written(bert, text, *tokens) == expected


BYTE_LEVEL = [
    ("The ___ is", ["Ġcat"], "The cat is"),
    ("The cat ___", ["s"], "The cats"),  # no Ġ: the token continues the word, and the mask took the space
    ("walk___ home", ["s"], "walks home"),
    ("___ is", ["Ġcat"], "cat is"),
    ("un___ly", ["happ"], "unhapply"),
    ("he is ___.", ["Ġhappy"], "he is happy."),
    ("he is___.", ["Ġhappy"], "he is happy."),
    ("(___)", ["P"], "(P)"),
    ("(___)", ["Ġhappy"], "(happy)"),
    ("a <mask><mask>", ["Ġcat", "s"], "a cats"),
]


@pytest.mark.parametrize("text, tokens, expected", BYTE_LEVEL)
def test_byte_level(roberta, text, tokens, expected):
    assert written(roberta, text, *tokens) == expected


def test_choices_read_without_spaces_and_keep_their_marks(bert, roberta):
    ids = bert.tokenizer.convert_tokens_to_ids(["cat", "##ing", "[UNK]", "."])
    readings = read_tokens(bert, ids)
    assert [readings[i].text for i in ids] == ["cat", "##ing", "[UNK]", "."]
    assert [readings[i].starts_word for i in ids] == [True, False, True, False]
    ids = roberta.tokenizer.convert_tokens_to_ids(["Ġhappy", "s", "Ċ"])
    readings = read_tokens(roberta, ids)
    assert [readings[i].text for i in ids] == ["happy", "s", "Ċ"]
    assert [readings[i].starts_word for i in ids] == [True, False, True]


IN_BLANK = [
    ("The cat ___", ["Ġhappy", "s", ".", "happ", "'"], ["happy", "##s", ".", "##happ", "'"]),
    ("un___ly", ["s", "Ġhappy"], ["s", "happy"]),  # no space before it: a piece is what is to be expected
    ("(___)", ["P"], ["P"]),
    ("___ is", ["P"], ["P"]),  # a word that begins the text has no space before it
    ("  ___ is", ["P"], ["P"]),
    ("walk\n___ home", ["P"], ["P"]),
    ("The cat.\n\t___", ["P"], ["P"]),
    ("The cat \t___", ["s"], ["##s"]),
]


@pytest.mark.parametrize("text, tokens, expected", IN_BLANK)
def test_a_piece_that_continues_the_word_before_a_blank_is_marked_whatever_the_vocabulary(
    roberta, text, tokens, expected
):
    ids = roberta.tokenizer.convert_tokens_to_ids(tokens)
    readings = read_tokens(roberta, ids)
    parsed = parse_blanks(roberta, text)
    found = [read_in_blank(parsed, len(parsed.positions) - 1, readings[one]) for one in ids]
    assert [one.text for one in found] == expected
    assert [one.body for one in found] == [readings[one].body for one in ids]


@pytest.mark.parametrize(
    ("text", "blank", "expected"),
    [("a ___ <mask>", 1, "##s"), ("a <mask><mask>", 1, "##s"), (" ___ a ___", 0, "s"), ("<mask>un___", 1, "s")],
)
def test_a_piece_may_continue_another_blank(roberta, text, blank, expected):
    token_id = roberta.tokenizer.convert_tokens_to_ids("s")
    reading = read_tokens(roberta, [token_id])[token_id]
    assert read_in_blank(parse_blanks(roberta, text), blank, reading).text == expected


def test_word_piece_keeps_its_own_marks_and_unspaced_scripts_have_none(bert):
    tokens = ["cat", "##ing", "ing", "[UNK]", ".", "你"]
    ids = bert.tokenizer.convert_tokens_to_ids(tokens)
    readings, parsed = read_tokens(bert, ids), parse_blanks(bert, "The ___ is")
    assert [read_in_blank(parsed, 0, readings[one]).text for one in ids] == tokens
    unspaced = Reading("你", "你", "你", starts_word=False)  # of SentencePiece
    vowel_sign = Reading("ों", "ों", "ों", starts_word=False)
    assert read_in_blank(parsed, 0, unspaced).text == "你"
    assert read_in_blank(parsed, 0, vowel_sign).text == "##ों"


def test_a_space_that_the_model_sees_stays_and_so_nothing_is_continued(family):
    parsed = replace(parse_blanks(family, "The ___ is"), tokens=("<s>", "▁The", "▁", "<mask>"), positions=(3,))
    assert read_in_blank(parsed, 0, Reading("day", "day", "day", starts_word=False)).text == "day"


def test_ids_beyond_the_vocabulary_read_as_nothing(family):
    beyond = len(family.tokenizer) + 3
    assert read_tokens(family, [beyond])[beyond].token == ""
