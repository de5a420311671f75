"""What attention heads do for an answer: switch them off, and see what changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from explorer.analysis.ablation_results import AblationPlace, Head, HeadAblation, HeadRanking
from explorer.analysis.blanks import check_option
from explorer.analysis.distributions import likeliest, ranks
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.analysis.head_choice import every_head, read_heads
from explorer.analysis.reading import decode
from explorer.analysis.readouts import Question, Said, ask_about
from explorer.analysis.scoring_results import NextToken
from explorer.models.attention import head_counts, without_heads
from explorer.models.backend import LoadedModel
from explorer.settings import settings

NATS_PER_BIT = 0.6931471805599453


def ablate_heads(
    model: LoadedModel,
    text: str,
    *,
    heads: Sequence[str | Sequence[str | int]] | str = (),
    second_text: str | None = None,
    written: Sequence[int] = (),
    all_but: bool = False,
    skips_unknown: bool = False,
    top_k: int = 5,
) -> HeadAblation:
    """Switch attention heads off, and compare what the model says with what it says intact.

    A head that is off adds nothing: its part of the attention's output is zero before the layer puts its heads
    together. A masked model is asked for its blanks, a causal one for the next token, an encoder-decoder for what it
    writes; any other, or a masked model without a blank, for the sentence embedding.

    Args:
        model: With attention.
        text: Any that the model reads; ___ = a blank.
        heads: As head_choice.read_heads takes them: "3-5" is head 5 of layer 3, "3" all of layer 3.
        second_text: For an encoder, the second of a pair, which may have blanks, too; for a causal model, what was
            written behind the text.
        written: For a causal model, instead: the very tokens that it wrote there.
        all_but: Whether these are the only ones that stay on, instead.
        skips_unknown: Whether heads that this model lacks are passed over, as those of a link made for another.
        top_k: How many of the likeliest tokens, before and after, from 1 to settings().most_choices.

    Raises:
        UnsuitableModel: It has no attention.
        UnsuitableText: The text cannot be read, or there is no such head.

    Source: Michel et al. 2019, https://arxiv.org/abs/1905.10650
    """
    check_option("top_k", top_k, settings().most_choices)
    counts = head_counts(model.network)
    every = every_head(counts)
    off = read_heads(heads, counts, skips_unknown=skips_unknown)
    if all_but:
        off = tuple(head for head in every if head not in off)
    question = ask_about(model, text, second_text, written)
    intact = question.ask()
    with without_heads(model.network, off):
        less = question.ask()
    answers = _answers(question, intact)
    with model.tokenizer_lock:
        tokens = model.tokenizer.convert_ids_to_tokens(list(question.ids))
    return HeadAblation(
        model=model.card.name,
        text=text,
        heads=off,
        head_counts=counts,
        readout=question.readout,
        tokens=tuple(tokens),
        places=_places(model, question, intact, less, answers, top_k) if len(answers) else (),
        cosine=_cosine(intact, less),
        second_text=_beside(model, second_text, written),
    )


def rank_heads(
    model: LoadedModel, text: str, *, second_text: str | None = None, written: Sequence[int] = ()
) -> Iterator[HeadRanking]:
    """Switch every head off by itself, and see which one matters most for what the model says of a text.

    Args:
        model: With attention.
        text: As in ablate_heads.
        second_text: Likewise.
        written: Likewise.

    Returns:
        What is known after each layer, the last time all of it. Closing the iterator stops the work. Heads that do the
        same stand in for each other: one that matters little here may still do the work.

    Raises:
        UnsuitableModel: It has no attention.
        UnsuitableText: The text cannot be read.

    Source: Michel et al. 2019, https://arxiv.org/abs/1905.10650
    """
    counts = head_counts(model.network)
    question = ask_about(model, text, second_text, written)
    intact = question.ask()
    ids = _answers(question, intact)
    answers = _as_tokens(model, question, intact, ids)
    effects = {stack: np.full(shape, np.nan) for stack, shape in counts.items()}
    changes = {stack: np.full(shape, np.nan) for stack, shape in counts.items()}
    every, done = every_head(counts), 0
    for stack, (layers, heads) in counts.items():
        for layer in range(layers):
            for head in range(heads):
                effect, change = _effect_of(model, (stack, layer, head), question, intact, ids)
                effects[stack][layer, head], changes[stack][layer, head] = effect, change
            done += heads
            yield HeadRanking(
                model=model.card.name,
                text=text,
                readout=question.readout,
                answers=answers,
                effects={name: freeze_copy(values) for name, values in effects.items()},
                changes={name: freeze_copy(values) for name, values in changes.items()},
                done=done,
                head_count=len(every),
                second_text=_beside(model, second_text, written),
            )


def divergences(before: Float[Tensor, "place vocab"], after: Float[Tensor, "place vocab"]) -> Float[Tensor, " place"]:
    """Kullback-Leibler divergence of each distribution after from the one before, in bits.

    Args:
        before: Log-probabilities in nats.
        after: Likewise.
    """
    chances = before.double().exp()
    apart = torch.where(chances > 0, chances * (before.double() - after.double()), 0.0)
    return apart.sum(dim=-1).clamp(min=0) / NATS_PER_BIT


def _beside(model: LoadedModel, second_text: str | None, written: Sequence[int]) -> str | None:
    return decode(model, written) if written else second_text if (second_text or "").strip() else None


def _effect_of(
    model: LoadedModel, head: Head, question: Question, intact: Said, ids: Int[Tensor, " place"]
) -> tuple[float, float]:
    with without_heads(model.network, [head]):
        less = question.ask()
    if not len(ids):
        return 1 - _cosine(intact, less), 0.0
    lost = less.scores.gather(1, ids[:, None]).exp() - intact.scores.gather(1, ids[:, None]).exp()
    return float(divergences(intact.scores, less.scores).mean()), float(lost.mean())


def _answers(question: Question, intact: Said) -> Int[Tensor, " place"]:
    """The token that is followed at each place."""
    if question.written:
        return torch.tensor(question.written, device=intact.scores.device)
    return intact.scores.argmax(dim=-1) if len(question.positions) else torch.empty(0, dtype=torch.long)


def _as_tokens(
    model: LoadedModel, question: Question, intact: Said, ids: Int[Tensor, " place"]
) -> tuple[NextToken, ...]:
    """The followed tokens as they read, with the intact model's probability."""
    tokens = []
    for place, token_id in enumerate(ids.tolist()):
        chance = float(intact.scores[place, token_id].exp())
        alone = torch.full((1, intact.scores.shape[-1]), -torch.inf)
        alone[0, token_id] = 0.0
        [[token]] = likeliest(model, alone, 1, begins=_begins(question, place))
        tokens.append(NextToken(token.token_id, token.text, token.token, chance))
    return tuple(tokens)


def _places(
    model: LoadedModel, question: Question, intact: Said, less: Said, ids: Int[Tensor, " place"], top_k: int
) -> tuple[AblationPlace, ...]:
    apart = divergences(intact.scores, less.scores).tolist()
    after = less.scores.gather(1, ids[:, None])[:, 0].exp().tolist()
    places = ranks(less.scores, ids).tolist()
    answers = _as_tokens(model, question, intact, ids)
    found = []
    for index, position in enumerate(question.positions):
        begins = _begins(question, index)
        pair = torch.stack([intact.scores[index], less.scores[index]])
        first, second = likeliest(model, pair, top_k, begins=begins)
        at = index if question.written else position
        found.append(AblationPlace(at, first, second, answers[index], after[index], places[index], apart[index]))
    return tuple(found)


def _begins(question: Question, place: int) -> bool:
    """Whether the token there begins a text, so that no space stands before it."""
    return place == 0 and (question.readout == "written" or question.positions[0] == 0)


def _cosine(intact: Said, less: Said) -> float | None:
    if intact.embedding is None or less.embedding is None:
        return None
    cosine = torch.nn.functional.cosine_similarity(intact.embedding.double(), less.embedding.double(), dim=0)
    return float(cosine.clamp(-1, 1))
