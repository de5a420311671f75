"""Span corruption as a pre-training objective, and its held-out report."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.analysis.corruption.sentinels import (
    MEAN_SPAN_TOKENS,
    SPAN_SHARE,
    find_sentinels,
    pick_spans,
    replace_spans,
)
from explorer.training.evaluating import evaluating
from explorer.training.objective import Objective
from explorer.training.predictions import head_inputs, prediction_loss
from explorer.training.rows import edges, with_edges

MAX_WORD_TOKENS = 4  # a longer answer to a one-word span is wrong anyway


class SpanObjective(Objective):
    """Write what each sentinel stands for.

    Args:
        network: An encoder-decoder, trained in place.
        tokenizer: Of the network, with sentinels.
        share: Of the tokens that spans take, in (0, 1).
        mean_span_tokens: Mean length of a span.
        head_learning_rate: See Objective.

    Source: Raffel et al. 2020, https://arxiv.org/abs/1910.10683
    """

    has_marks = False

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        share: float = SPAN_SHARE,
        mean_span_tokens: float = MEAN_SPAN_TOKENS,
        head_learning_rate: float | None = None,
    ) -> None:
        super().__init__(network, tokenizer, head_learning_rate=head_learning_rate)
        self._edges = edges(tokenizer)  # set around what is left of a row
        self._sentinels = torch.tensor(find_sentinels(tokenizer))
        self._start_id, self._end_id = network.config.decoder_start_token_id, network.config.eos_token_id
        self._share, self._mean_span_tokens = share, mean_span_tokens

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """Mean cross-entropy of the target's tokens, sentinels included; the same twice."""
        picked = pick_spans(*ids.shape, share=self._share, mean_span_tokens=self._mean_span_tokens, generator=generator)
        inputs, targets = replace_spans(ids, picked, self._sentinels)
        inputs, targets = (
            part.to(self.network.device)
            for part in (with_edges(inputs, *self._edges), with_edges(targets, [], [self._end_id]))
        )
        hidden = decode(self.network, encode(self.network, inputs), shift_right(targets, self._start_id))
        loss = prediction_loss(self.network, hidden.flatten(0, 1), targets.flatten())
        return loss, loss.item()


def encode(network: PreTrainedModel, inputs: Int[Tensor, "row token"]) -> Float[Tensor, "row token dim"]:
    """The encoder's last hidden states."""
    return network.get_encoder()(inputs).last_hidden_state


def decode(
    network: PreTrainedModel, memory: Float[Tensor, "row key dim"], inputs: Int[Tensor, "row query"]
) -> Float[Tensor, "row query dim"]:
    """The decoder's last hidden states, before the head."""
    decoder = network.get_decoder().base_model
    return decoder(input_ids=inputs, encoder_hidden_states=memory, use_cache=False).last_hidden_state


def shift_right(targets: Int[Tensor, "row token"], start_id: int) -> Int[Tensor, "row token"]:
    """What the decoder reads while it writes the targets."""
    return torch.cat([torch.full_like(targets[:, :1], start_id), targets[:, :-1]], dim=1)


@dataclass(frozen=True)
class SpanReport:
    """How often one word of a row of held-out text is written exactly.

    Attributes:
        length_tokens: Of each row, special tokens included.
        words: How many rows, with one span of one word each.
        exact_match: Share of them whose greedy answer is the word, in [0, 1].
        loss_nats: Mean cross-entropy per token of the words, sentinels not counted.
    """

    length_tokens: int
    words: int
    exact_match: float
    loss_nats: float


@torch.inference_mode()
def measure_spans(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Int[Tensor, "row token"],
    *,
    seed: int = 0,
    batch_rows: int = 64,
) -> SpanReport:
    """Replace one word of each row by a sentinel, and let the model write it, greedily.

    Args:
        network: An encoder-decoder.
        tokenizer: Of the network, with sentinels.
        rows: Held-out windows without special tokens.
        seed: Of the choice of words; the same seed picks the same for every model of one tokenizer.
        batch_rows: Rows per forward pass.
    """
    before, after = edges(tokenizer)
    sentinels = find_sentinels(tokenizer)[:2]
    by_length: dict[tuple[int, int], list[tuple[list[int], list[int]]]] = {}
    generator = torch.Generator().manual_seed(seed)
    for row in rows.tolist():
        words = find_words(tokenizer, row)
        if not words:
            continue
        start, end = words[int(torch.randint(len(words), (), generator=generator))]
        inputs = [*before, *row[:start], sentinels[0], *row[end:], *after]
        by_length.setdefault((len(inputs), end - start), []).append((inputs, row[start:end]))
    right = words_seen = tokens = 0
    loss = 0.0
    batches = [same[k : k + batch_rows] for same in by_length.values() for k in range(0, len(same), batch_rows)]
    with evaluating(network):
        for batch in batches:
            inputs, wanted = (torch.tensor(part, device=network.device) for part in zip(*batch, strict=True))
            targets = with_edges(wanted, [sentinels[0]], [sentinels[1]])
            shifted = shift_right(targets, network.config.decoder_start_token_id)
            hidden = decode(network, encode(network, inputs), shifted)
            # The greedy answer is the word if and only if every token of it, and the end, is the likeliest in its turn.
            logits = network.get_output_embeddings()(head_inputs(network, hidden[:, 1:])).float()
            right += int((logits.argmax(dim=-1) == targets[:, 1:]).all(dim=1).sum())
            log_probabilities = logits[:, :-1].log_softmax(dim=-1).gather(2, wanted[:, :, None])
            loss -= float(log_probabilities.sum())
            tokens += wanted.numel()
            words_seen += len(wanted)
    count = len(before) + len(after)
    return SpanReport(rows.shape[1] + count, words_seen, right / max(1, words_seen), loss / max(1, tokens))


def find_words(tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> list[tuple[int, int]]:
    """Start and end (exclusive) of the words of a row that are made of letters, but for its first and last word."""
    tokens = tokenizer.convert_ids_to_tokens(ids)
    byte_level = any(token.startswith("Ġ") for token in tokens)
    begins = [token.startswith("Ġ") if byte_level else not token.startswith("##") for token in tokens]
    parts = [token.strip("#Ġ") for token in tokens]  # those that are not ASCII may be half a letter
    starts = [k for k, begin in enumerate(begins) if begin or (parts[k].isascii() and not parts[k].isalpha())]
    return [
        (start, end)
        for start, end in zip(starts[1:], starts[2:], strict=False)
        if end - start <= MAX_WORD_TOKENS and tokenizer.convert_tokens_to_string(tokens[start:end]).strip().isalpha()
    ]
