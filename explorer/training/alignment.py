"""What a decoder's new attention should read first: for each sentinel, what the encoder makes of that place.

An encoder that fills blanks knows what a sentinel stands for; a decoder of the same layers has only to look there. By
gradients alone that takes a million tokens to find out, but it can be solved for: queries and keys are fitted to one
code for each sentinel, and the last layer's output to what the encoder's own last layer feeds forward.

Source: warm start as in Rothe et al. 2020, https://arxiv.org/abs/1907.12461; the fit is this project's own.
"""

from collections.abc import Sequence
from contextlib import ExitStack

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import EncoderDecoderModel, PreTrainedTokenizerBase

from explorer.analysis.corruption.sentinels import find_sentinels, pick_spans, replace_spans
from explorer.training.evaluating import evaluating
from explorer.training.rows import edges, with_edges
from explorer.training.spans import shift_right

FITTED_ROWS, FITTED_TOKENS = 1280, 62  # text to fit to
BATCH_ROWS = 64
SHARE, MEAN_SPAN_TOKENS = 0.3, 2.0
RIDGE = 10.0  # keeps the fit from following noise
SHARPNESS = 1500.0  # of attention: fitted codes are faint, and only differences of several nats pick one place out
STRENGTH = 4.0  # of what is read, beside what the decoder had


@torch.no_grad()
def align_cross_attention(
    network: EncoderDecoderModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Int[Tensor, "row token"],
    *,
    seed: int = 0,
) -> None:
    """Let the last layer of a decoder read the encoder's answer at the sentinel it stands at; the others read nothing.

    Args:
        network: Two BERTs that share their layers, changed in place: only the decoder's attention to the encoder is.
        tokenizer: Of the network, with sentinels.
        rows: Text without special tokens, enough for a fit: some ten thousand tokens.
        seed: Of the spans, and of which sentinel stands for which.
    """
    sentinels = torch.tensor(find_sentinels(tokenizer))
    with evaluating(network):
        read, written = _states(network, tokenizer, rows, sentinels, torch.Generator().manual_seed(seed))
    *lower, last = network.decoder.bert.encoder.layer
    for layer, before in zip(lower, written.before, strict=False):
        _pass_by(layer.crossattention.output, before)
    _look_at_sentinel(last.crossattention.self, read, written, sentinels)
    _write_what_was_read(last, read, torch.isin(read.ids, sentinels))


class _States:
    """Hidden states of many tokens.

    Attributes:
        ids: What each token is; for the decoder, the sentinel whose span it belongs to; [token].
        before: Of each layer, behind its attention to its own tokens, each [token, dim].
        last: Behind the last layer, [token, dim].
    """

    def __init__(self, ids: Sequence[Tensor], before: Sequence[Sequence[Tensor]], last: Sequence[Tensor]) -> None:
        self.ids = torch.cat([part.flatten() for part in ids])
        self.before = [torch.cat([part.flatten(0, 1) for part in layer]) for layer in zip(*before, strict=True)]
        self.last = torch.cat([part.flatten(0, 1) for part in last])


def _states(
    network: EncoderDecoderModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Tensor,
    sentinels: Tensor,
    generator: torch.Generator,
) -> tuple[_States, _States]:
    """Of the encoder, and of the decoder as if it had no attention to the encoder."""
    sides = edges(tokenizer)
    read, written = ([], [], []), ([], [], [])
    for part in rows.split(BATCH_ROWS):
        picked = pick_spans(*part.shape, share=SHARE, mean_span_tokens=MEAN_SPAN_TOKENS, generator=generator)
        inputs, targets = replace_spans(part, picked, sentinels)
        orders = sentinels[torch.rand(len(part), len(sentinels), generator=generator).argsort(dim=1)]
        inputs, targets = (_renumber(ids, sentinels, orders) for ids in (inputs, targets))
        inputs = with_edges(inputs, *sides)
        targets = shift_right(targets, network.config.decoder_start_token_id)
        length = targets.shape[1]
        causal = torch.ones(length, length, dtype=torch.bool).tril().expand(len(targets), 1, -1, -1)
        for ids, mask, shown, found in (
            (inputs, None, inputs, read),
            (targets, causal, _current_sentinel(targets, sentinels), written),
        ):
            before, last = _run(network, ids, mask)
            for values, value in zip(found, (shown, before, last), strict=True):
                values.append(value)
    return _States(*read), _States(*written)


def _run(network: EncoderDecoderModel, ids: Tensor, mask: Bool[Tensor, "row 1 query key"] | None) -> tuple:
    """The shared layers under a mask: states behind each attention, and behind the last layer, on the CPU."""
    before: list[Tensor] = []
    with ExitStack() as stack:
        for layer in network.encoder.encoder.layer:
            hook = layer.attention.output.register_forward_hook(lambda *call: before.append(call[-1].cpu()))
            stack.callback(hook.remove)
        device = network.device
        given = None if mask is None else torch.zeros(mask.shape).masked_fill(~mask, -torch.inf).to(device)
        last = network.encoder(ids.to(device), attention_mask=given).last_hidden_state
    return before, last.cpu()


def _renumber(
    ids: Int[Tensor, "row token"], sentinels: Tensor, orders: Int[Tensor, "row sentinel"]
) -> Int[Tensor, "row token"]:
    """Put the sentinels of each row into another order, so that each comes first some time."""
    is_it = ids[:, :, None] == sentinels
    return torch.where(is_it.any(dim=2), orders.gather(1, is_it.int().argmax(dim=2)), ids)


def _current_sentinel(targets: Int[Tensor, "row token"], sentinels: Tensor) -> Int[Tensor, "row token"]:
    """The last sentinel up to each token; -1 before the first."""
    place = torch.where(torch.isin(targets, sentinels), torch.arange(targets.shape[1]), -1).cummax(dim=1).values
    return torch.where(place >= 0, targets.gather(1, place.clamp(min=0)), -1)


def _fit(
    states: Float[Tensor, "token dim"], wanted: Float[Tensor, "token out"], weights: Float[Tensor, " token"]
) -> tuple[Float[Tensor, "out dim"], Float[Tensor, " out"]]:
    """Weight and bias of the linear map from states to what is wanted, by ridge regression."""
    inputs = torch.cat([states, torch.ones(len(states), 1)], dim=1)
    weighed = inputs.T * weights
    solved = torch.linalg.solve(weighed @ inputs + RIDGE * torch.eye(inputs.shape[1]), weighed @ wanted)
    return solved[:-1].T, solved[-1]


def _pass_by(output: nn.Module, before: Float[Tensor, "token dim"]) -> None:
    """Let attention to the encoder add nothing, and its norm leave the states as they were."""
    output.dense.weight.zero_()
    output.dense.bias.zero_()
    norm = output.LayerNorm
    normed = nn.functional.layer_norm(before, norm.normalized_shape, eps=norm.eps)
    gain = ((normed - normed.mean(0)) * before).mean(0) / normed.var(0, unbiased=False)
    norm.weight.copy_(gain)
    norm.bias.copy_(before.mean(0) - gain * normed.mean(0))


def _look_at_sentinel(attention: nn.Module, read: _States, written: _States, sentinels: Tensor) -> None:
    """Give each sentinel a code, the same in all heads, that queries and keys agree on."""
    heads = attention.num_attention_heads
    codes = nn.init.orthogonal_(
        torch.empty(len(sentinels), attention.attention_head_size), generator=torch.Generator().manual_seed(0)
    )
    sides = ((attention.key, read.ids, read.last, 3.0), (attention.query, written.ids, written.before[-1], 1.0))
    for linear, ids, states, weight in sides:
        is_it = ids[:, None] == sentinels  # [token, sentinel]
        matrix, bias = _fit(states, is_it.float() @ codes, torch.where(is_it.any(dim=1), weight, 1.0))
        linear.weight.copy_(SHARPNESS**0.5 * matrix.repeat(heads, 1))
        linear.bias.copy_(SHARPNESS**0.5 * bias.repeat(heads))


def _write_what_was_read(layer: nn.Module, read: _States, is_sentinel: Bool[Tensor, " token"]) -> None:
    """Let attention to the encoder give what the encoder's own last layer had behind its attention."""
    cross, norm = layer.crossattention, layer.attention.output.LayerNorm
    nn.init.eye_(cross.self.value.weight)
    cross.self.value.bias.zero_()
    normed = (read.before[-1] - norm.bias.cpu()) / norm.weight.cpu()
    matrix, bias = _fit(read.last, normed, torch.where(is_sentinel, 1.2, 0.2))
    cross.output.dense.weight.copy_(STRENGTH * matrix)
    cross.output.dense.bias.copy_(STRENGTH * bias)
    cross.output.LayerNorm.load_state_dict(norm.state_dict())
