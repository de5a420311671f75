"""Texts as attention heads read them: ids, and what stands where."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from explorer.analysis.blanks import check_characters, check_tokens, find_blanks, split_at_blanks
from explorer.analysis.head_sums import Marks
from explorer.analysis.prompts import EVERY_ORDER, encode_prompt
from explorer.analysis.reading import read_tokens
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.attention import head_counts
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability

Span = tuple[int, int]
BATCH_PAIRS = 2**18  # of query and key, padding included, in one forward pass: the weights of a layer stay small
BATCH_TOKENS = {"cpu": 1024, "cuda": 16_384}


@dataclass(frozen=True)
class EncodedText:
    """A text as a model reads it.

    Attributes:
        ids: Token ids, special tokens included.
        start: How many special tokens stand before the text.
        end: How many stand behind it.
        spans: Of each token, where it stands in the text, in characters; of none where the tokenizer cannot tell.
        places: Of each token, where it stands in the text, in tokens, where that is not just behind the start.
        between: Places in the row of the special tokens that stand between two texts, or within one.
        types: Of each token, which of a pair of texts it belongs to; () where the model is not told.
    """

    ids: tuple[int, ...]
    start: int
    end: int
    spans: tuple[Span, ...] = ()
    places: tuple[int, ...] = ()
    between: tuple[int, ...] = ()
    types: tuple[int, ...] = ()


def reads_left_to_right(model: LoadedModel) -> bool:
    """Whether each token of the model sees only those before it."""
    return Ability.GENERATE in model.card.abilities and model.card.model_type not in EVERY_ORDER


def encode_texts(model: LoadedModel, texts: Sequence[str]) -> list[EncodedText]:
    """Tokenize texts as the model reads them: a causal one without the token that ends a text.

    Args:
        model: Any with a tokenizer.
        texts: Blanks become the model's mask tokens, if it has one.

    Raises:
        UnsuitableText: One cannot be read, or is longer than the model reads; the message says which.
    """
    tokenizer = model.tokenizer
    seen = []
    for number, text in enumerate(texts, start=1):
        try:
            check_characters(text)
            if not text.strip():
                raise UnsuitableText("There is no text. Write at least one word.")
        except UnsuitableText as error:
            raise _about(number, texts, error) from None
        mask = tokenizer.mask_token
        seen.append(mask.join(split_at_blanks(text, mask)) if mask and find_blanks(text, mask) else text)
    is_causal = Ability.GENERATE in model.card.abilities
    before = _start_ids(model) if is_causal else []
    with model.tokenizer_lock:  # never with truncation or padding: those are state of the tokenizer
        batch = tokenizer(
            seen,
            add_special_tokens=not is_causal,
            return_special_tokens_mask=True,
            return_offsets_mapping=tokenizer.is_fast,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
    encoded = []
    none: list[tuple[Span, ...]] = [()] * len(seen)
    rows = zip(batch["input_ids"], batch["special_tokens_mask"], batch.get("offset_mapping", none), strict=True)
    for number, (ids, special, spans) in enumerate(rows, start=1):
        start = special.index(0) if 0 in special else len(special)
        end = special[::-1].index(0) if 0 in special else 0
        if is_causal:
            start, end = len(before), 0
            ids, spans = [*before, *ids], [(0, 0)] * start + list(spans)
        try:
            check_tokens(model, len(ids))
        except UnsuitableText as error:
            raise _about(number, texts, error) from None
        encoded.append(EncodedText(tuple(ids), start, end, tuple(map(tuple, spans))))
    return encoded


def batch_by_length(model: LoadedModel, texts: Sequence[EncodedText]) -> Iterator[list[int]]:
    """Indices of texts of similar length, as many as one forward pass holds."""
    most = BATCH_TOKENS.get(model.network.device.type, BATCH_TOKENS["cpu"])
    batch: list[int] = []
    for index in sorted(range(len(texts)), key=lambda index: len(texts[index].ids)):
        length = len(texts[index].ids)
        tokens = (len(batch) + 1) * length
        if batch and (tokens > most or tokens * length > BATCH_PAIRS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def choose_stack(model: LoadedModel, stack: str | None) -> str:
    """Whose heads are measured: those asked for, or, where none are, those of the first stack.

    Raises:
        UnsuitableModel: The model has no attention, or no such stack.
    """
    stacks = tuple(head_counts(model.network))
    if stack is None or stack in stacks:
        return stack or stacks[0]
    raise UnsuitableModel(f"{model.card.name} has no {stack!r} heads; it has: {', '.join(stacks)}.")


def make_inputs(
    model: LoadedModel, texts: Sequence[EncodedText], again: Sequence[EncodedText] | None = None
) -> dict[str, Tensor]:
    """Texts of a batch as the network takes them, padded to the right.

    Args:
        model: That reads them.
        texts: Of the batch.
        again: What a decoder reads beside them, see encode_again; None = its first token only.
    """
    network = model.network
    ids, longest = _pad(model, texts), max(len(text.ids) for text in texts)
    lengths = torch.tensor([len(text.ids) for text in texts])
    inputs = {"input_ids": ids}
    if int(lengths.min()) < longest:  # without a mask the fastest attention kernel runs
        inputs["attention_mask"] = (torch.arange(longest) < lengths[:, None]).long()
    if any(text.types for text in texts):  # only a pair, which is a batch of its own
        inputs["token_type_ids"] = torch.tensor([text.types for text in texts])
    if network.config.is_encoder_decoder:
        first = torch.zeros(len(texts), 1, dtype=torch.long)
        inputs["decoder_input_ids"] = first if again is None else _pad(model, again)
    return {name: each.to(network.device) for name, each in inputs.items()}


def _pad(model: LoadedModel, texts: Sequence[EncodedText]) -> Int[Tensor, "row token"]:
    longest = max(len(text.ids) for text in texts)
    pad = getattr(model.network.config, "pad_token_id", None) or 0
    return torch.tensor([text.ids + (pad,) * (longest - len(text.ids)) for text in texts])


def make_marks(
    model: LoadedModel,
    texts: Sequence[EncodedText],
    punctuation: frozenset[int],
    *,
    is_causal: bool,
    by_place: bool = False,
) -> Marks:
    """What stands where in a batch that make_inputs makes of the same texts.

    Args:
        model: That reads them.
        texts: Of the batch.
        punctuation: Ids of tokens that are punctuation marks.
        is_causal: Whether each token sees only those before it, and itself.
        by_place: Whether tokens stand where they do in the text, so that two readings of it can be compared.
    """
    longest = max(len(text.ids) for text in texts)
    steps = torch.arange(longest)
    lengths = torch.tensor([len(text.ids) for text in texts])[:, None]
    starts = torch.tensor([text.start for text in texts])[:, None]
    ends = lengths - torch.tensor([text.end for text in texts])[:, None]
    read = steps < lengths
    between = torch.tensor([[step in text.between for step in range(longest)] for text in texts])
    inside = (steps >= starts) & (steps < ends) & ~between
    points = [
        [token_id in punctuation for token_id in text.ids] + [False] * (longest - len(text.ids)) for text in texts
    ]
    places = torch.tensor([text.places + (0,) * (longest - len(text.places)) for text in texts])
    places = torch.where(torch.tensor([bool(text.places) for text in texts])[:, None], places, steps - starts)
    marks = (
        places if by_place else steps.expand(read.shape),
        read,
        inside,
        inside & torch.tensor(points),
        ((steps >= ends) | between) & read,
    )
    return Marks(*(mark.to(model.network.device) for mark in marks), is_causal=is_causal)


def find_punctuation(model: LoadedModel, texts: Sequence[EncodedText]) -> frozenset[int]:
    """Ids of the tokens of some texts that are punctuation marks and nothing else."""
    readings = read_tokens(model, {token_id for text in texts for token_id in text.ids})
    marks = {
        token_id
        for token_id, reading in readings.items()
        if (body := reading.body.strip()) and all(unicodedata.category(one).startswith("P") for one in body)
    }
    return frozenset(marks)


def _start_ids(model: LoadedModel) -> list[int]:
    """What stands before every text of a causal model."""
    with_start = encode_prompt(model, "a")
    with model.tokenizer_lock:
        plain = model.tokenizer("a", add_special_tokens=False, verbose=False)["input_ids"]
    return with_start[: len(with_start) - len(plain)]


def _about(number: int, texts: Sequence[str], error: UnsuitableText) -> UnsuitableText:
    return UnsuitableText(f"Text {number}: {error}") if len(texts) > 1 else error
