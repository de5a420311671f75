"""Options by their log-probabilities, with the sum behind each written out."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.analysis.option_results import FROM_LEFT, NORMALISATIONS, OptionChoice, OptionPart, OptionScore
from explorer.figures.notes import SCORED_AS_UNKNOWN, note, unknown_note
from explorer.figures.style import nats, percent
from explorer.figures.token_words import shown_token, space_note

LEAST_LEFT = 1e-4  # of a share beside others: however small they are, it is not all
ROUNDED = "All of it is computed before anything is rounded, so that a last digit may seem off."
GOES_ON_OTHERWISE = (
    "The neutral text goes on otherwise behind the option, and what stands there is summed, too: these differences are "
    "not of the option alone. Without a slot of its own, the neutral text goes on as the text does."
)


def option_columns(choices: Sequence[OptionChoice]) -> str:
    """One column for each model: its options, best first, and the sum behind each."""
    return f"<div class='span-columns option-columns'>{''.join(map(_column, choices))}</div>"


def _column(choice: OptionChoice) -> str:
    rows = "".join(_option(choice, one, is_best=number < choice.firsts) for number, one in enumerate(choice.options))
    _, done = NORMALISATIONS[choice.normalise]
    return (
        f"<section><h3>{escape(choice.model)}</h3><ol class='options-ranked'>{rows}</ol>"
        + note(
            "The share is among the options, by these numbers: it is no probability of the model. Compare options "
            "within a model, not numbers of two models."
        )
        + (note(GOES_ON_OTHERWISE) if any(_goes_on_otherwise(choice, one) for one in choice.options) else "")
        + unknown_note((token.token for one in choice.options for token in one.part.tokens), SCORED_AS_UNKNOWN)
        + space_note(token.token for one in choice.options for token in one.part.tokens)
        + note(f"{done} Summed: {choice.scored}; each is {choice.score}, in nats. {ROUNDED}")
        + "</section>"
    )


def _option(choice: OptionChoice, one: OptionScore, *, is_best: bool) -> str:
    mark = f"<span class='chosen'>{'a tie' if choice.firsts > 1 else '✓ chosen'}</span>" if is_best else ""
    kind = " class='best'" if is_best else ""
    most = 1 - LEAST_LEFT if any(other.share > 0 for other in choice.options if other is not one) else 1.0
    bar = f"<span class='track'><i style='width:{one.share:.1%}'></i></span>"
    return (
        f"<li{kind}><div class='option-head'><bdi dir='auto'>{escape(one.option)}</bdi>{mark}"
        f"<span class='number' title='{one.score!r} nats'>{nats(one.score)}</span></div>"
        f"<div class='share' title='share among the options: {one.share!r}'>{bar}"
        f"<small>{percent(min(one.share, most))} of the options</small></div>"
        f"<p class='sum'>{_terms(one.part)} = <b>{nats(one.part.log_probability)}</b>{_then(choice, one)}</p></li>"
    )


def _then(choice: OptionChoice, one: OptionScore) -> str:
    """What becomes of the sum under a normalisation."""
    if choice.normalise == "sum":
        return ""
    if one.baseline is not None:
        neutral = f"in “{escape(one.baseline_text)}”" if choice.domain.strip() else "with nothing before it"
        same = f"all from “{escape(one.option)}” on" if _goes_on_otherwise(choice, one) else "the same"
        return (
            f"<br>less {same} {neutral}: {_terms(one.baseline)} = {nats(one.baseline.log_probability)}"
            f"<br>difference: <b>{nats(one.score)}</b>"
        )
    by, unit = {
        "tokens": (one.token_count, "tokens"),
        "characters": (one.characters, "characters"),
        "bytes": (one.bytes, "bytes"),
    }[choice.normalise]
    return f"<br>÷ {by} {unit if by != 1 else unit[:-1]} = <b>{nats(one.score)}</b>"


def _goes_on_otherwise(choice: OptionChoice, one: OptionScore) -> bool:
    """Whether other words stand behind the option in the neutral text, and are summed."""
    behind = (text.rpartition(one.option)[2].strip() for text in (one.text, one.baseline_text))
    return choice.scored == FROM_LEFT and one.baseline is not None and len(set(behind)) > 1


def _terms(part: OptionPart) -> str:
    return " + ".join(
        f"<span class='term' title='p of {escape(token.token)}: ln p = {token.log_probability!r}, rank {token.rank:,}'>"
        f"<bdi>{escape(shown_token(token.token))}</bdi> {nats(token.log_probability)}</span>"
        for token in part.tokens
    )
