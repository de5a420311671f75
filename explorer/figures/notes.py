"""One plain sentence beside a chart for what a reader would stumble on, and nothing where there is nothing."""

from collections.abc import Iterable, Sequence
from html import escape

from explorer.analysis.generation_results import PromptLength
from explorer.analysis.results import BlankFills, BlankReveal

MOST_TOLD = 3  # blanks whose words are named
UNKNOWN = ("[UNK]", "<unk>")  # as the vocabularies of BERT and of SentencePiece spell it


def unknown_note(words: Iterable[str]) -> str:
    """What the token for unknown words means, if it is among the words of a chart."""
    shown = set(words)
    found = next((token for token in UNKNOWN if token in shown), None)
    if found is None:
        return ""
    return note(
        f"{found} stands for any word that the model's vocabulary lacks, such as a rare name. It is never put into a "
        "sentence."
    )


def fills_note(fills: BlankFills) -> str:
    """Why the best sentence takes other words than the top bars, if it does; and the remarks."""
    words = [choice.text for blank in fills.blanks for choice in blank.choices]
    best = fills.completions[0].fills if fills.completions else ()
    tops = [blank.choices[0].text for blank in fills.blanks]
    differs = any(fill != top and top not in UNKNOWN for fill, top in zip(best, tops, strict=False))
    together = len(fills.blanks) > 1 and fills.strategy != "independent"
    remarks = "".join(map(note, fills.remarks))
    if differs and together:
        why = "Each chart looks at one blank while the others are open, "
        if len(tops) <= MOST_TOLD:
            why += f"and there {_listed(tops)} are likeliest. "
            why += f"The best sentence takes {_listed(best)}, which fit each other."
        else:
            why += "and a sentence takes words that fit each other. So they need not be the top bars."
        return note(why) + remarks + unknown_note(words)
    return remarks + unknown_note(words)


def _listed(words: Sequence[str]) -> str:
    quoted = [f"“{word}”" for word in words]
    return ", ".join(quoted[:-1]) + f" and {quoted[-1]}"


def reveal_note(reveal: BlankReveal) -> str:
    """What to know before walking the steps."""
    blanks = [blank for step in reveal.steps for blank in step.blanks if blank is not None]
    lone = "" if len(reveal.steps) > 1 else note(
        "With one blank there is only one step. This view shows most with several: click another word to blank it."
    )  # fmt: skip
    return lone + unknown_note(choice.text for blank in blanks for choice in blank.choices)


def note(text: str) -> str:
    """A plain sentence in small, escaped."""
    return f"<p class='note'>{escape(text)}</p>"


def itself_note(names: Sequence[str]) -> str:
    """What is to be said of models that are to be compared; "" where no two of them are the same.

    Args:
        names: Of the models, as they were chosen.
    """
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    return note(f"{twice} stands beside itself: there is nothing to compare. Choose another model.") if twice else ""


def length_note(length: PromptLength | str, *, is_empty: bool = False) -> str:
    """How much of what the model reads the prompt takes, or why it cannot be read."""
    if isinstance(length, str):
        return f"<p class='note over' role='alert'>{escape(length)}</p>"
    left = length.limit_tokens - length.tokens
    start = "Empty: it begins from its start token. " if is_empty else ""
    words = f"{start}{length.tokens:,} of {length.limit_tokens:,} tokens; room for {left:,} more"
    return f"<p class='note{' over' if left < 1 else ''}'>{words}</p>"
