"""A text to be scored: its tokens, where each stands in it, and which words they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.analysis.blanks import check_characters, check_tokens, say_over
from explorer.analysis.prompts import check_left_to_right
from explorer.analysis.reading import SPACE_TOKENS
from explorer.analysis.scoring_results import PROTOCOLS
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, ModelCard

WORD = re.compile(r"\S+")
MOST_TOKENS = 1024  # of a text: as many as can be looked at
MOST_MASKED_TOKENS = 256  # each costs a forward pass
NEEDS = {
    "left_to_right": Ability.GENERATE,
    "one_masked": Ability.FILL_BLANKS,
    "word_masked": Ability.FILL_BLANKS,
    "both_directions": Ability.PREDICT_BOTH_WAYS,
}  # the first that a model can is its own
Span = tuple[int, int]


@dataclass(frozen=True)
class Scorable:
    """A text as a model reads it.

    Attributes:
        text: As given.
        ids: Token ids, special ones included.
        tokens: The same, as the vocabulary spells them.
        places: Which of them are the text's own.
        spans: Where these stand in the text, in characters, without white space at their ends; of no width for a token
            that is a space alone.
        words: Where the words stand: what is between white space.
        word_of: For each of the text's own tokens, which word it belongs to; white space belongs to the next word.
    """

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    places: tuple[int, ...]
    spans: tuple[Span, ...]
    words: tuple[Span, ...]
    word_of: tuple[int, ...]

    @property
    def is_first_scored(self) -> bool:
        """Whether something stands before the first token."""
        return self.places[0] > 0


def choose_protocol(card: ModelCard, wanted: str) -> str:
    """How a model is to score.

    Args:
        card: The model.
        wanted: A key of PROTOCOLS; "" = the model's own.

    Raises:
        UnsuitableModel: It cannot score, or not so.
        UnsuitableText: There is no such protocol.
    """
    able = [protocol for protocol, ability in NEEDS.items() if ability in card.abilities]
    if wanted and wanted not in PROTOCOLS:
        raise UnsuitableText(f"There is no protocol {wanted!r}. Choose one of: {', '.join(PROTOCOLS)}.")
    if not able:
        raise UnsuitableModel(
            f"{card.name} does not say how likely a text is. Choose a causal or a masked language model."
        )
    if wanted and wanted not in able:
        raise UnsuitableModel(f"{card.name} cannot score by {wanted!r}. Choose one of: {', '.join(able)}.")
    return wanted or able[0]


def parse_scorable(model: LoadedModel, text: str, protocol: str) -> Scorable:
    """Tokenize a text that is to be scored.

    Args:
        model: One that can score.
        text: Of one token at least, and of no more than can be looked at.
        protocol: A key of PROTOCOLS.

    Raises:
        UnsuitableModel: Its tokenizer cannot say where a token stands, or it was trained otherwise.
        UnsuitableText: It is empty, too long, or holds what cannot be scored; the message says what to do.
    """
    if protocol == "left_to_right":
        check_left_to_right(model)
    check_characters(text)
    if not text.strip():
        raise UnsuitableText("There is no text to score. Write a sentence.")
    tokenizer = model.tokenizer
    if not tokenizer.is_fast:
        raise UnsuitableModel(f"The tokenizer of {model.card.name} does not say where its tokens stand in a text.")
    with model.tokenizer_lock:
        encoded = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
        ids, offsets = list(encoded["input_ids"]), list(encoded["offset_mapping"])
        is_added = [bool(mark) for mark in encoded["special_tokens_mask"]]
    places = [index for index, added in enumerate(is_added) if not added]
    if not places:
        raise UnsuitableText(f"{model.card.name} sees nothing in this text. Write a sentence.")
    if protocol == "left_to_right":
        ids, places, offsets = _from_left(model, ids, places, offsets)
    check_tokens(model, len(ids))
    most = MOST_MASKED_TOKENS if protocol in ("one_masked", "word_masked") else MOST_TOKENS
    if len(places) > most:
        why = ", for each takes a pass of its own" if most < MOST_TOKENS else ""
        raise UnsuitableText(
            f"The text has {len(places):,} tokens; {model.card.name} scores at most {most:,} at once{why}. Leave out "
            f"{say_over(len(places) - most)}."
        )
    if protocol in ("one_masked", "word_masked") and tokenizer.mask_token_id in (ids[place] for place in places):
        raise UnsuitableText("The text has a mask. Scoring hides each token by itself: write the whole text.")
    with model.tokenizer_lock:
        tokens = tokenizer.convert_ids_to_tokens(ids)
    words = tuple(match.span() for match in WORD.finditer(text))
    spans = tuple(trim_span(text, offsets[place], tokens[place]) for place in places)
    return Scorable(text, tuple(ids), tuple(tokens), tuple(places), spans, words, tuple(find_words(spans, words)))


def _from_left(
    model: LoadedModel, ids: list[int], places: list[int], offsets: list[Span]
) -> tuple[list[int], list[int], list[Span]]:
    """Without what would end the text, and behind the token that starts one, if the model has such a token."""
    ids, offsets = ids[: places[-1] + 1], offsets[: places[-1] + 1]
    start_id = model.tokenizer.bos_token_id
    if places[0] == 0 and start_id is not None:
        return [start_id, *ids], [place + 1 for place in places], [(0, 0), *offsets]
    return ids, places, offsets


def trim_span(text: str, span: Span, token: str) -> Span:
    """Where a token stands, without white space at its ends; of no width for a token that is a space alone."""
    start, end = span
    inner = text[start:end].strip()
    if not inner:
        return start, end
    if set(token) <= SPACE_TOKENS:  # a space alone; tokenizers say that it stands on the letter after it
        return start, start
    start += text[start:end].index(inner)
    return start, start + len(inner)


def find_words(spans: Sequence[Span], words: Sequence[Span]) -> Iterator[int]:
    """The word in which each token begins; the next one for a token of white space."""
    word = 0
    for start, _ in spans:
        while word < len(words) - 1 and words[word][1] <= start:
            word += 1
        yield word
