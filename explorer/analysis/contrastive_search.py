"""Contrastive search: the next token is likely, and its vector is unlike those of the text so far."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from explorer.analysis.generation_results import GenerationStep
from explorer.analysis.next_choice import Plan, find_ends, make_processors, measure_choice, put_step
from explorer.models.backend import LoadedModel
from explorer.models.decoding import begin_draft, extend_drafts, fork_draft
from explorer.models.draft import Draft
from explorer.models.written_text import WrittenText


def write_with_contrast(
    model: LoadedModel, ids: list[int], unsaid: int, plan: Plan, count: int, stop: str, alternatives: int
) -> Iterator[GenerationStep]:
    """Each time the token v with the largest (1 - a) p(v | text) - a max cos(h_v, h_j); arguments as of write_freely.

    v is one of the plan.contrast_k likeliest, h_v its last hidden state if it came next, h_j that of token j of the
    text, and a is plan.penalty_alpha. All candidates are read, in one pass, and the chosen one is kept.

    Source: Su et al. 2022, https://arxiv.org/abs/2202.06417, equation 5
    """
    processors, ends = make_processors(plan), find_ends(model)
    text = WrittenText(model, ids, unsaid)
    draft, logits = begin_draft(model, ids, len(ids) + count, keeps_hidden=True)
    drafts: list[Draft] = [draft]
    try:
        for number in range(1, count + 1):
            scores = logits
            if processors:
                scores = processors(torch.tensor([draft.ids], device=logits.device), logits[None])[0]
            likely = scores.softmax(dim=-1).topk(min(plan.contrast_k, len(scores)))
            candidates = likely.indices.tolist()
            before = draft.hidden
            while len(drafts) < len(candidates):
                drafts.append(fork_draft(model, draft))
            after = extend_drafts(model, drafts, candidates)
            vectors = torch.stack([each.hidden[-1] for each in drafts])
            chosen = choose_by_contrast(likely.values, vectors, before, plan.penalty_alpha)
            token_id = candidates[chosen]
            why = "end" if token_id in ends else stop if number == count else ""
            choice = measure_choice(logits, token_id, min(alternatives, len(logits)))
            for each in drafts:
                if each is not drafts[chosen]:
                    each.close()
            draft, logits = drafts[chosen], after[chosen]
            drafts[:] = [draft]
            yield put_step(text, choice, ends, why)
            if why:
                return
    finally:
        for each in drafts:
            each.close()


def choose_by_contrast(
    probabilities: Float[Tensor, " candidate"],
    candidates: Float[Tensor, "candidate dim"],
    text: Float[Tensor, "token dim"],
    alpha: float,
) -> int:
    """Which candidate is likely and unlike the text.

    Args:
        probabilities: Of the candidates.
        candidates: Their vectors.
        text: The vectors of the tokens so far.
        alpha: How much likeness counts, from 0 to 1.

    Returns:
        Its index.
    """
    likeness = cosine_similarity(candidates[:, None], text[None], dim=-1).amax(dim=-1)
    return int(((1 - alpha) * probabilities - alpha * likeness).argmax())
