"""How a causal model writes on, token by token, with what else it might have written at every step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from explorer.analysis.beam_search import write_best_beam
from explorer.analysis.blanks import check_option
from explorer.analysis.contrastive_search import write_with_contrast
from explorer.analysis.generation_results import GenerationStep
from explorer.analysis.next_choice import Plan, find_ends, make_processors, measure_choice, put_step
from explorer.analysis.prompts import encode_beginning
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.decoding import begin_draft, extend_drafts
from explorer.models.written_text import WrittenText
from explorer.settings import settings


def continue_text(
    model: LoadedModel,
    prompt: str,
    *,
    strategy: str = "sample",
    max_new_tokens: int = 40,
    temperature: float | int = 1.0,
    top_k: int = 0,
    top_p: float | int = 1.0,
    min_p: float | int = 0.0,
    typical_p: float | int = 1.0,
    repetition_penalty: float | int = 1.0,
    beams: int = 4,
    penalty_alpha: float | int = 0.6,
    contrast_k: int = 4,
    seed: int = 0,
    alternatives: int = 10,
    written: Sequence[int] = (),
    drawn: int = 0,
    tells_waiting: bool = False,
) -> Iterator[GenerationStep | None]:
    """Go on writing a text, one token after the other.

    Args:
        model: With a causal head.
        prompt: What stands before; may be empty where the model has a token that starts a text.
        strategy: A key of STRATEGIES, which says which of the next arguments act.
        max_new_tokens: From 1 to settings().most_new_tokens.
        temperature, top_k, top_p, min_p, typical_p, repetition_penalty, beams, penalty_alpha, contrast_k: Of CONTROLS,
            with their ranges; they mean what they mean to `generate` of transformers.
        seed: Of the sampling; the same seed and settings give the same text.
        alternatives: How many of the likeliest tokens each step tells, from 1 to settings().most_choices.
        written: Token ids that stand behind the prompt already; they are not yielded.
        drawn: How many of these, at the end, were drawn with this seed and these settings; the text is then the one
            that is written without a break.
        tells_waiting: Whether None is yielded where a pass of a beam search leaves open which token comes next: a
            stream can be closed only where it yields.

    Returns:
        Steps, the last of which says why nothing follows; none where `written` ends with the token that ends a text.
        The text never becomes longer than the model reads. Closing the iterator stops the work.

    Raises:
        UnsuitableModel: The model does not write from left to right.
        UnsuitableText: The prompt, a token id or a setting cannot be used, or the prompt leaves no room to write.
        TooBusy: The texts that others have this model write leave no memory for one more.

    Source: Holtzman et al. 2020, https://arxiv.org/abs/1904.09751; Su et al. 2022, https://arxiv.org/abs/2202.06417
    """
    plan = Plan(
        strategy,
        temperature,
        top_k,
        top_p,
        min_p,
        typical_p,
        repetition_penalty,
        beams,
        penalty_alpha,
        contrast_k,
        seed,
        drawn,
    )
    if not 0 <= drawn <= len(written):
        raise UnsuitableText(f"drawn must be at least 0 and at most {len(written)}, as many as are written.")
    check_option("max_new_tokens", max_new_tokens, settings().most_new_tokens)
    check_option("alternatives", alternatives, settings().most_choices)
    if strategy == "contrastive" and model.network.config.model_type == "xlnet":
        raise UnsuitableModel(
            f"{model.card.name} has no vector of a token that knows only what stands before it, which contrastive "
            f"search compares. Choose another strategy."
        )
    ids, left = encode_beginning(model, prompt, written)
    if written and written[-1] in find_ends(model):
        return iter(())
    stop = "length" if max_new_tokens <= left else "context"
    write = WRITERS.get(strategy, write_freely)
    steps = write(model, ids, len(written), plan, min(max_new_tokens, left), stop, alternatives)
    return steps if tells_waiting else (step for step in steps if step is not None)


def write_freely(
    model: LoadedModel, ids: list[int], unsaid: int, plan: Plan, count: int, stop: str, alternatives: int
) -> Iterator[GenerationStep]:
    """Greedy search and sampling.

    Args:
        model: Writes.
        ids: What stands there.
        unsaid: How many of these were written, and may wait for the end of a character.
        plan: How the next token is chosen.
        count: Most tokens.
        stop: Why nothing follows when these are written.
        alternatives: How many of the likeliest tokens to tell.
    """
    processors, ends = make_processors(plan), find_ends(model)
    text = WrittenText(model, ids, unsaid)
    random = torch.Generator(model.network.device).manual_seed(plan.seed)
    draft, logits = begin_draft(model, ids, len(ids) + count)
    for _ in range(plan.drawn if plan.strategy == "sample" else 0):  # a draw takes a number for each of the vocabulary
        torch.multinomial(torch.ones_like(logits)[None], 1, generator=random)
    try:
        for number in range(1, count + 1):
            scores = logits
            if processors:
                scores = processors(torch.tensor([draft.ids], device=logits.device), logits[None])[0]
            chances = scores.softmax(dim=-1) if plan.strategy == "sample" else None
            if chances is None:
                token_id = int(scores.argmax())
            else:
                token_id = int(torch.multinomial(chances[None], 1, generator=random))
            why = "end" if token_id in ends else stop if number == count else ""
            choice = measure_choice(logits, token_id, min(alternatives, len(logits)), chances)
            yield put_step(text, choice, ends, why)
            if why:
                return
            logits = extend_drafts(model, [draft], [token_id])[0]
    finally:
        draft.close()


WRITERS = {"beams": write_best_beam, "contrastive": write_with_contrast}
