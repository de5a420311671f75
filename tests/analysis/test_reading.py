import pytest

from explorer.analysis.blanks import parse_blanks
from explorer.analysis.reading import filled_text, ids_beside_blanks, read_tokens


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


def test_ids_beyond_the_vocabulary_read_as_nothing(family):
    beyond = len(family.tokenizer) + 3
    assert read_tokens(family, [beyond])[beyond].token == ""
