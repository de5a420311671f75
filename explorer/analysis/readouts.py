"""What a model says of a text in one forward pass of its own: at its blanks, next, while it writes, or as a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.analysis.attention_inputs import Part
from explorer.analysis.attention_sides import encode_beside
from explorer.analysis.blanks import BLANK, check_blanks, find_blanks, parse_blanks
from explorer.analysis.corruption.sentinels import find_sentinels
from explorer.analysis.head_texts import encode_texts, reads_left_to_right
from explorer.analysis.prompts import encode_prompt
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability

MOST_WRITTEN = 16  # tokens


@dataclass(frozen=True, eq=False)
class Said:
    """What a model says.

    Attributes:
        scores: Log-probabilities in nats at each place.
        embedding: Mean of the last layer's vectors, special tokens among them; None for a model that reads from left
            to right.
    """

    scores: Float[Tensor, "place vocab"]
    embedding: Float[Tensor, " dim"] | None


@dataclass(frozen=True, eq=False)
class Question:
    """A text, and how to ask a model about it again and again.

    Attributes:
        readout: A key of ablation_results.READOUTS.
        ids: What is read, special tokens included.
        positions: Where the model says something.
        written: What the intact model wrote; nothing for others.
        ask: One forward pass, in the thread that calls it.
    """

    readout: str
    ids: tuple[int, ...]
    positions: tuple[int, ...]
    written: tuple[int, ...]
    ask: Callable[[], Said]


def ask_about(model: LoadedModel, text: str, second_text: str | None = None, written: Sequence[int] = ()) -> Question:
    """Choose what a model is asked about a text: its blanks, what comes next, what it writes, or its embedding.

    Args:
        model: Any with attention.
        text: With blanks, ___, for a masked model that is to fill them.
        second_text: The second of a pair, with blanks likewise; for a causal model, what was written behind the text.
        written: For a causal model, instead: the very tokens that it wrote there.

    Raises:
        UnsuitableText: A text cannot be read; or a decoder, which writes here, is to read one.
    """
    is_alone = not written and not (second_text or "").strip()
    if model.network.config.is_encoder_decoder:
        if not is_alone:
            raise UnsuitableText(f"The decoder of {model.card.name} writes by itself here: leave the second text out.")
        return _ask_writer(model, text)
    if not is_alone:
        return _ask_beside(model, encode_beside(model, text, second_text, written).first)
    if reads_left_to_right(model):
        ids = tuple(encode_prompt(model, text))
        return _ask_stack(model, "next", ids, (len(ids) - 1,))
    if Ability.FILL_BLANKS in model.card.abilities and find_blanks(text, model.tokenizer.mask_token):
        parsed = parse_blanks(model, text)
        return _ask_stack(model, "blanks", parsed.ids, parsed.positions)
    [encoded] = encode_texts(model, [text])
    return _ask_stack(model, "embedding", encoded.ids, ())


def _ask_beside(model: LoadedModel, read: Part) -> Question:
    """A pair of texts, or a text and what was written behind it."""
    if reads_left_to_right(model):
        return _ask_stack(model, "next", read.ids, (len(read.ids) - 1,))
    fills = Ability.FILL_BLANKS in model.card.abilities
    blanks = tuple(place for place, token_id in enumerate(read.ids) if token_id == model.tokenizer.mask_token_id)
    if not fills or not blanks:
        return _ask_stack(model, "embedding", read.ids, (), read.types)
    check_blanks(len(blanks))
    return _ask_stack(model, "blanks", read.ids, blanks, read.types)


def _ask_stack(
    model: LoadedModel, readout: str, ids: tuple[int, ...], positions: tuple[int, ...], types: tuple[int, ...] = ()
) -> Question:
    network = model.network
    asked = network if positions else network.base_model
    row = Part(ids, (), types).tensors(network.device)

    @torch.inference_mode()
    def ask() -> Said:
        output = asked(**row, output_hidden_states=True, return_dict=True)
        scores = torch.empty(0, 0)
        if positions:
            logits = output["logits" if "logits" in output else "prediction_logits"]  # a BERT with both its heads
            scores = logits[0, list(positions)].float().log_softmax(dim=-1)
        return Said(scores, None if readout == "next" else output.hidden_states[-1][0].float().mean(dim=0))

    return Question(readout, ids, positions, (), ask)


def _ask_writer(model: LoadedModel, text: str) -> Question:
    """The decoder of an encoder-decoder, made to read what the intact one writes."""
    network, tokenizer = model.network, model.tokenizer
    blanks = find_blanks(text, tokenizer.mask_token)
    vocabulary = tokenizer.get_vocab()
    begin: list[int] = []
    behind: list[int] = []  # the sentinel that ends what stands in the last blank
    if blanks and "<extra_id_0>" in vocabulary:
        sentinels = find_sentinels(tokenizer)
        if len(blanks) > len(sentinels):
            raise UnsuitableText(f"The text has {len(blanks)} blanks; at most {len(sentinels)} are read.")
        edges = [0, *(edge for span in blanks for edge in span), len(text)]
        parts = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
        marks = tokenizer.convert_ids_to_tokens(sentinels[: len(blanks)])
        text = "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True))
        begin, behind = [sentinels[0]], sentinels[len(blanks) : len(blanks) + 1]
    elif blanks and not tokenizer.mask_token:
        raise UnsuitableText(f"{model.card.name} has no token for a blank. Write the text without {BLANK}.")
    [encoded] = encode_texts(model, [text])
    row = torch.tensor([encoded.ids], device=network.device)
    started = [network.config.decoder_start_token_id or 0, *begin]
    ends = {network.config.eos_token_id, *behind}

    @torch.inference_mode()
    def say(after: list[int]) -> tuple[Tensor, Tensor]:
        given = torch.tensor([after], device=network.device)
        output = network(input_ids=row, decoder_input_ids=given, use_cache=False, return_dict=True)
        return output.logits[0].float().log_softmax(dim=-1), output.encoder_last_hidden_state[0].float().mean(dim=0)

    written: list[int] = []
    while len(written) < MOST_WRITTEN and not (written and written[-1] in ends):
        written.append(int(say(started + written)[0][-1].argmax()))
    positions = tuple(range(len(started) - 1, len(started) - 1 + len(written)))

    @torch.inference_mode()
    def ask() -> Said:
        scores, embedding = say(started + written[:-1])
        return Said(scores[list(positions)], embedding)

    return Question("written", encoded.ids, positions, tuple(written), ask)
