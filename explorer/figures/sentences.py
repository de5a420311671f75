"""Sentences with their filled words marked, the way they read: HTML strings, every text escaped."""

from collections.abc import Sequence
from html import escape

from explorer.analysis.blanks import ANY_BLANK, BLANK, CONTINUES, split_at_any_blank
from explorer.analysis.results import BlankFills, BlankReveal, Piece, Tokenization
from explorer.analysis.strategies import STRATEGIES
from explorer.analysis.words import Word, split_words
from explorer.figures.notes import note
from explorer.figures.style import likelihood, nats, percent, small_number, times

OPEN = f"<b class='open'>{BLANK}</b>"
NOUNS = ("word", "number", "sign")
MOST_BROKEN = 3  # words in pieces that are named
MOST_WORDS = 60  # a text of more is worked on in its box
ONE_TOKEN = "Answer puts one token into a blank that hides several words; the view “Any length” puts more."


def completion_list(fills: BlankFills) -> str:
    """The whole sentences, best first, with how likely they are; of one blank the best alone, as the chart has all."""
    if not fills.completions:
        return "<p class='quiet'>No way to fill all blanks with ordinary words was found.</p>"
    is_lone = len(fills.blanks) == 1  # a blank without others has a probability under every strategy
    number = small_number if STRATEGIES[fills.strategy].is_pseudo and not is_lone else likelihood
    rows = "".join(
        f"<li><span class='sentence' dir='auto'>{marked(fills.text, completion.text, completion.fills)}</span>"
        f"<span class='number' title='log-probability: {completion.log_probability!r} nats'>"
        f"{number(completion.log_probability)}</span></li>"
        for completion in fills.completions[: 1 if is_lone else None]
    )
    return f"<ol class='completions'>{rows}</ol>" + ("" if is_lone else _how_likely(fills))


def _how_likely(fills: BlankFills) -> str:
    """What the numbers of the sentences are; the logarithm, which papers have, in a fold."""
    logarithms = [completion.log_probability for completion in fills.completions]
    strategy = STRATEGIES[fills.strategy]
    name = "Score" if strategy.is_pseudo else "Number"
    words = f"{name}: the probability of each filled word {strategy.given}, all of them multiplied."
    if strategy.is_pseudo:
        words += (
            " It ranks sentences and is no probability of theirs: each word is judged by words filled in themselves, "
            "so scores need not add up to 1."
        )
    elif len(logarithms) > 1:
        words += f" The first sentence is {times(logarithms[0] - logarithms[1])} the second."
    best = f"{nats(logarithms[0])} for the first sentence"
    return note(words) + (
        f"<details class='note'><summary>As a logarithm</summary>{escape(fills.score.capitalize())}: {best}. "
        f"The {name.lower()} is <i>e</i> (2.718…) raised to this logarithm.</details>"
    )


def reveal_list(reveal: BlankReveal, step: int) -> str:
    """The sentence after each step so far; the word just chosen is marked.

    Args:
        reveal: All steps.
        step: How many blanks are filled, from 0 to all.
    """
    rows = [f"<li><span class='sentence' dir='auto'>{_open(reveal.text)}</span></li>"]
    filled: list[str | None] = [None] * len(reveal.steps)
    for number, taken in enumerate(reveal.steps[:step], 1):
        filled[taken.filled_blank] = taken.choice.text
        after = reveal.steps[number].text if number < len(reveal.steps) else reveal.completion.text
        rows.append(
            f"<li><span class='sentence' dir='auto'>{marked(reveal.text, after, filled)}</span><span class='number'>"
            f"blank {taken.filled_blank + 1}: <mark>{escape(taken.choice.text)}</mark> "
            f"{percent(taken.choice.probability)}</span></li>"
        )
    total = ""
    if step == len(reveal.steps):
        exact = reveal.completion.log_probability
        total = (
            f"<p class='note total'>The probabilities of the steps, multiplied: <b>{likelihood(exact)}</b>; as a "
            f"logarithm <span title='{exact!r}'>{nats(exact)} nats</span></p>"
        )
    return f"<ol class='completions steps' start='0'>{''.join(rows)}</ol>{total}"


def word_buttons(words: Sequence[Word]) -> str:
    """The words of a sentence, each to be clicked, and a button between blanks that can be joined.

    Only the first words of a long text are shown.
    """
    buttons, before = "", None
    for index, word in enumerate(words[:MOST_WORDS]):
        if word.is_blank and before and before.is_blank:
            buttons += (
                f"<button type='button' class='join' data-index='{index - 1}' data-last='{index}' "
                "title='Make one blank of both; Answer puts one token there'>join</button>"
            )
        buttons += (
            f"<button type='button' class='word{' blank' if word.is_blank else ''}' data-index='{index}' "
            f"aria-pressed='{str(word.is_blank).lower()}' title='{escape(_hint(word))}'{_place(word)}>"
            f"{BLANK if word.is_blank else escape(word.text)}</button>"
        )
        before = word
    more = f"<span class='quiet'>… and {len(words) - MOST_WORDS:,} more</span>" if len(words) > MOST_WORDS else ""
    hides_several = any(len(split_words(word.hidden)) > 1 for word in words)
    return (
        f"<div class='words' role='group' aria-label='Words of the sentence' dir='auto'>{buttons}{more}</div>"
        f"{note(ONE_TOKEN) if hides_several else ''}"
    )


def token_strip(tokenization: Tokenization) -> str:
    """The pieces with their ids; special and unknown ones are said in words, not only by colour."""
    pieces = "".join(
        f"<span class='piece {_kind(piece.is_special, piece.is_unknown)}' title='id {piece.token_id}'>"
        f"<bdi>{escape(piece.token)}</bdi><small>{piece.token_id}</small></span>"
        for piece in tokenization.pieces
    )
    count, unknown = len(tokenization.pieces), sum(piece.is_unknown for piece in tokenization.pieces)
    split = _split_words(tokenization)
    words = f"{count} of at most {tokenization.limit_tokens} tokens"
    if unknown:
        words += f", {unknown} unknown to the vocabulary"
    over = " over" if count > tokenization.limit_tokens else ""
    words += ": more than the model can read" if over else ""
    special = " · dashed: special tokens, that is, the blanks and what the tokenizer adds"
    return (
        f"{split}<div class='pieces'>{pieces}</div><p class='note{over}'>{words} · vocabulary of "
        f"{tokenization.vocabulary_size:,}{special}</p>"
    )


def _split_words(tokenization: Tokenization) -> str:
    """Whether the vocabulary has each word and number whole, and the one in most pieces; "" for scripts that put no
    spaces, and where nothing is cut but something is unknown."""
    text, own = tokenization.text, [one for one in tokenization.pieces if one.start is not None and not one.is_special]
    if not own or any(sign.isalpha() and not _has_case(sign) for sign in text):
        return ""
    words: list[list[Piece]] = []
    for piece in own:
        joined = text[max(0, piece.start - 1) : piece.start + 1]
        goes_on = len(joined) == 2 and all(map(_is_of_word, joined)) and words and words[-1][-1].end == piece.start
        is_half = words and piece.start < words[-1][-1].end  # a letter's bytes are apart
        words[-1].append(piece) if goes_on or is_half else words.append([piece])
    broken = [pieces for pieces in words if len(pieces) > 1]
    if not broken and any(one.is_unknown for one in own):
        return ""
    each = "word and number" if any(map(str.isnumeric, text)) else "word"
    told = f"The vocabulary has each {each} of this text whole: one token for each, and for each sign."
    if broken:
        longest = sorted(broken, key=len, reverse=True)[:MOST_BROKEN]
        named = [f"“{text[pieces[0].start : pieces[-1].end].strip()}” into {len(pieces)}" for pieces in longest]
        named += [f"and {len(broken) - MOST_BROKEN} more"] * (len(broken) > MOST_BROKEN)
        found = {_noun(text[pieces[0].start : pieces[-1].end]) for pieces in broken}
        nouns = [f"{noun}s" for noun in NOUNS if noun in found]
        several = ", ".join([*nouns[:-2], " and ".join(nouns[-2:])])
        which = f"One {found.pop()} is" if len(broken) == 1 else f"{len(broken)} {several} are"
        told = f"{which} cut into pieces, as the vocabulary lacks {'it' if len(broken) == 1 else 'them'} whole: "
        told += ", ".join(named) + "."
    return f"<p class='senses-said'>{escape(told)}</p>"


def _has_case(sign: str) -> bool:
    return sign.isupper() or sign.islower()


def _is_of_word(sign: str) -> bool:
    return _has_case(sign) or sign.isnumeric()


def _noun(text: str) -> str:
    """What a stretch of text is, one of NOUNS."""
    return NOUNS[0 if any(map(_has_case, text)) else 1 if any(map(str.isnumeric, text)) else 2]


def caption(parts: Sequence[str], source_url: str = "") -> str:
    """The small line under a figure: model, protocol, sample, source."""
    line = " · ".join(escape(part) for part in parts if part)
    if source_url.startswith("https://"):
        line += f" · <a href='{escape(source_url)}' target='_blank' rel='noopener'>paper</a>"
    return f"<p class='caption'>{line}</p>"


def _place(word: Word) -> str:
    """Where the text has a blank that hides no word, in characters: the page marks it to be written over."""
    is_open = word.is_blank and not word.hidden
    return f" data-start='{word.start}' data-end='{word.start + len(word.text)}'" if is_open else ""


def _hint(word: Word) -> str:
    if not word.is_blank:
        return "Blank this word; drag or Shift-click to blank several as one"
    return f"Put “{word.hidden}” back" if word.hidden else "Write a word here"


def _kind(is_special: bool, is_unknown: bool) -> str:
    if is_unknown:
        return "unknown"
    return "special" if is_special else ""


def _open(text: str) -> str:
    return OPEN.join(escape(segment) for segment in split_at_any_blank(text))


def marked(text: str, filled: str, fills: Sequence[str | None]) -> str:
    """A text after some of its blanks were filled, found by walking what stands between them.

    Args:
        text: With all its blanks.
        filled: The same with the fills in their places.
        fills: One per blank; None where it is still open.
    """
    segments = split_at_any_blank(text)
    if len(segments) != len(fills) + 1:  # the text marks its blanks by a mask of no known family
        return escape(filled)
    marked, rest = "", filled
    for index, fill in enumerate(fills):
        # only white space beside a blank may differ from the visitor's text
        least = len(rest) - len(rest.lstrip()) + len(segments[index].strip())
        if fill is None:
            blank = ANY_BLANK.search(rest, least)
            at, body, drawn = (blank.start(), blank.group(), OPEN) if blank else (-1, "", "")
        else:
            body = fill.removeprefix(CONTINUES) or fill
            at, drawn = rest.find(body, least), f"<mark>{escape(body)}</mark>"
        if at < 0:
            return escape(filled)
        marked += escape(rest[:at]) + drawn
        rest = rest[at + len(body) :]
    return marked + escape(rest)
