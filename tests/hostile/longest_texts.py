"""Texts of the greatest length that is read, made to cost a careless parser as much as can be; and every parser."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.analysis.attention_words import split_at_words
from explorer.analysis.blanks import find_blanks, parse_blanks, parse_texts, split_at_any_blank, split_text
from explorer.analysis.candidates import parse_candidates
from explorer.analysis.corpus_search import cut_sentences
from explorer.analysis.head_choice import read_heads
from explorer.analysis.head_texts import encode_texts
from explorer.analysis.labelled_uses import gather_uses
from explorer.analysis.option_choice import check_options
from explorer.analysis.pair_files import read_pairs
from explorer.analysis.plain_text import parse_plain
from explorer.analysis.prompts import encode_prompt
from explorer.analysis.scorable import parse_scorable
from explorer.analysis.tokenize_text import tokenize_text
from explorer.analysis.uses import find_uses
from explorer.analysis.words import blank_words, carry_hidden, last_word, split_words, toggle_blank
from explorer.figures.sentences import marked, word_buttons
from explorer.models.backend import LoadedModel
from explorer.settings import settings
from explorer.tabs.fill_blanks.candidates import read_candidates
from explorer.tabs.fill_blanks.gallery import follow_example, read_gallery
from explorer.tabs.generate.options import read_options
from explorer.training.tuning.examples import split_words as split_tagged
from explorer.training.tuning.making import make_examples
from explorer.training.tuning.reading import read_table

LONGEST = settings().longest_text_characters
UNITS = [
    *("a", "a ", "a' ", "a'", "a-", "a.", "A.", "a:", "a,", "a_", "a\n", "a\t", "is ", "1", "1,", "1.", "1, "),
    *("_", "_ ", "__ ", "___", "___ ", "[", "[mask", "[MASK]", "[mask1", "<extra_id_", "<extra_id_1>", "<mask|"),
    *("!", "! ", "!)", '"', "'", "(", "{", "{a", "{a}", "<", "&", "##", "\t", "\n", " ", " | ", "\u00a0"),
    *("e\u0301", "\u0301", "字", "。", "😀", "🏿", "\u200b"),
]
WORST = [  # each made a parser take seconds that is no longer slow, or comes nearest to that
    "a" * (LONGEST - 1) + "_",
    "a" + "!" * (LONGEST - 2) + "a",
    "a" * (LONGEST - 4) + " ___",
    "___ " * (LONGEST // 4),
    "1, " * (LONGEST // 3),
]


def all_texts() -> Iterator[str]:
    """Every unit, repeated, alone and with something before or behind it that ends the run."""
    for unit in UNITS:
        run = unit * (LONGEST // len(unit) + 1)
        yield run[:LONGEST]
        yield run[: LONGEST - 2] + "!a"
        yield "a" + run[: LONGEST - 2] + "a"
        yield run[: LONGEST - 3] + "___"


@dataclass(frozen=True)
class Models:
    """Models to parse for."""

    masked: LoadedModel
    causal: LoadedModel


def _rank(models: Models, text: str) -> None:
    parsed = parse_blanks(models.masked, text)
    words = ["is", "are", "was", "ing", "s", "cat", "dog", "New York"]
    parse_candidates(models.masked, parsed, [words, *[[]] * (len(parsed.positions) - 1)])


def _answer(text: str) -> None:
    """The answer stands almost everywhere in the passage, but for its last letter, and in other case."""
    part = text[: len(text) // 4].swapcase().replace("\t", " ").replace("\n", " ")
    passage = text.replace("\t", " ").replace("\n", " ")
    table = read_table(f"question\tcontext\tanswer\nWho?\t{passage}\t{part}Q\n" * 2, "rows", task="answers")
    make_examples(table, "answers", {"question": "question", "passage": "context", "answer": "answer"})


PARSERS: dict[str, Callable[[Models, str], object]] = {
    "split_text": lambda models, text: split_text(text, "[MASK]"),
    "split_at_any_blank": lambda models, text: split_at_any_blank(text),
    "parse_texts": lambda models, text: parse_texts(models.masked, [text]),
    "parse_candidates": _rank,
    "one candidate": lambda models, text: parse_candidates(
        models.masked, parse_blanks(models.masked, "The ___."), [[text]]
    ),
    "tokenize_text": lambda models, text: tokenize_text(models.masked, text),
    "parse_scorable": lambda models, text: parse_scorable(models.masked, text, "one_masked"),
    "parse_plain": lambda models, text: parse_plain(models.masked, text),
    "encode_prompt": lambda models, text: encode_prompt(models.causal, text),
    "encode_texts": lambda models, text: encode_texts(models.masked, [text]),
    "split_at_words": lambda models, text: split_at_words(text, find_blanks(text, "[MASK]")),
    "find_uses": lambda models, text: find_uses(text, "a", forms=("a a a a b", "aa", "___", "!")),
    "gather_uses": lambda models, text: gather_uses(text.splitlines(), "a", forms=("as",)),
    "cut_sentences": lambda models, text: list(cut_sentences(text)),
    "read_pairs": lambda models, text: read_pairs(text.splitlines()),
    "read_heads": lambda models, text: read_heads(text, {"encoder": (12, 12)}),
    "check_options": lambda models, text: check_options(read_options(text)),
    "read_candidates": lambda models, text: read_candidates(text),
    "word_buttons": lambda models, text: word_buttons(split_words(text)),
    "carry_hidden": lambda models, text: carry_hidden(text, ("cat",), f"{text[:10000]}x{text[10000:-1]}"),
    "toggle_blank": lambda models, text: toggle_blank(text, (), 3),
    "blank_words": lambda models, text: blank_words(text, (), 3, 4000),
    "last_word": lambda models, text: last_word(text),
    "follow_example": lambda models, text: follow_example(read_gallery(), text, "is", "", read_gallery()[0]),
    "marked": lambda models, text: marked(text, text, [None] * (len(split_at_any_blank(text)) - 1)),
    "split_tagged": lambda models, text: split_tagged(text),
    "read_table": lambda models, text: read_table(text, "pasted", task="tagging"),
    "answers": lambda models, text: _answer(text),
}
