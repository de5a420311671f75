"""One plain sentence beside a chart for what a reader would stumble on, and nothing where there is nothing."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from explorer.analysis.blanks import CONTINUES
from explorer.analysis.generation_results import PromptLength
from explorer.analysis.reading import SPACE
from explorer.analysis.results import BlankFills, BlankReveal, CandidateRanking
from explorer.figures.style import as_words, percent, times
from explorer.figures.token_names import BYTES_NOTE, SPACE_NOTE, token_label
from explorer.models.written_text import UNREADABLE

LEAST = 1e-12  # probability that ratios are told of
MOST_TOLD = 3  # blanks whose words are named
UNKNOWN = ("[UNK]", "<unk>")  # as the vocabularies of BERT and of SentencePiece spell it
SPECIAL = re.compile(r"\[[A-Z]+\]|</?\w+>")  # that a model adds, or that stands for a blank
BROKEN_SHARE = 0.25  # of a text's tokens; in English prose it is a tenth
FEWEST_BROKEN = 3
READ_OTHERS = "Models of many languages, such as mBERT and XLM-R, read other languages better."
LONG_WORD = re.compile(r"[^\W_]{101,}")  # WordPiece leaves a longer word than this whole
UNCUT = "No word of more than 100 letters is cut into pieces: shorten it."


NEVER_FILLED = "It is never put into a sentence."
SCORED_AS_UNKNOWN = "What is scored there is any unknown word."
WRITTEN_AS_UNKNOWN = "The model saw it in place of those when it was trained, and writes it as any other token."


def unknown_note(words: Iterable[str], then: str = NEVER_FILLED) -> str:
    """What tokens mean that are no words, if they are in a chart: the one for unknown words, and pieces of words.

    Args:
        words: As they are shown.
        then: What becomes of the one for unknown words here.
    """
    shown = set(words)
    found = next((token for token in UNKNOWN if token in shown), None)
    told = ""
    if found is not None:
        told = note(
            f"{found} stands for any word or sign that the model's vocabulary lacks, such as a rare name or an emoji. "
            f"{then}"
        )
    if UNREADABLE in shown:
        told += note(BYTES_NOTE)
    spaced = min((word for word in shown if word.startswith(SPACE) and word != SPACE), default="")
    if spaced:
        told += note(SPACE_NOTE.format(spaced, spaced.removeprefix(SPACE)))
    if any(word.startswith(CONTINUES) for word in shown):
        told += note(f"{CONTINUES} marks a piece that continues the word before it: walk + {CONTINUES}ing.")
    return told


def foreign_note(tokens: Sequence[str], text: str = "") -> str:
    """What to know of a text that the model can hardly read: its words are unknown, or fall into pieces.

    Args:
        tokens: Of the text, as the model saw it.
        text: The text, where it is at hand: a word of it may be too long.
    """
    unknown, own = sum(token in UNKNOWN for token in tokens), sum(not SPECIAL.fullmatch(token) for token in tokens)
    if unknown:
        are_long = unknown == len(LONG_WORD.findall(text))
        are_signs = unknown <= sum(unicodedata.category(one) == "So" for one in text)  # such as an emoji
        return unread_note(unknown, len(tokens), UNCUT if are_long else "" if are_signs else READ_OTHERS)
    return broken_note(sum(token.startswith(CONTINUES) for token in tokens), own, READ_OTHERS)


def broken_note(broken: int, tokens: int, advice: str = "") -> str:
    """What to know of a text whose words fall into pieces; "" where few of them do.

    Args:
        broken: How many tokens continue a word.
        tokens: Of the text.
        advice: Said last.
    """
    if broken < FEWEST_BROKEN or broken <= BROKEN_SHARE * tokens:
        return ""
    return note(
        f"{broken} of the {tokens} tokens are pieces that continue a word: this model has few of these words whole. "
        f"Rare and long words, names and languages that it saw little of are put together from such pieces. "
        f"{advice}".strip()
    )


def unread_note(unknown: int, tokens: int, advice: str = "", model: str = "this model") -> str:
    """What a model makes of what its vocabulary lacks, such as an emoji.

    Args:
        unknown: How many tokens stand for such words, one or more.
        tokens: Of the text.
        advice: Said last.
        model: Which, where several read the text.
    """
    sees, lacks = f"are unknown to {model}, which sees the same sign for each", "these words, signs or their script"
    if unknown == 1:
        sees, lacks = (
            f"is unknown to {model}, which sees a sign for “unknown” there",
            "the word, the sign or its script",
        )
    which = f"{unknown:,} of the {tokens:,} tokens, special ones included,"
    return note(f"{which} {sees}: its vocabulary lacks {lacks}. {advice}".strip())


def candidates_note(ranking: CandidateRanking) -> str:
    """Which of the visitor's candidates the model prefers, and how far, where a blank has two or more."""
    told = []
    for number, ranked in enumerate(ranking.blanks, 1):
        own = [candidate for candidate in ranked if candidate.is_own]
        if len(own) > 1:
            ratios = [
                f"{times(own[0].log_probability - other.log_probability)} “{other.text}”"
                for other in own[1 : 1 + MOST_TOLD]
            ]
            at = f"Blank {number}: of" if len(ranking.blanks) > 1 else "Of"
            told.append(f"{at} yours, “{own[0].text}” is likeliest: {', '.join(ratios)}.")
    return "".join(map(note, told[:MOST_TOLD]))


def fills_note(fills: BlankFills) -> str:
    """What is expected, and why the best sentence takes other words than the top bars, if it does; and the remarks."""
    words = [choice.text for blank in fills.blanks for choice in blank.choices]
    best = fills.completions[0].fills if fills.completions else ()
    tops = [blank.choices[0].text for blank in fills.blanks]
    differs = any(fill != top and top not in UNKNOWN for fill, top in zip(best, tops, strict=False))
    together = len(fills.blanks) > 1 and fills.strategy != "independent"
    repeats = _repeats_note(fills) if together else ""
    remarks = foreign_note(fills.tokens, fills.text) + repeats + "".join(map(note, fills.remarks))
    if differs and together:
        why = "Each chart looks at one blank while the others are open, "
        if len(tops) <= MOST_TOLD:
            why += f"and there {_listed(tops)} are likeliest. "
            why += f"The best sentence takes {_listed(best)}" + ("." if repeats else ", which fit each other.")
        else:
            why += "and a sentence takes words that fit each other. So they need not be the top bars."
        return note(why) + remarks + unknown_note([*words, *best])
    if together and list(best) == tops:
        fit = "" if repeats else ": here the likeliest words fit each other, too"
        return note(f"The best sentence takes the top bar of each chart{fit}.") + remarks + unknown_note(words)
    return ("" if together else _expected_note(fills)) + remarks + unknown_note(words)


def _expected_note(fills: BlankFills) -> str:
    """What the model expects, where blanks are looked at one by one, or there is but one."""
    choices = fills.blanks[0].choices
    if len(fills.blanks) > 1:
        word, most = _most_taken(fills.completions[0].fills) if fills.completions else ("", 0)
        so = f", and so it takes “{word}” {_so_often(most)}" if most > 1 else ""
        return note(f"Each blank is filled by itself: nothing looks whether the words fit each other{so}.")
    if len(choices) < 2 or set(UNKNOWN) & {choices[0].text, choices[1].text}:
        return ""
    first, second = choices[:2]
    ratio = times(math.log(first.probability / max(second.probability, LEAST)))
    most, next_most = (token_label(one.text, one.token) for one in (first, second))
    return note(f"The model expects “{most}” most ({percent(first.probability)}), {ratio} “{next_most}”.")


def _repeats_note(fills: BlankFills) -> str:
    """What is to be said of a best sentence that takes a word twice."""
    repeated = [_most_taken(completion.fills) for completion in fills.completions]
    word, most = repeated[0] if repeated else ("", 0)
    if most < 2:
        return ""
    rank = next((rank for rank, (_, times_taken) in enumerate(repeated, 1) if times_taken < 2), None)
    others = f" Sentence {rank} is the first that repeats none." if rank else " The others repeat words, too."
    return note(
        f"The best sentence takes “{word}” {_so_often(most)}: masked models find a word likelier where it stands in "
        f"sight already, and a search for the likeliest sentence falls for that.{others * (len(repeated) > 1)}"
    )


def _so_often(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _most_taken(words: Sequence[str]) -> tuple[str, int]:
    """The word that a sentence takes most often, and how often."""
    counts = Counter(word.casefold() for word in words if word[:1].isalpha())
    return counts.most_common(1)[0] if counts else ("", 0)


def _listed(words: Sequence[str]) -> str:
    quoted = [f"“{word}”" for word in words]
    return ", ".join(quoted[:-1]) + f" and {quoted[-1]}"


def reveal_note(reveal: BlankReveal) -> str:
    """What to know before walking the steps."""
    blanks = [blank for step in reveal.steps for blank in step.blanks if blank is not None]
    words = [*(step.choice.text for step in reveal.steps), *(one.text for blank in blanks for one in blank.choices)]
    lone = "" if len(reveal.steps) > 1 else note(
        "With one blank there is only one step. This view shows most with several: click another word to blank it."
    )  # fmt: skip
    return lone + unknown_note(words)


def step_note(reveal: BlankReveal, step: int) -> str:
    """What a fill has changed, in a sentence; "" with one blank, where it can change nothing.

    Args:
        reveal: All steps.
        step: How many blanks are filled, from 0 to all.
    """
    if len(reveal.steps) == 1:
        return ""
    if step == 0:
        return note("Nothing is filled yet: each blank by itself, as under Answer.")
    if step == len(reveal.steps):
        return note(f"All are filled. {_what_turns_told(reveal)}")
    last, now = reveal.steps[step - 1], reveal.steps[step]
    changes = [
        (abs(new.entropy_bits - old.entropy_bits), number, old.choices[0], new.choices[0])
        for number, (old, new) in enumerate(zip(last.blanks, now.blanks, strict=True), 1)
        if old is not None and new is not None
    ]
    _, blank, old, new = max(changes, key=lambda change: (change[2].token != change[3].token, change[0]))
    told = f"Now that blank {last.filled_blank + 1} is “{last.choice.text}”, blank {blank} expects"
    told += f" “{new.text}” ({percent(new.probability)}"
    if old.token == new.token:
        return note(f"{told}, before {percent(old.probability)}).")
    choices = now.blanks[blank - 1].choices
    left = next(
        (percent(one.probability) for one in choices if one.token == old.token), f"not among its first {len(choices)}"
    )
    return note(f"{told}) rather than “{old.text}” ({left} now, {percent(old.probability)} before).")


def _what_turns_told(reveal: BlankReveal) -> str:
    """What the fills before it did for each blank but the first, the most changed told of first.

    How sure a model is of a blank is a matter of all words, and the one that was filled in may go the other way.
    """
    alone = reveal.steps[0].blanks
    changes = []
    for step in reveal.steps[1:]:
        blank, before, turn = step.filled_blank + 1, alone[step.filled_blank], step.blanks[step.filled_blank]
        if as_words(before.entropy_bits) == as_words(turn.entropy_bits):
            continue
        is_surer = turn.entropy_bits < before.entropy_bits
        told = f"{'surer' if is_surer else 'less sure'} of blank {blank} (as if among {as_words(turn.entropy_bits)}, "
        told += f"alone {as_words(before.entropy_bits)}"
        now = step.choice.probability
        then = next((one.probability for one in before.choices if one.token == step.choice.token), now)
        if (now < then) == is_surer and percent(now) != percent(then):
            told += (
                f"; yet “{step.choice.text}” {'fell' if is_surer else 'rose'} from {percent(then)} to {percent(now)}"
            )
        changes.append((-abs(turn.entropy_bits - before.entropy_bits), f"{told})"))
    if not changes:
        return "What was filled before them made the model neither surer nor less sure of the others."
    return f"What was filled before made the model {', '.join(told for _, told in sorted(changes)[:MOST_TOLD])}."


def note(text: str) -> str:
    """A plain sentence in small, escaped."""
    return f"<p class='note'>{escape(text)}</p>"


def folded(title: str, text: str) -> str:
    """What only some want to know, behind a title that opens it; escaped."""
    return f"<details class='note'><summary>{escape(title)}</summary><p>{escape(text)}</p></details>"


def itself_note(names: Sequence[str]) -> str:
    """What is to be said of models that are to be compared; "" where no two of them are the same.

    Args:
        names: Of the models, as they were chosen.
    """
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    return note(f"{twice} stands beside itself: there is nothing to compare. Choose another model.") if twice else ""


def length_note(length: PromptLength) -> str:
    """How much of what the model reads the prompt takes."""
    left = length.limit_tokens - length.tokens
    start = "Empty: it begins from its start token. " if length.is_empty else ""
    words = f"{start}{length.tokens:,} of {length.limit_tokens:,} tokens; room for {left:,} more"
    told = f"<p class='note{' over' if left < 1 else ''}'>{words}</p>"
    if length.unknown:
        return told + unread_note(length.unknown, length.tokens)
    return told + broken_note(length.pieces, length.tokens)
