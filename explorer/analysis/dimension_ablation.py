"""What some numbers of a layer's vectors do for predictions: put others in their place, and compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from explorer.analysis.anisotropy_results import AblatedPrediction, DimensionAblation
from explorer.analysis.head_ablation import divergences
from explorer.analysis.intervals import mean_intervals
from explorer.analysis.prompts import EVERY_ORDER
from explorer.analysis.vector_stream import Census, Corpus, read_corpus
from explorer.errors import UnsuitableModel
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.changed_layer import changed_layer
from explorer.models.final_states import predict_from_states

DRAWS = 5  # sets of random numbers, to compare with
NUMBERS_AT_ONCE = 2**24  # of the vocabulary's scores, over versions and places
TOKENS_AT_ONCE = 2**13  # over versions and sentences, where all of these go through the layers above


def predicts_tokens(model: LoadedModel) -> bool:
    """Whether the model is masked; otherwise it is causal.

    Raises:
        UnsuitableModel: It is neither.
    """
    abilities = model.card.abilities
    is_masked = Ability.FILL_BLANKS in abilities and model.tokenizer.mask_token_id is not None
    is_causal = Ability.GENERATE in abilities and model.card.model_type not in EVERY_ORDER
    if not is_masked and not is_causal:
        raise UnsuitableModel(
            f"{model.card.name} is neither a masked nor a causal model: what its predictions lose is not measured here."
        )
    return is_masked


def ablate_dimensions(
    model: LoadedModel,
    corpus: Corpus,
    census: Census,
    top: Int[np.ndarray, " top"],
    mean: Float[np.ndarray, " dim"],
    *,
    layer: int,
    is_last: bool,
    places: int = 200,
    value: str = "mean",
    draws: int = DRAWS,
    seed: int = 0,
) -> DimensionAblation:
    """Compare a model's predictions with those from a layer without some numbers.

    In each of some sentences one token is predicted: by a masked model one that is hidden from it, by a causal one the
    one behind a token. Of the last layer the vectors are changed on their way to the vocabulary head; of any other
    those of all tokens, on their way to the next layer.

    Args:
        model: Masked or causal.
        corpus: That the sentences are from.
        census: Of it.
        top: Numbers of a vector; the first, the first two, … are left out.
        mean: Of the layer's vectors.
        layer: 0 = input embeddings.
        is_last: Whether it is the last one.
        places: In how many sentences, at most.
        value: What is put in: "mean", or "zero".
        draws: How often random numbers are drawn, to stand beside them.
        seed: Of the sentences, the tokens and the random numbers that stand beside them.

    Raises:
        UnsuitableModel: It is neither masked nor causal, or this layer's vectors cannot be changed.

    Source: Timkey and van Schijndel 2021, section 4, https://arxiv.org/abs/2109.04404
    """
    is_masked = predicts_tokens(model)
    random, of_places = np.random.default_rng(seed), np.random.default_rng((seed, 1))  # the places are those of any k
    others = np.setdiff1d(np.arange(len(mean)), top)
    drawn = [random.permutation(others)[: len(top)] for _ in range(draws)]
    wanted = [row[: number + 1] for row in (top, *drawn) for number in range(len(top))]
    device = model.network.device
    put = torch.tensor(mean if value == "mean" else np.zeros(len(mean)), device=device)
    masks = torch.zeros(len(wanted) + 1, len(mean), dtype=torch.bool, device=device)  # the first version is intact
    for version, dims in enumerate(wanted, start=1):
        masks[version, torch.from_numpy(dims.copy()).to(device)] = True

    def change(states: Float[Tensor, "place dim"]) -> Float[Tensor, "version place dim"]:
        return torch.where(masks[:, None], put.to(states.dtype), states)

    found, same, count = [], np.zeros(len(wanted)), 0
    for rows, positions in _batches(model, corpus, census, is_masked, places, len(wanted) + 1, of_places, is_last):
        if is_last:
            scores = predict_from_states(model, rows, positions, change)
        else:
            scores = _predict_from_layer(model, layer, rows, positions, masks, put)
        best = scores.argmax(dim=-1)
        found.append(np.stack([divergences(scores[0], one).cpu().numpy() for one in scores[1:]]))
        same += (best[1:] == best[0]).sum(dim=1).cpu().numpy()
        count += len(rows)
    if not count:
        raise UnsuitableModel(f"{model.card.name} has nothing to predict in these sentences.")
    by_place = np.concatenate(found, axis=1, dtype=np.float64)
    apart, same = by_place.mean(axis=1).reshape(1 + draws, -1), same.reshape(1 + draws, -1) / count
    ends = mean_intervals(by_place[: len(top)], seed=seed).tolist()
    rogue = tuple(
        AblatedPrediction(
            tuple(map(int, top[: number + 1])), float(apart[0, number]), float(same[0, number]), *ends[number]
        )
        for number in range(len(top))
    )
    of_others = (apart[1:].mean(axis=0), same[1:].mean(axis=0), apart[1:].min(axis=0), apart[1:].max(axis=0))
    mean, kept, least, most = (tuple(map(float, one)) for one in of_others)
    return DimensionAblation(layer, count, value, rogue, mean, kept, draws, least, most)


def _predict_from_layer(
    model: LoadedModel,
    layer: int,
    rows: Sequence[tuple[int, ...]],
    positions: Sequence[int],
    masks: Bool[Tensor, "version dim"],
    put: Float[Tensor, " dim"],
) -> Float[Tensor, "version place vocab"]:
    """Log-probabilities where every version of the rows is computed anew above a layer."""
    versions = len(masks)
    of_row = masks.repeat_interleave(len(rows), dim=0)[:, None]

    def change(states: Float[Tensor, "row token dim"]) -> Float[Tensor, "row token dim"]:
        return torch.where(of_row, put.to(states.dtype), states)

    with changed_layer(model, layer, rows[0], change):
        scores = predict_from_states(model, [*rows] * versions, [*positions] * versions, lambda states: states[None])
    return scores[0].unflatten(0, (versions, len(rows)))


def _batches(
    model: LoadedModel,
    corpus: Corpus,
    census: Census,
    is_masked: bool,
    places: int,
    versions: int,
    random: np.random.Generator,
    is_last: bool,
) -> Iterator[tuple[Sequence[tuple[int, ...]], Sequence[int]]]:
    """Rows of one length, and a place in each; the token at the place is hidden from a masked model."""
    chosen = random.choice(census.readings, min(places, census.readings), replace=False, shuffle=False)
    numbers = set(chosen.tolist())
    plain = Corpus(corpus.sentences)  # a place is a token, whatever was measured
    by_length: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    for reading in read_corpus(model, plain):
        if reading.number not in numbers:
            continue
        [place] = reading.groups[random.integers(len(reading.groups))]
        ids = reading.ids
        if is_masked:
            ids = (*ids[:place], model.tokenizer.mask_token_id, *ids[place + 1 :])
        by_length.setdefault(len(ids), []).append((ids, place))
    most = max(1, NUMBERS_AT_ONCE // (versions * model.network.config.get_text_config().vocab_size))
    for length, rows in by_length.items():
        step = most if is_last else max(1, min(most, TOKENS_AT_ONCE // (versions * length)))
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            yield [ids for ids, _ in some], [place for _, place in some]
