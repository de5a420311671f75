"""What a model is to read when its attention is looked at: token ids, and what each of them stands for."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from transformers import BatchEncoding, PreTrainedTokenizerBase

from explorer.analysis.attention_results import AttentionToken
from explorer.analysis.attention_words import number_words, split_at_words
from explorer.analysis.blanks import BLANK, check_characters, check_tokens, find_blanks, refuse_foreign_masks
from explorer.analysis.prompts import check_ids, encode_prompt
from explorer.analysis.scorable import find_words, trim_span
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.written_text import WrittenText

MOST_SENTINELS = 100
Span = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """Some of what a model reads.

    Attributes:
        ids: Token ids, no more than the model reads.
        tokens: What each of them is.
        types: Of each token, which of a pair of texts it belongs to; () where the model is not told.
    """

    ids: tuple[int, ...]
    tokens: tuple[AttentionToken, ...]
    types: tuple[int, ...] = ()

    def tensors(self, device: torch.device) -> dict[str, Tensor]:
        """As the network takes it, one row."""
        given = {"input_ids": torch.tensor([self.ids], device=device)}
        if self.types:
            given["token_type_ids"] = torch.tensor([self.types], device=device)
        return given


def encode_texts(model: LoadedModel, text: str, second_text: str | None = None) -> Part:
    """A text, or a pair of texts, with the special tokens that the model sets and masks for blanks.

    Raises:
        UnsuitableModel: Its tokenizer cannot say where a token stands.
        UnsuitableText: One is empty, too long, or holds what cannot be read.
    """
    texts = [text] if second_text is None else [text, second_text]
    seen, solid = [], []
    for one in texts:
        _check(
            one, "There is no text. Write a sentence." if len(texts) == 1 else "Write both texts, or the first alone."
        )
        masked, spans = put_masks(model, one)
        seen.append(masked)
        solid.append(spans)
    encoded, names = _encode(model, *seen)
    ids, offsets, texts_of = encoded["input_ids"], encoded["offset_mapping"], encoded.sequence_ids(0)
    special = special_ids(model)
    tokens: list[AttentionToken | None] = [None] * len(ids)
    words = 0
    for segment, one in enumerate(seen):
        own = [k for k, of in enumerate(texts_of) if of == segment and ids[k] not in special]
        found = describe([names[k] for k in own], [offsets[k] for k in own], one, solid[segment], segment, words)
        words = max((token.word + 1 for token in found), default=words)
        for k, token in zip(own, found, strict=True):
            tokens[k] = token
    segment = 0
    for k, name in enumerate(names):
        segment = texts_of[k] if texts_of[k] is not None else segment
        tokens[k] = tokens[k] or AttentionToken(name, None, segment, is_special=True)
    types = encoded.get("token_type_ids", ()) if "token_type_ids" in _arguments_of(model) else ()
    check_tokens(model, len(ids))
    return Part(tuple(ids), tuple(tokens), tuple(types))


def encode_left(model: LoadedModel, text: str, second_text: str | None = None, written: Sequence[int] = ()) -> Part:
    """A text for a causal model, and what was written behind it: as text, or as the very tokens.

    Raises:
        UnsuitableModel: As encode_texts.
        UnsuitableText: It is empty, too long, or holds what cannot be read.
    """
    check_characters(text)
    whole = text if second_text is None else join(text, second_text)
    if not written:
        _check(whole, "There is no text. Write a sentence.")
    ids = encode_prompt(model, whole)
    check_ids(model, written)
    check_tokens(model, len(ids) + len(written))
    offsets: list[Span] = []
    if whole:
        encoded, _ = _encode(model, whole, marks=False)
        offsets = list(encoded["offset_mapping"])
    started = len(ids) - len(offsets)
    border = len(offsets) if second_text is None else sum(start < len(text) for start, _ in offsets)
    said, spans = _say(model, ids, written, len(whole))
    return _behind(model, [*ids, *written], started, whole + said, [*offsets, *spans], border)


def encode_right(model: LoadedModel, second_text: str, words: int) -> Part:
    """What the decoder of an encoder-decoder reads of a text: it starts with a token of its own, and sees no end.

    Raises:
        UnsuitableModel: As encode_texts.
        UnsuitableText: It is empty, too long, or holds what cannot be read.
    """
    _check(second_text, "The second text is empty. Write one, or let the model write it.")
    seen, solid = put_masks(model, second_text)
    encoded, _ = _encode(model, seen, marks=False)
    start = start_ids(model)
    check_tokens(model, len(start) + len(encoded["input_ids"]))
    ids, offsets = [*start, *encoded["input_ids"]], list(encoded["offset_mapping"])
    return _behind(model, ids, len(start), seen, offsets, 0, words, solid)


def describe_written(model: LoadedModel, written: Sequence[int], words: int) -> tuple[str, Part]:
    """What a decoder has written behind its start, as text and as what it reads."""
    start = start_ids(model)
    said, spans = _say(model, start, written, 0)
    return said.strip(), _behind(model, [*start, *written], len(start), said, spans, 0, words)


def start_ids(model: LoadedModel) -> list[int]:
    """What a decoder begins with."""
    bos = model.tokenizer.bos_token_id
    begin = model.network.config.decoder_start_token_id
    return [begin] if bos is None or bos == begin else [begin, bos]


def special_ids(model: LoadedModel) -> set[int]:
    """Ids that stand for no part of a text: not those of blanks, nor of what the vocabulary lacks."""
    tokenizer = model.tokenizer
    with model.tokenizer_lock:
        blanks = {tokenizer.unk_token_id, tokenizer.mask_token_id, *sentinel_ids(tokenizer)}
        return set(tokenizer.all_special_ids) - blanks


def sentinel_ids(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Ids of T5's <extra_id_0>, <extra_id_1>, … as far as the vocabulary has them."""
    vocabulary = tokenizer.get_vocab()
    return [vocabulary[name] for number in range(MOST_SENTINELS) if (name := f"<extra_id_{number}>") in vocabulary]


def next_sentinel(model: LoadedModel, text: str) -> int | None:
    """The sentinel behind those of the blanks of a text, with which T5 ends its answer; None where it is not asked so.

    Args:
        model: An encoder-decoder.
        text: What its encoder reads.
    """
    sentinels, blanks = sentinel_ids(model.tokenizer), len(find_blanks(text, None))
    return sentinels[blanks] if 0 < blanks < len(sentinels) else None


def put_masks(model: LoadedModel, text: str) -> tuple[str, list[Span]]:
    """A text as the model sees it, with masks or sentinels for blanks, and where these stand in it."""
    tokenizer = model.tokenizer
    sentinels = bool(sentinel_ids(tokenizer)) and model.network.config.is_encoder_decoder
    if not sentinels:
        if tokenizer.mask_token is None:
            return text, []
        refuse_foreign_masks(text, tokenizer.mask_token)
    seen, spans, last = "", [], 0
    for number, (start, end) in enumerate(find_blanks(text, None if sentinels else tokenizer.mask_token)):
        seen += text[last:start]
        mask = f"<extra_id_{number}>" if sentinels else tokenizer.mask_token
        spans.append((len(seen), len(seen) + len(mask)))
        seen, last = seen + mask, end
    return seen + text[last:], spans


def describe(
    names: Sequence[str], offsets: Sequence[Span], text: str, solid: Sequence[Span], segment: int, words: int
) -> list[AttentionToken]:
    """What tokens of a text are.

    Args:
        names: As the vocabulary spells them.
        offsets: Where they stand, in characters.
        text: As the model sees it.
        solid: Where blanks stand.
        segment: Which text it is.
        words: How many words stand before it.
    """
    spans = [trim_span(text, span, name) for span, name in zip(offsets, names, strict=True)]
    of = number_words(list(find_words(spans, split_at_words(text, solid))), words)
    tokens, done = [], 0
    for name, (start, end), word in zip(names, spans, of, strict=True):
        surface = BLANK if (start, end) in solid else text[max(start, done) : end]
        done = max(done, end)
        tokens.append(AttentionToken(name, word, segment, is_special=False, surface=surface))
    return tokens


def join(text: str, second_text: str) -> str:
    """Two texts that follow each other, with a space where two words would run into one."""
    check_characters(second_text)
    meet = text[-1:] + second_text[:1]
    return text + " " * (len(meet) == 2 and not meet[0].isspace() and meet[1].isalnum()) + second_text


def _behind(
    model: LoadedModel,
    ids: Sequence[int],
    started: int,
    text: str,
    offsets: Sequence[Span],
    border: int,
    words: int = 0,
    solid: Sequence[Span] = (),
) -> Part:
    """Tokens behind those that start the text; the first `border` of them are of the first text."""
    special = special_ids(model)
    with model.tokenizer_lock:
        names = model.tokenizer.convert_ids_to_tokens(list(ids))
    own = describe(names[started:], offsets, text, solid, 0, words)
    tokens = [AttentionToken(name, None, 0 if border else 1, is_special=True) for name in names[:started]]
    for place, (token_id, token) in enumerate(zip(ids[started:], own, strict=True)):
        segment = 0 if place < border else 1
        is_special = token_id in special
        tokens.append(
            AttentionToken(token.text, None, segment, is_special=True)
            if is_special
            else replace(token, segment=segment)
        )
    return Part(tuple(ids), tuple(tokens))


def _say(model: LoadedModel, before: Sequence[int], written: Sequence[int], at: int) -> tuple[str, list[Span]]:
    """What tokens add to a text, and where, from the character `at` on."""
    text, said, spans = WrittenText(model, before), "", []
    for token_id in written:
        added = text.add(token_id, text.look([token_id])[0])
        spans.append((at + len(said), at + len(said) + len(added)))
        said += added
    return said, spans


def _encode(model: LoadedModel, *seen: str, marks: bool = True) -> tuple[BatchEncoding, list[str]]:
    tokenizer = model.tokenizer
    if not tokenizer.is_fast:
        raise UnsuitableModel(f"The tokenizer of {model.card.name} does not say where its tokens stand in a text.")
    with model.tokenizer_lock:
        encoded = tokenizer(*seen, add_special_tokens=marks, return_offsets_mapping=True, verbose=False)
        return encoded, tokenizer.convert_ids_to_tokens(encoded["input_ids"])


def _check(text: str, message: str) -> None:
    check_characters(text)
    if not text.strip():
        raise UnsuitableText(message)


def _arguments_of(model: LoadedModel) -> Collection[str]:
    return inspect.signature(model.network.base_model.forward).parameters
