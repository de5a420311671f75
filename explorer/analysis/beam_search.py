"""Beam search: several beginnings side by side, as they live, end and are dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import LogitsProcessorList

from explorer.analysis.beam_results import Beam, BeamStep
from explorer.analysis.blanks import check_option
from explorer.analysis.generation_results import GenerationStep
from explorer.analysis.next_choice import Choice, Plan, find_ends, make_processors, measure_choice, put_step
from explorer.analysis.prompts import encode_beginning
from explorer.analysis.reading import decode
from explorer.models.backend import LoadedModel
from explorer.models.decoding import begin_draft, extend_drafts, fork_draft
from explorer.models.draft import Draft
from explorer.models.written_text import WrittenText
from explorer.settings import settings

CONTEXT_TOKENS = 8  # of the prompt: enough for its tokenizer to set the space before the next word


def search_beams(
    model: LoadedModel,
    prompt: str,
    *,
    beams: int = 4,
    max_new_tokens: int = 20,
    repetition_penalty: float | int = 1.0,
    written: Sequence[int] = (),
) -> Iterator[BeamStep]:
    """Look for the likeliest text of several tokens, keeping some beginnings side by side.

    As `generate` of transformers does it: the best continuations of all beginnings together, twice as many as there are
    beams; the best beams among them that have not ended live on. Texts that end are compared by log-probability per
    token, and the search is over when no living one is better than the worst of those kept.

    Args:
        model: With a causal head.
        prompt: What stands before; may be empty where the model has a token that starts a text.
        beams: From 1 to 10.
        max_new_tokens: From 1 to settings().most_new_tokens.
        repetition_penalty: As of CONTROLS.
        written: Token ids that stand behind the prompt already.

    Returns:
        One result per token, the last of which says why the search is over; none where `written` ends with the token
        that ends a text. Closing the iterator stops the work.

    Raises:
        UnsuitableModel: The model does not write from left to right.
        UnsuitableText: The prompt, a token id or a setting cannot be used, or the prompt leaves no room to write.
        TooBusy: The texts that others have this model write leave no memory for one more.

    Source: Sutskever et al. 2014, https://arxiv.org/abs/1409.3215; Wu et al. 2016, https://arxiv.org/abs/1609.08144
    """
    plan = Plan("beams", beams=beams, repetition_penalty=repetition_penalty)
    check_option("max_new_tokens", max_new_tokens, settings().most_new_tokens)
    ids, left = encode_beginning(model, prompt, written)
    if written and written[-1] in find_ends(model):
        return iter(())
    stop = "length" if max_new_tokens <= left else "context"
    return _tell_rounds(model, ids, plan, min(max_new_tokens, left), stop)


def _tell_rounds(model: LoadedModel, ids: list[int], plan: Plan, count: int, stop: str) -> Iterator[BeamStep]:
    ends = find_ends(model)
    context = ids[-CONTEXT_TOKENS:]
    skipped = len(decode(model, context))

    def read(path: Sequence[int]) -> str:
        return decode(model, [*context, *path])[skipped:] if path else ""

    def tell(node: _Node, fate: str, parent: int) -> Beam:
        *before, last = node.path()
        started = read(before)
        text = started if last in ends else read([*before, last])
        token = ends.spellings.get(last) or text[len(started) :]
        return Beam(text, token, last, parent, node.log_probability, node.score, fate)

    before: list[_Node] = []
    for found in _search(model, ids, plan, count, alternatives=0):
        places = {id(node): place for place, node in enumerate(before)}
        told = [
            tell(node, fate, places.get(id(node.parent), 0))
            for fate, nodes in (("lives", found.alive), ("ended", found.ending), ("dropped", found.dropped))
            for node in nodes
        ]
        why = "" if not found.is_over else "end" if found.ended[0].token_id in ends else stop
        yield BeamStep(tuple(told), tuple(tell(node, "ended", 0) for node in found.ended), why)
        before = found.alive


def write_best_beam(
    model: LoadedModel, ids: list[int], unsaid: int, plan: Plan, count: int, stop: str, alternatives: int
) -> Iterator[GenerationStep | None]:
    """The steps of the beam that wins, each as soon as all that may still win share it; arguments as of write_freely.

    After a pass that settles none, None: else a long search could not be closed before its end.
    """
    ends = find_ends(model)
    text = WrittenText(model, ids, unsaid)
    said = 0
    for found in _search(model, ids, plan, count, alternatives):
        hopeful = found.ended[:1] if found.is_over else [*found.alive, *found.ended[:1]]
        paths = [node.line() for node in hopeful]
        before = said
        while said < min(len(path) for path in paths) and len({id(path[said]) for path in paths}) == 1:
            node = paths[0][said]
            said += 1
            is_last = found.is_over and said == len(paths[0])
            why = "" if not is_last else "end" if node.token_id in ends else stop
            yield put_step(text, node.choice, ends, why)
        if said == before:
            yield None


@dataclass(eq=False)
class _Node:
    """The last token of a beginning.

    Attributes:
        parent: The token before; None at the first.
        token_id: Its id.
        log_probability: Of the whole beginning, in nats.
        length_tokens: Of the beginning.
        choice: In numbers; None = not asked for.
    """

    parent: _Node | None
    token_id: int
    log_probability: float
    length_tokens: int
    choice: Choice | None = None

    @property
    def score(self) -> float:
        """By which those that ended are compared."""
        return self.log_probability / self.length_tokens

    def line(self) -> list[_Node]:
        """The beginning, first token first."""
        found, node = [], self
        while node is not None:
            found.append(node)
            node = node.parent
        return found[::-1]

    def path(self) -> list[int]:
        """Its token ids."""
        return [node.token_id for node in self.line()]


@dataclass(frozen=True)
class _Round:
    """What one more token made of the beams: those that live, end now, are dropped now; the best that ended so far."""

    alive: list[_Node]
    ending: list[_Node]
    dropped: list[_Node]
    ended: list[_Node]
    is_over: bool


def _search(model: LoadedModel, ids: list[int], plan: Plan, count: int, alternatives: int) -> Iterator[_Round]:
    """Rounds of the search; `alternatives` of 0 leaves the choices unmeasured."""
    processors, ends = make_processors(plan), find_ends(model)
    draft, logits = begin_draft(model, ids, len(ids) + count)
    drafts: list[Draft] = [draft]
    try:
        alive: list[_Node | None] = [None]
        ended: list[_Node] = []
        logits = logits[None]
        for length in range(1, count + 1):
            scores = _score(logits, drafts, alive, processors)
            kept = min(max(2, 1 + len(ends.spellings)) * plan.beams, scores.numel())
            best = scores.flatten().topk(kept)
            candidates: list[tuple[_Node, int]] = []
            for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
                row, token_id = divmod(place, logits.shape[-1])
                candidates.append((_Node(alive[row], token_id, total, length), row))
            stopped = [node.token_id in ends or length == count for node, _ in candidates]
            ending = [node for (node, _), is_end in zip(candidates[: plan.beams], stopped, strict=False) if is_end]
            going = [pair for pair, is_end in zip(candidates, stopped, strict=True) if not is_end][: plan.beams]
            ended = sorted([*ended, *ending], key=lambda node: -node.score)[: plan.beams]
            if alternatives:
                for node, row in candidates:
                    if any(node is other for other in ended) or any(node is other for other, _ in going):
                        node.choice = measure_choice(logits[row], node.token_id, min(alternatives, logits.shape[-1]))
            is_full = len(ended) == plan.beams
            is_over = not going or (is_full and going[0][0].score <= ended[-1].score)
            living = [node for node, _ in going]
            kept_nodes = {id(node) for node in (*living, *ended)}
            dropped = [node for node, _ in candidates if id(node) not in kept_nodes]
            yield _Round(living, [node for node in ending if id(node) in kept_nodes], dropped, ended, is_over)
            if is_over:
                return
            drafts[:] = _grow(model, drafts, [row for _, row in going])
            logits = extend_drafts(model, drafts, [node.token_id for node in living])
            alive = list(living)
    finally:
        for draft in drafts:
            draft.close()


def _score(
    logits: Float[Tensor, "beam vocab"],
    drafts: Sequence[Draft],
    alive: Sequence[_Node | None],
    processors: LogitsProcessorList,
) -> Float[Tensor, "beam vocab"]:
    """Log-probability of each beginning with each next token, in nats."""
    scores = logits.log_softmax(dim=-1)
    if processors:
        scores = processors(torch.tensor([draft.ids for draft in drafts], device=logits.device), scores)
    return scores + logits.new_tensor([node.log_probability if node else 0.0 for node in alive])[:, None]


def _grow(model: LoadedModel, drafts: list[Draft], rows: Sequence[int]) -> list[Draft]:
    """The drafts that the chosen rows grow from: the first that grows from one goes on with it, others with copies."""
    grown: list[Draft] = []
    taken: set[int] = set()
    try:
        for row in rows:
            grown.append(fork_draft(model, drafts[row]) if row in taken else drafts[row])
            taken.add(row)
    except BaseException:
        for draft in grown:
            draft.close()
        raise
    for row, draft in enumerate(drafts):
        if row not in taken:
            draft.close()
    return grown
