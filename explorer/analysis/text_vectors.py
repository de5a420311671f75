"""One vector of a text, in every layer: of its first or last token, the mean of its tokens, or their maximum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.blanks import check_characters
from explorer.analysis.embeddings import MIB, TOKENIZED_AT_ONCE, tokenize_sentences
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.analysis.text_search import POOLING_WORDS, PooledTexts
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.layer_vectors import Ids, VectorRow, layer_vectors
from explorer.settings import settings

Tokens = Float[np.ndarray, "layer token dim"]
Pool = Callable[[Tokens, Int[np.ndarray, " text"], Int[np.ndarray, " text"]], Float[np.ndarray, "layer text dim"]]


def _first(tokens: Tokens, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return tokens[:, starts]


def _last(tokens: Tokens, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return tokens[:, starts + sizes - 1]


def _mean(tokens: Tokens, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.add.reduceat(tokens, starts, axis=1, dtype=np.float64) / sizes[:, None]


def _max(tokens: Tokens, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.maximum.reduceat(tokens, starts, axis=1)


POOLINGS: dict[str, tuple[str, bool, Pool]] = {  # what it is in words; whether special tokens are among the tokens
    "cls": (POOLING_WORDS["cls"], True, _first),
    "last": (POOLING_WORDS["last"], False, _last),
    "mean": (POOLING_WORDS["mean"], True, _mean),
    "own_mean": (POOLING_WORDS["own_mean"], False, _mean),
    "max": (POOLING_WORDS["max"], True, _max),
}


def embed_texts(
    model: LoadedModel,
    texts: Sequence[str],
    *,
    poolings: Sequence[str] = ("mean",),
    layers: Sequence[int] | None = None,
) -> tuple[dict[str, Float[np.ndarray, "layer text dim"]], tuple[int, ...], int]:
    """One vector of each text, in each layer, by each pooling; a text that is too long is read as far as it goes.

    Args:
        model: Any that gives token vectors; of an encoder-decoder the encoder.
        texts: Words or sentences; one or more.
        poolings: Keys of POOLINGS.
        layers: Which, 0 = input embeddings, negative ones counted from the last; None = all.

    Returns:
        Float32 vectors by pooling, which layers these are, and how many the model has.

    Raises:
        UnsuitableModel: It gives no vectors, or its tokenizer cannot say where a token stands.
        UnsuitableText: A text has no token, there is no such pooling or layer, or there are too many texts.

    Source: Reimers and Gurevych 2019, https://arxiv.org/abs/1908.10084
    """
    if Ability.EMBED not in model.card.abilities:
        raise UnsuitableModel(f"{model.card.name} gives no vectors of texts. Choose another model.")
    check_poolings(poolings)
    rows = [_row(model, text, *one) for text, one in zip(texts, _tokenize(model, texts), strict=True)]
    vectors: dict[str, np.ndarray] = {}
    for batch in layer_vectors(
        model, [VectorRow(ids, tuple((p,) for p in range(len(ids)))) for ids, _, _ in rows], layers
    ):
        if not vectors:
            shape = (len(batch.layers), len(texts), batch.vectors.shape[-1])
            _check_room(len(poolings), shape)
            vectors = {pooling: np.empty(shape, dtype=np.float32) for pooling in poolings}
        chosen = [rows[index] for index in batch.rows]
        ends = np.cumsum([len(ids) for ids, _, _ in chosen])
        begins = ends - [len(ids) for ids, _, _ in chosen]
        own = np.concatenate(
            [start + np.arange(lead, end) for start, (_, lead, end) in zip(begins, chosen, strict=True)]
        )
        sizes = np.array([end - lead for _, lead, end in chosen])
        for pooling in poolings:
            _, specials, pool = POOLINGS[pooling]
            if specials:
                pooled = pool(batch.vectors, begins, ends - begins)
            else:
                pooled = pool(batch.vectors[:, own], np.cumsum(sizes) - sizes, sizes)
            vectors[pooling][:, list(batch.rows)] = pooled
    return vectors, batch.layers, batch.layer_count


def pool_texts(
    model: LoadedModel, texts: Sequence[str], *, pooling: str = "mean", layers: Sequence[int] | None = None
) -> tuple[PooledTexts, ...]:
    """One vector of each text in each layer, to be searched; arguments and errors as of embed_texts.

    Args:
        model: Likewise.
        texts: Likewise.
        pooling: A key of POOLINGS.
        layers: Likewise.
    """
    vectors, numbers, _ = embed_texts(model, texts, poolings=(pooling,), layers=layers)
    length = {"limit_tokens": model.limit_tokens, "cut_texts": count_cut(model, texts)}
    return tuple(
        PooledTexts(model.card.name, tuple(texts), pooling, layer, freeze_copy(one), **length)
        for layer, one in zip(numbers, vectors[pooling], strict=True)
    )


def count_unknown(model: LoadedModel, texts: Sequence[str]) -> int:
    """How many texts hold a word, a sign or a script that the model's vocabulary lacks; errors as of embed_texts."""
    unknown = getattr(model.tokenizer, "unk_token_id", None)
    return 0 if unknown is None else sum(unknown in ids for ids, _ in _tokenize(model, texts))


def count_cut(model: LoadedModel, texts: Sequence[str]) -> int:
    """How many texts are longer than the model reads, and are read as far as it goes; errors as of embed_texts."""
    return sum(len(ids) > model.limit_tokens for ids, _ in _tokenize(model, texts))


def check_poolings(poolings: Sequence[str]) -> None:
    """Refuse a name that no pooling has.

    Raises:
        UnsuitableText: There is none; the message names those there are.
    """
    if isinstance(poolings, str) or not poolings or any(pooling not in POOLINGS for pooling in poolings):
        raise UnsuitableText(f"Give a list of poolings, of these: {', '.join(POOLINGS)}; not {poolings!r}.")


def _tokenize(model: LoadedModel, texts: Sequence[str]) -> list[tuple[Ids, list[bool]]]:
    for number, text in enumerate(texts, start=1):
        try:
            check_characters(text)
        except UnsuitableText as error:
            raise UnsuitableText(f"Text {number}: {error}") from None
    found = []
    for first in range(0, len(texts), TOKENIZED_AT_ONCE):
        some = tokenize_sentences(model, list(texts[first : first + TOKENIZED_AT_ONCE]))
        found += [(one.ids, one.is_added) for one in some]
    return found


def _row(model: LoadedModel, text: str, ids: Ids, is_added: Sequence[bool]) -> tuple[Ids, int, int]:
    """What is read of a text, and where its own tokens begin and end."""
    own = [place for place, added in enumerate(is_added) if not added]
    if not own:
        raise UnsuitableText(f"{model.card.name} has no token for {text!r}. Leave it out.")
    lead, end = own[0], own[-1] + 1
    last = min(end, model.limit_tokens - (len(ids) - end))
    return ids[:last] + ids[end:], lead, last


def _check_room(times: int, shape: tuple[int, int, int]) -> None:
    needed_mib = times * np.prod(shape, dtype=float) * 4 / MIB
    if needed_mib > settings().most_vectors_mib:
        raise UnsuitableText(
            f"The vectors of {shape[1]:,} texts in {shape[0]} layers take {needed_mib:,.0f} MiB; at most "
            f"{settings().most_vectors_mib:,} MiB are kept. Ask for fewer layers, poolings or texts."
        )
