"""Candidates for a blank: which pieces of the vocabulary they are where they would stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from explorer.analysis.blanks import (
    BLANK,
    CONTINUES,
    BlankedText,
    check_characters,
    find_blanks,
    is_continuing,
    refuse_foreign_masks,
)
from explorer.analysis.reading import SPACE_TOKENS
from explorer.errors import UnsuitableCandidate, UnsuitableText, quoted
from explorer.models.backend import LoadedModel
from explorer.settings import settings

MOST_GLUED = 200  # characters before a blank that a tokenizer looks at: no word of any vocabulary is as long


@dataclass(frozen=True)
class Candidate:
    """What a visitor would put into a blank.

    Attributes:
        text: As given, without white space around it.
        ids: Its pieces.
        tokens: The same, as the vocabulary spells them.
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]


def parse_candidates(
    model: LoadedModel, text: BlankedText, candidates: Sequence[Sequence[str]]
) -> tuple[tuple[Candidate, ...], ...]:
    """Check candidates and cut them into pieces as they would be cut in their blank.

    Args:
        model: A model with a masked language modelling head.
        text: The text they are for.
        candidates: One sequence per blank, empty where there are none; each of at most settings().most_candidates.

    Returns:
        One tuple per blank; candidates of the same pieces are kept once. Where a text begins, byte-level vocabularies
        have a word with and without a space before it: both spellings are there, of the same text.

    Raises:
        UnsuitableCandidate: A candidate cannot be scored, named by the message; or there are too many, or none.
    """
    blanks = len(text.positions)
    if isinstance(candidates, str) or any(isinstance(some, str) for some in candidates):
        raise UnsuitableCandidate('Give a list of candidates for each blank, such as [["is", "are"]].')
    if len(candidates) != blanks:
        raise UnsuitableCandidate(
            f"The text has {blanks} blank{'s' * (blanks > 1)}, and there are candidates for {len(candidates)}. Each "
            "blank takes a list of its own, in order, which may be empty."
        )
    if not any(candidates):
        raise UnsuitableCandidate("There are no candidates. Give at least one word for one blank, such as: is, are.")
    most = settings().most_candidates
    for blank, some in enumerate(candidates):
        if len(some) > most:
            raise UnsuitableCandidate(f"Blank {blank + 1} has {len(some)} candidates; at most {most} are ranked.")
    return tuple(
        tuple({candidate.ids: candidate for candidate in reversed(parsed)}.values())
        for parsed in (
            [one for candidate in some for one in _parse(model, text, blank, candidate)]
            for blank, some in enumerate(candidates)
        )
    )


def _parse(model: LoadedModel, text: BlankedText, blank: int, given: str) -> list[Candidate]:
    """A candidate in each of its spellings."""
    candidate = given.strip()
    if not candidate:
        raise UnsuitableCandidate(f"A candidate for blank {blank + 1} is empty. Remove it, or write a word.")
    try:
        check_characters(given)
        refuse_foreign_masks(candidate, model.tokenizer.mask_token)
    except UnsuitableText as error:
        raise UnsuitableCandidate(str(error), candidate) from error
    if find_blanks(candidate, model.tokenizer.mask_token):
        raise UnsuitableCandidate(
            f"The candidate {quoted(candidate)} contains a blank. Candidates are words; leave {BLANK} out.",
            candidate,
        )
    tokenizer = model.tokenizer
    with model.tokenizer_lock:
        spellings = _spellings(model, text, blank, candidate)
        spelled = [tuple(tokenizer.convert_ids_to_tokens(ids)) for ids in spellings]
    for ids in spellings:
        _check(model, text, candidate, ids)
    return [Candidate(candidate, tuple(ids), tokens) for ids, tokens in zip(spellings, spelled, strict=True)]


def _check(model: LoadedModel, text: BlankedText, candidate: str, ids: list[int]) -> None:
    tokenizer = model.tokenizer
    if not ids:
        raise UnsuitableCandidate(
            f"{model.card.name} sees no token in the candidate {quoted(candidate)}. Choose another word.",
            candidate,
        )
    if tokenizer.unk_token_id in ids:
        raise UnsuitableCandidate(
            f"The vocabulary of {model.card.name} cannot spell the candidate {quoted(candidate)}: part of it would be "
            f"{tokenizer.unk_token}, which stands for anything unknown. Choose another word, or another model.",
            candidate,
        )
    if not set(ids).isdisjoint(tokenizer.all_special_ids):
        raise UnsuitableCandidate(
            f"The candidate {quoted(candidate)} contains a special token. Choose an ordinary word.", candidate
        )
    length = len(text.ids) + len(ids) - 1
    if length > model.limit_tokens:
        raise UnsuitableCandidate(
            f"With the candidate {quoted(candidate)} the text has {length:,} tokens, and {model.card.name} reads "
            f"at most {model.limit_tokens:,}. Shorten the text or the candidate.",
            candidate,
        )


def _spellings(model: LoadedModel, text: BlankedText, blank: int, candidate: str) -> list[list[int]]:
    """The ids of a candidate where it would stand; where the text begins, after a space and without one.

    The caller holds the tokenizer's lock.
    """
    first = _pieces(model, text, blank, candidate)
    if text.segments[blank] or blank or is_continuing(candidate):
        return [first]
    spaced = _encode(model, f" {candidate}")
    begins = model.tokenizer.convert_ids_to_tokens(spaced[:1])
    return [first] if spaced == first or not begins or set(begins[0]) <= SPACE_TOKENS else [first, spaced]


def _pieces(model: LoadedModel, text: BlankedText, blank: int, candidate: str) -> list[int]:
    """The ids of a candidate where it would stand: after a space, or right after what precedes the blank.

    The caller holds the tokenizer's lock.
    """
    tokenizer = model.tokenizer
    if is_continuing(candidate):  # a visitor names a piece as the charts do
        known = _id_of(model, candidate)
        return [known] if known is not None else _continuing(model, candidate.removeprefix(CONTINUES))
    before = text.segments[blank]
    glued_to = "" if before[-1:].isspace() else "".join(before[-MOST_GLUED:].rsplit(maxsplit=1)[-1:])
    if not glued_to or not tokenizer.is_fast:
        # A byte-level vocabulary spells " word" and "word" differently, unless the space is a token of its own.
        space_eaten = before and not set(text.tokens[text.positions[blank] - 1]) <= SPACE_TOKENS
        return _encode(model, f" {candidate}" if space_eaten else candidate)
    encoded = tokenizer(glued_to + candidate, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    spans = encoded["offset_mapping"]
    if not any(start < len(glued_to) < end for start, end in spans):
        return [i for i, (_, end) in zip(encoded["input_ids"], spans, strict=True) if end > len(glued_to)]
    # One token would cover both ("play" + "ing" = "playing"), but the model reads "play" and then a blank.
    return _continuing(model, candidate)


def _continuing(model: LoadedModel, piece: str) -> list[int]:
    """The ids of what continues a word, the first as one that has no space before it."""
    ids = _encode(model, piece)
    first = model.tokenizer.convert_ids_to_tokens(ids[:1])[0] if ids else ""
    for continuing in (f"##{first}", first.lstrip("▁Ġ")):
        if continuing != first and (token_id := _id_of(model, continuing)) is not None:
            return [token_id, *ids[1:]]
    return ids


def _encode(model: LoadedModel, text: str) -> list[int]:
    return model.tokenizer.encode(text, add_special_tokens=False, verbose=False)


def _id_of(model: LoadedModel, token: str) -> int | None:
    token_id = model.tokenizer.convert_tokens_to_ids(token)
    return None if token_id == model.tokenizer.unk_token_id else token_id
