"""Words as attention counts them, in several scripts."""

import pytest

from explorer.analysis.attention_words import number_words, split_at_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat's well-known mat.", ["The", "cat's", "well-known", "mat", "."]),
        ("'quoted' - and --", ["'", "quoted", "'", "-", "and", "-", "-"]),
        ("rock'n'roll 3.5 a_b", ["rock'n'roll", "3", ".", "5", "a", "_", "b"]),
        ("</script>", ["<", "/", "script", ">"]),
        ("مرحبا بِكُم", ["مرحبا", "بِكُم"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("我喜欢 cats", ["我", "喜", "欢", "cats"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("👍🏽 ok", ["👍🏽", "ok"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        (" \n", []),
        ("", []),
    ],
)
def test_words(text, words):
    assert [text[start:end] for start, end in split_at_words(text)] == words


def test_a_mask_is_one_word():
    text = "un[MASK]able [MASK]"
    spans = split_at_words(text, [(2, 8), (13, 19)])
    assert [text[start:end] for start, end in spans] == ["un", "[MASK]", "able", "[MASK]"]


def test_words_without_tokens_leave_no_gap():
    assert number_words([0, 0, 2, None, 5], 3) == [3, 3, 4, None, 5]
