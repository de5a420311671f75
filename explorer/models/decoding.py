"""Texts that a model writes token by token, for many visitors at once: steps that wait at the same time share one pass.

A draft is one text being written, and what the model remembers of it: the keys and values of its layers, in room that
is set aside when it begins and given back when it is closed. Nobody waits for company: a caller adds its step to what
is pending, and where nobody is at work it runs all that is pending in one forward pass, the steps that came first
before the others where there are too many. So every text moves at each pass, and a pass for sixteen takes about twice
as long as one for one, whose time goes into reading the weights. Prompts are read beside these passes, one after the
other: a long one does not stop those who are writing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Condition, Lock
from weakref import WeakKeyDictionary, WeakSet

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.errors import TooBusy
from explorer.models.attention import refuse_sharing
from explorer.models.backend import LoadedModel
from explorer.models.draft import Draft, can_remember, read_anew, read_beginning, read_next
from explorer.models.turns import Turn, current_turn, for_others_too, give_way, holding
from explorer.settings import settings

MIB = 2**20
MOST_ROWS = 64  # of one pass
PATIENCE = 0.25  # of a pass, for texts that are about to ask for their next token


def begin_draft(
    model: LoadedModel, ids: Sequence[int], room_tokens: int, *, keeps_hidden: bool = False
) -> tuple[Draft, Float[Tensor, " vocab"]]:
    """Read the beginning of a text.

    Args:
        model: With a causal head.
        ids: From 1 to model.limit_tokens token ids that exist.
        room_tokens: How long the text may become, these included; at most model.limit_tokens.
        keeps_hidden: Whether the draft keeps the last hidden state of every token.

    Returns:
        The draft, to be closed when it is not needed any more, and float32 scores of what comes next.

    Raises:
        TooBusy: What texts that are being written have the model remember takes all the memory it may.
    """
    if not 1 <= len(ids) <= room_tokens <= model.limit_tokens:
        raise ValueError(f"{len(ids)} tokens in room for {room_tokens}, where the model reads {model.limit_tokens}")
    decoder = _decoder_of(model)
    draft = Draft(list(ids), room_tokens, remembers=decoder.remembers, keeps_hidden=keeps_hidden)
    decoder.register(draft)
    try:
        with holding(decoder.reading), torch.inference_mode():
            logits = read_beginning(model, draft) if draft.remembers else read_anew(model, draft)
    except BaseException:
        draft.close()
        raise
    return draft, logits


def extend_drafts(
    model: LoadedModel, drafts: Sequence[Draft], token_ids: Sequence[int]
) -> Float[Tensor, "draft vocab"]:
    """Put one token behind each of several texts, in forward passes shared with other callers.

    Args:
        model: That the drafts were begun with.
        drafts: Different ones, open, none of them full.
        token_ids: One per draft.

    Returns:
        Float32 scores of what comes next, one line per draft.
    """
    for draft in drafts:
        if draft.is_closed or len(draft.ids) >= draft.room_tokens:
            raise ValueError("a draft is closed, or has no room left")
    refuse_sharing()
    give_way()
    if not drafts[0].remembers:
        with torch.inference_mode():
            return torch.stack([read_anew(model, *step) for step in zip(drafts, token_ids, strict=True)])
    return _decoder_of(model).extend(model, drafts, token_ids)


def fork_draft(model: LoadedModel, draft: Draft) -> Draft:
    """A copy that goes on by itself; to be closed, too. Raises as begin_draft does."""
    copy = draft.copy()
    _decoder_of(model).register(copy)
    return copy


@dataclass(eq=False)
class _Step:
    """What one caller asks: a token behind each of its drafts."""

    drafts: Sequence[Draft]
    token_ids: Sequence[int]
    alone: bool = False  # a pass shared with others failed: the next is not shared, so that the fault finds its owner
    turn: Turn | None = field(default_factory=current_turn)
    logits: Tensor | None = None
    error: Exception | None = None

    @property
    def is_waiting(self) -> bool:
        return self.logits is None and self.error is None


@dataclass(eq=False)
class _Decoder:
    """What is pending for one model, and the drafts that it remembers."""

    remembers: bool
    bytes_per_token: int
    reading: Lock = field(default_factory=Lock)  # one prompt after the other
    lock: Lock = field(default_factory=Lock)  # guards all below
    pending: list[_Step] = field(default_factory=list)
    is_at_work: bool = False
    lately: tuple[WeakSet[Draft], WeakSet[Draft]] = field(default_factory=lambda: (WeakSet(), WeakSet()))  # two passes
    pass_seconds: float = 0.0  # of the last
    drafts: WeakSet[Draft] = field(default_factory=WeakSet)

    def __post_init__(self) -> None:
        self.finished = Condition(self.lock)  # a pass is over
        self.joined = Condition(self.lock)  # a step is pending

    def register(self, draft: Draft) -> None:
        """Set room aside for what the model will remember of a draft."""
        with self.lock:
            rooms = sum(other.room_tokens for other in self.drafts if not other.is_closed)
            needed = (rooms + draft.room_tokens) * self.bytes_per_token
            if draft.remembers and needed > settings().most_drafts_mib * MIB:
                draft.close()
                raise TooBusy(
                    f"The texts that are being written take the {settings().most_drafts_mib} MiB that they may "
                    f"(EXPLORER_MOST_DRAFTS_MIB). Ask for fewer tokens, or try again in a minute."
                )
            self.drafts.add(draft)

    def extend(self, model: LoadedModel, drafts: Sequence[Draft], token_ids: Sequence[int]) -> Tensor:
        """Wait until another caller's pass has answered this step too, or run one where nobody is at work."""
        step = _Step(drafts, token_ids)
        with self.lock:
            self.pending.append(step)
            self.joined.notify()
        try:
            while self._is_next_to_work(step):
                try:
                    if steps := self._next_steps():
                        self._run_one_pass(model, steps)
                finally:
                    with self.lock:
                        self.is_at_work = False
                        self.finished.notify_all()
        finally:  # an interrupt, too, must not leave a step behind
            with self.lock:
                self.pending.remove(step)
        if step.error is not None:
            raise step.error
        return step.logits

    def _is_next_to_work(self, step: _Step) -> bool:
        """Whether this caller is to run the next pass; False = its step is answered."""
        with self.lock:
            while self.is_at_work and step.is_waiting:
                self.finished.wait()
            if step.is_waiting:
                self.is_at_work = True
            return step.is_waiting

    def _run_one_pass(self, model: LoadedModel, steps: list[_Step]) -> None:
        drafts = [draft for step in steps for draft in step.drafts]
        self.lately = (WeakSet(drafts), self.lately[0])
        began = time.perf_counter()
        try:
            with torch.inference_mode(), for_others_too():
                logits = read_next(model, drafts, [token_id for step in steps for token_id in step.token_ids])
        except Exception as error:  # handed to the caller whose drafts these are
            for step in steps:
                step.alone = True
            if len(steps) == 1:
                steps[0].error = error
            return
        finally:
            self.pass_seconds = time.perf_counter() - began
        for step, some in zip(steps, logits.split([len(step.drafts) for step in steps]), strict=True):
            step.logits = some

    def _next_steps(self) -> list[_Step]:
        """Those that wait, the first among them; of more than one pass holds, the first. Whose turn is over, leaves.

        Texts that moved at one of the last two passes, and have not asked for the next token yet, are waited for, a
        small part of what a pass takes: else two halves of a class would take turns, at the price of two passes.
        """

        def is_complete() -> bool:
            here = {id(draft) for step in self.pending if step.is_waiting for draft in step.drafts}
            return all(draft.is_closed or id(draft) in here for moved in self.lately for draft in moved)

        with self.lock:
            self.joined.wait_for(is_complete, timeout=PATIENCE * self.pass_seconds)
            waiting = [step for step in self.pending if step.is_waiting]
        for step in waiting:
            if step.turn is not None:
                step.error = step.turn.refusal()
        waiting = [step for step in waiting if step.is_waiting]
        if not waiting:
            return []
        steps, rows = waiting[:1], len(waiting[0].drafts)
        if waiting[0].alone:
            return steps
        for step in waiting[1:]:
            rows += len(step.drafts)
            if rows > MOST_ROWS:
                break
            if not step.alone:
                steps.append(step)
        return steps


_decoders: WeakKeyDictionary[LoadedModel, _Decoder] = WeakKeyDictionary()  # goes when the model does
_decoders_lock = Lock()


def _decoder_of(model: LoadedModel) -> _Decoder:
    if (decoder := _decoders.get(model)) is not None:
        return decoder
    with _decoders_lock:
        if (decoder := _decoders.get(model)) is None:
            decoder = _decoders[model] = _Decoder(*can_remember(model))
    return decoder
