"""The visitor's own candidates for blanks, scored and ranked beside the model's choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import torch

from explorer.analysis.blanks import BlankedText, check_option, parse_blanks
from explorer.analysis.candidates import Candidate, parse_candidates
from explorer.analysis.reading import SPACE, SPACE_TOKENS, read_in_blank, read_tokens
from explorer.analysis.results import CandidateRanking, RankedCandidate
from explorer.analysis.search import rows_at_once
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.settings import settings

SCORE = (
    "ln p(candidate | the text, other blanks open), in nats; a candidate of several pieces widens its blank to as many "
    "masks and is scored by pseudo-log-likelihood, each piece with itself and the later ones masked (PLL-word-l2r); "
    "where a text begins, a vocabulary may have a word with and without a space before it: the likelier is taken"
)


@torch.inference_mode()
def rank_candidates(
    model: LoadedModel, text: str, *, candidates: Sequence[Sequence[str]], top_k: int = 5
) -> CandidateRanking:
    """Rank candidates for each blank among the model's own choices, while the other blanks stay open.

    Longer candidates are products of more probabilities: compare candidates of different lengths also by
    log_probability_per_token, and neither is a probability over words.

    Args:
        model: A model with a masked language modelling head.
        text: With 1 to settings().most_blanks blanks.
        candidates: One sequence of words or names per blank, empty where there are none.
        top_k: How many of the model's choices to rank beside them, from 1 to settings().most_choices.

    Returns:
        One ranking per blank, best first by log_probability; a choice that the visitor named too stands there once. Of
        two that read alike, as "The" and "ĠThe" where a text begins, the second is marked, as "␣The".

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: The text, a candidate or an option cannot be used as asked.

    Source: Salazar et al. 2020, https://arxiv.org/abs/1910.14659 (pseudo-log-likelihood);
        Kauf and Ivanova 2023, https://arxiv.org/abs/2305.10588 (within-word left to right).
    """
    check_option("top_k", top_k, settings().most_choices)
    parsed = parse_blanks(model, text)
    own = parse_candidates(model, parsed, candidates)
    logits = torch.cat(masked_logits(model, [Row(parsed.ids, parsed.positions)]))
    marginals = logits.log_softmax(dim=-1)  # [blank, vocab]
    best = marginals.topk(min(top_k, marginals.shape[-1]), dim=-1)
    scores = _score_pieces(model, parsed, own, marginals.shape[-1])
    readings = read_tokens(model, {token_id for row in best.indices.tolist() for token_id in row})
    rankings = []
    for blank, named in enumerate(own):
        yours: dict[str, RankedCandidate] = {}
        for candidate in named:
            score = (
                float(marginals[blank, candidate.ids[0]]) if len(candidate.ids) == 1 else scores[blank, candidate.ids]
            )
            one = RankedCandidate(candidate.text, candidate.tokens, score, score / len(candidate.ids), True)
            if candidate.text not in yours or score > yours[candidate.text].log_probability:
                yours[candidate.text] = one
        ranked = list(yours.values())
        if named:
            known = {one.tokens for one in ranked}
            for score, token_id in zip(best.values[blank].tolist(), best.indices[blank].tolist(), strict=True):
                reading = read_in_blank(parsed, blank, readings[token_id])
                if (reading.token,) not in known:
                    ranked.append(RankedCandidate(reading.text, (reading.token,), score, score, False))
        ranked.sort(key=lambda candidate: (-candidate.log_probability, candidate.text))
        rankings.append(_tell_apart(ranked))
    return CandidateRanking(model.card.name, text, SCORE, tuple(rankings))


def _tell_apart(ranked: Sequence[RankedCandidate]) -> tuple[RankedCandidate, ...]:
    """As reading.tell_apart: of two that read alike, the one with a space before it is marked."""
    alike = Counter(one.text for one in ranked)
    return tuple(
        replace(one, text=SPACE + one.text) if alike[one.text] > 1 and one.tokens[0][:1] in SPACE_TOKENS else one
        for one in ranked
    )


def _score_pieces(
    model: LoadedModel, text: BlankedText, candidates: Sequence[Sequence[Candidate]], vocabulary: int
) -> dict[tuple[int, tuple[int, ...]], float]:
    """PLL-word-l2r of the candidates of several pieces: (blank, ids) -> nats."""
    asked: dict[Row, list[tuple[tuple[int, tuple[int, ...]], int]]] = {}  # candidates that begin alike share rows
    for blank, named in enumerate(candidates):
        for candidate in named:
            if len(candidate.ids) > 1:
                for piece, token_id in enumerate(candidate.ids):
                    row = _row(model, text, blank, candidate.ids, piece)
                    asked.setdefault(row, []).append(((blank, candidate.ids), token_id))
    scores: dict[tuple[int, tuple[int, ...]], float] = {}
    rows = list(asked)
    at_once = rows_at_once(vocabulary)
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        log_probabilities = torch.cat(masked_logits(model, some)).log_softmax(dim=-1)
        for row, distribution in zip(some, log_probabilities, strict=True):
            for key, token_id in asked[row]:
                scores[key] = scores.get(key, 0.0) + float(distribution[token_id])
    return scores


def _row(model: LoadedModel, text: BlankedText, blank: int, pieces: tuple[int, ...], piece: int) -> Row:
    """The text with a blank widened to the candidate, of which the pieces before one are filled."""
    position = text.positions[blank]
    masks = (model.tokenizer.mask_token_id,) * (len(pieces) - piece)
    return Row(text.ids[:position] + pieces[:piece] + masks + text.ids[position + 1 :], (position + piece,))
