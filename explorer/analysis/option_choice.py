"""Zero-shot: which of several options a language model holds for the likeliest in a text, and the sums behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from explorer.analysis.blanks import check_characters, find_blanks
from explorer.analysis.option_results import (
    FROM_LEFT,
    NORMALISATIONS,
    WHOLE,
    WITHIN,
    OptionChoice,
    OptionPart,
    OptionScore,
)
from explorer.analysis.scorable import Scorable, choose_protocol, parse_scorable
from explorer.analysis.scoring_results import PROTOCOLS
from explorer.analysis.token_scores import score_tokens
from explorer.errors import UnsuitableText, quoted
from explorer.models.backend import LoadedModel
from explorer.settings import settings

SLOT = "{}"
LEAST_OPTIONS = 2
AT_THE_START = (
    "With its slot at the start, the text is its own neutral text, and nothing is left to compare. Write a neutral "
    f"text that ends otherwise, such as “{SLOT} it is.”, or rank by another number than PMI."
)
TAKES_NO_SPACE = frozenset(".,;:!?)]}'’")  # what stands right behind a word


@dataclass(frozen=True)
class _Filled:
    """A text with an option in its slot.

    Attributes:
        text: The text.
        start: Where the option begins, in characters.
        end: Where it ends, exclusive.
    """

    text: str
    start: int
    end: int


@torch.inference_mode()
def choose_option(
    model: LoadedModel,
    text: str,
    options: Sequence[str],
    *,
    normalise: str = "sum",
    domain: str = "",
    protocol: str = "",
) -> OptionChoice:
    """Choose an option by its log-probability, without any training for the task.

    Args:
        model: A causal model, a masked one, or one of both directions.
        text: With a slot, written {} or ___, or none: then the options follow it. "" = the options are whole sentences,
            such as a grammatical one and one that is not.
        options: From 2 to settings().most_candidates, all different.
        normalise: A key of NORMALISATIONS: what is ranked by.
        domain: Of "pmi": what stands in the place of the text, e.g. "It was very"; "" = nothing. What stands behind the
            slot of the text follows here, too, so that the same tokens are summed; with a slot of its own, it stands as
            given.
        protocol: As of score_text.

    Returns:
        The options, best first, each with the tokens that its sum is of. A causal model scores the option and what
        follows it; a masked model the option, or the sentence where there is no text around it.

    Raises:
        UnsuitableModel: The model cannot score, or not so.
        UnsuitableText: The text or the options cannot be used as asked.

    Source: Radford et al. 2018,
        https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf;
        Holtzman et al. 2021 (PMI), https://arxiv.org/abs/2104.08315; Warstadt et al. 2020, https://arxiv.org/abs/1912.00582
    """
    if normalise not in NORMALISATIONS:
        raise UnsuitableText(f"There is no way {normalise!r} to normalise. Choose one of: {', '.join(NORMALISATIONS)}.")
    protocol = choose_protocol(model.card, protocol)
    options = check_options(options)
    check_characters(text)
    if normalise == "pmi" and not text.strip():
        raise UnsuitableText(
            "PMI compares an option in a text with the same option in a neutral one: write a text, or "
            "rank by Sum or Per token."
        )
    filled = [_fill(text, option) for option in options]
    parts, scored = _score(model, filled, protocol, is_whole=not text.strip())
    baselines: list[OptionPart | None] = [None] * len(options)
    neutral: list[_Filled | None] = [None] * len(options)
    if normalise == "pmi":
        check_characters(domain)
        neutral = [_fill(domain, option, one.text[one.end :]) for option, one in zip(options, filled, strict=True)]
        if neutral == filled and not domain.strip():
            raise UnsuitableText(AT_THE_START)
        baselines = [*_score(model, neutral, protocol, is_whole=False)[0]]
    summed = [_summed_text(one, scored) for one in filled]
    scores = [_normalised(*each, normalise) for each in zip(summed, parts, baselines, strict=True)]
    most = max(scores)
    total = math.fsum(math.exp(score - most) for score in scores)
    found = [
        OptionScore(
            option=option,
            text=one.text,
            part=part,
            baseline=baseline,
            baseline_text=plain.text if plain else "",
            token_count=len(part.tokens),
            characters=len(behind),
            bytes=len(behind.encode("utf-8")),
            score=score,
            share=math.exp(score - most) / total,
        )
        for option, one, part, plain, baseline, score, behind in zip(
            options, filled, parts, neutral, baselines, scores, summed, strict=True
        )
    ]
    return OptionChoice(
        model=model.card.name,
        text=text,
        normalise=normalise,
        score=PROTOCOLS[protocol],
        scored=scored,
        domain=domain if normalise == "pmi" else "",
        options=tuple(sorted(found, key=lambda one: -one.score)),
    )


def check_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options without white space around them.

    Raises:
        UnsuitableText: They are too few or too many, one is empty or cannot be read, or two are the same.
    """
    if isinstance(options, str):
        raise UnsuitableText('Give a list of options, such as ["positive", "negative"].')
    for option in options:
        check_characters(option)
    stripped = tuple(option.strip() for option in options)
    most = settings().most_candidates
    if not LEAST_OPTIONS <= len(stripped) <= most:
        raise UnsuitableText(f"Give {LEAST_OPTIONS} to {most} options to choose between; there are {len(stripped)}.")
    if "" in stripped:
        raise UnsuitableText(f"Option {stripped.index('') + 1} is empty. Write a word or more, or take it out.")
    twice = next((option for option in stripped if stripped.count(option) > 1), None)
    if twice is not None:
        raise UnsuitableText(f"The option {quoted(twice)} is there twice: change one of them.")
    return stripped


def _fill(text: str, option: str, tail: str = "") -> _Filled:
    """The option in the slot, or behind the text and before the tail."""
    slots = [(at, at + len(SLOT)) for at in _places(text, SLOT)] + find_blanks(text, None)
    if len(slots) > 1:
        raise UnsuitableText(f"The text has {len(slots)} slots. Leave one of them, written {SLOT} or ___.")
    if slots:
        [(start, end)] = slots
        before, after = text[:start], text[end:]
    else:
        before, after = text.rstrip(), tail
        if before and option[0] not in TAKES_NO_SPACE:
            before += " "
    return _Filled(before + option + after, len(before), len(before) + len(option))


def _places(text: str, part: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(part, at)]


def _score(
    model: LoadedModel, filled: Sequence[_Filled], protocol: str, *, is_whole: bool
) -> tuple[list[OptionPart], str]:
    """What each option gets, and which tokens are summed."""
    parsed = [parse_scorable(model, one.text, protocol) for one in filled]
    same = next((n for n, one in enumerate(parsed) if one.ids in [other.ids for other in parsed[:n]]), None)
    if same is not None:
        raise UnsuitableText(
            f"{model.card.name} reads {quoted(filled[same].text)} just like another option: change one of them."
        )
    is_causal = protocol == "left_to_right"
    scored = WHOLE if is_whole or protocol == "both_directions" else FROM_LEFT if is_causal else WITHIN
    wanted = [_wanted(one, text, scored) for one, text in zip(filled, parsed, strict=True)]
    directions = score_tokens(model, parsed, protocol, alternatives=0, wanted=wanted)
    parts = []
    for index, one in enumerate(filled):
        tokens = tuple(token for tokens in directions for token in tokens[index])
        if is_causal and any(token.log_probability is None for token in tokens) and not is_whole:
            raise UnsuitableText(
                f"{model.card.name} has no token that starts a text, so nothing is known before "
                f"{quoted(filled[index].text)}: write a word before the option."
            )
        tokens = tuple(token for token in tokens if token.log_probability is not None)
        if not tokens:
            raise UnsuitableText(f"{model.card.name} cannot score {quoted(one.text)}: write more than one word.")
        parts.append(OptionPart(tokens, math.fsum(token.log_probability for token in tokens)))
    return parts, scored


def _wanted(filled: _Filled, parsed: Scorable, scored: str) -> list[int]:
    """Which of a text's tokens are summed; the white space before an option belongs to it."""
    if scored == WHOLE:
        return list(range(len(parsed.places)))
    first = len(filled.text[: filled.start].rstrip())
    last = filled.end if scored == WITHIN else len(filled.text)
    spans = enumerate(parsed.spans)
    return [number for number, (start, end) in spans if (end > first or start >= filled.start) and start < last]


def _summed_text(filled: _Filled, scored: str) -> str:
    """What the summed tokens spell, without white space around it."""
    start = 0 if scored == WHOLE else filled.start
    return filled.text[start : filled.end if scored == WITHIN else None].strip()


def _normalised(summed: str, part: OptionPart, baseline: OptionPart | None, normalise: str) -> float:
    if normalise == "pmi":
        return part.log_probability - baseline.log_probability
    by = {"sum": 1, "tokens": len(part.tokens), "characters": len(summed), "bytes": len(summed.encode("utf-8"))}
    return part.log_probability / by[normalise]
