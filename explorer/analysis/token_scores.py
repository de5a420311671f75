"""Log-probabilities of the tokens of texts, all rows of all texts in shared forward passes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.analysis.distributions import entropies, likeliest, ranks
from explorer.analysis.scorable import Scorable
from explorer.analysis.scoring_results import TokenScore
from explorer.analysis.search import groups_within, rows_at_once
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

DIRECTIONS = {
    "left_to_right": ("forward",),
    "one_masked": ("both",),
    "word_masked": ("both",),
    "both_directions": ("forward", "backward"),
}


@dataclass(frozen=True)
class _Ask:
    """One forward pass: a row, and which tokens of which text its positions predict."""

    row: Row
    owner: int
    numbers: tuple[int, ...]


def score_tokens(
    model: LoadedModel,
    texts: Sequence[Scorable],
    protocol: str,
    *,
    alternatives: int,
    wanted: Sequence[Sequence[int]] | None = None,
) -> list[list[tuple[TokenScore, ...]]]:
    """Scores of the tokens of texts.

    Args:
        model: One that the protocol suits.
        texts: Tokenized for this protocol.
        protocol: A key of PROTOCOLS.
        alternatives: How many of the likeliest tokens stand beside each.
        wanted: Which of each text's own tokens; None = all. Of these, one that nothing stands before is not scored.

    Returns:
        For each direction of the protocol, for each text, its tokens in order.
    """
    numbers = [tuple(range(len(text.places))) for text in texts] if wanted is None else [tuple(some) for some in wanted]
    found = []
    for direction in DIRECTIONS[protocol]:
        scored: list[dict[int, TokenScore]] = [{} for _ in texts]
        for asks, logits in _answers(model, texts, numbers, protocol, direction):
            places = [(ask.owner, number) for ask in asks for number in ask.numbers]
            tokens = _read(model, texts, places, logits, alternatives)
            for (owner, number), token in zip(places, tokens, strict=True):
                scored[owner][number] = token
        found.append(
            [
                tuple(scored[owner].get(number) or _unscored(texts[owner], number) for number in numbers[owner])
                for owner in range(len(texts))
            ]
        )
    return found


def _answers(
    model: LoadedModel, texts: Sequence[Scorable], numbers: Sequence[Sequence[int]], protocol: str, direction: str
) -> Iterator[tuple[list[_Ask], Float[Tensor, "position vocab"]]]:
    """What was asked, and the logits, as many at a time as may be held."""
    if protocol == "both_directions":
        for owner, text in enumerate(texts):
            output = model.network(input_ids=torch.tensor([text.ids], device=model.network.device))
            places = tuple(text.places[number] for number in numbers[owner])
            logits = output[f"{direction}_logits"][0, list(places)].float()
            yield [_Ask(Row(text.ids, places), owner, tuple(numbers[owner]))], logits
        return
    most = rows_at_once(len(model.network.get_input_embeddings().weight))
    asks = [
        ask
        for owner, text in enumerate(texts)
        for ask in (
            _from_left(text, owner, numbers[owner], most)
            if protocol == "left_to_right"
            else _masked(
                text, owner, numbers[owner], model.tokenizer.mask_token_id, whole_word=protocol == "word_masked"
            )
        )
    ]
    for group in groups_within(asks, lambda ask: len(ask.numbers), most):
        yield group, torch.cat(masked_logits(model, [ask.row for ask in group]))


def _from_left(text: Scorable, owner: int, numbers: Sequence[int], most: int) -> Iterator[_Ask]:
    """One pass for all tokens of a text, or a few where the vocabulary is large."""
    able = [number for number in numbers if text.places[number] > 0]
    for first in range(0, len(able), most):
        some = tuple(able[first : first + most])
        before = tuple(text.places[number] - 1 for number in some)
        yield _Ask(Row(text.ids[: before[-1] + 1], before), owner, some)


def _masked(text: Scorable, owner: int, numbers: Sequence[int], mask_id: int, *, whole_word: bool) -> Iterator[_Ask]:
    """One pass for each token, which is masked, alone or with the later ones of its word."""
    for number in numbers:
        ids = list(text.ids)
        for other, place in enumerate(text.places):
            if other == number or (whole_word and other > number and text.word_of[other] == text.word_of[number]):
                ids[place] = mask_id
        yield _Ask(Row(tuple(ids), (text.places[number],)), owner, (number,))


def _read(
    model: LoadedModel,
    texts: Sequence[Scorable],
    places: Sequence[tuple[int, int]],
    logits: Float[Tensor, "position vocab"],
    alternatives: int,
) -> Iterator[TokenScore]:
    """Scores of tokens from the logits of their places."""
    right = [texts[owner].ids[texts[owner].places[number]] for owner, number in places]
    ids = torch.tensor(right, device=logits.device)
    scores = logits.log_softmax(dim=-1)
    columns = zip(
        places,
        scores.gather(1, ids[:, None])[:, 0].tolist(),
        ranks(logits, ids).tolist(),
        entropies(scores).tolist(),
        likeliest(model, scores, alternatives) if alternatives else [()] * len(places),
        strict=True,
    )
    for (owner, number), log_probability, rank, entropy, others in columns:
        text, (start, end) = texts[owner], texts[owner].spans[number]
        place = text.places[number]
        yield TokenScore(
            text=text.text[start:end],
            token=text.tokens[place],
            token_id=text.ids[place],
            start=start,
            end=end,
            log_probability=log_probability,
            surprisal_bits=bits(log_probability),
            rank=rank,
            entropy_bits=entropy / math.log(2),
            alternatives=others,
        )


def _unscored(text: Scorable, number: int) -> TokenScore:
    (start, end), place = text.spans[number], text.places[number]
    return TokenScore(text.text[start:end], text.tokens[place], text.ids[place], start, end, None, None, None, None, ())


def bits(log_probability: float) -> float:
    """Surprisal in bits of a log-probability in nats."""
    return -log_probability / math.log(2)
