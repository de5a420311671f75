"""Forward passes shared by all who ask the same model at the same time, with a vocabulary head only where it is wanted.

Nobody waits for company: a caller adds its rows to what is pending, and if nobody is at work on that, it leads. The
leader runs micro-batches of what is pending, the smallest request first, until its own rows are answered; then it hands
the lead on. Each of the others waits for its own event: it goes the moment that its last row is answered, or leads. So
a batch of hundreds does not make one sentence wait for all of it. Between batches those leave whose turn is over, and
those who ask for many give way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, local
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor, nn

from explorer.errors import UnsuitableText
from explorer.models.attention import refuse_sharing
from explorer.models.backend import LoadedModel
from explorer.models.padding import may_be_padded
from explorer.models.turns import Turn, current_turn, for_others_too, give_way

CUDA_BATCH_TOKENS = 16_384
CPU_BATCH_TOKENS = 512  # larger ones are no faster on two cores, and pad more


@dataclass(frozen=True)
class Row:
    """One input, and where its tokens are to be predicted.

    Attributes:
        ids: Token ids, special tokens included.
        positions: Indices into ids, in the order the answers are wanted; at least one.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]


def masked_logits(model: LoadedModel, rows: Sequence[Row]) -> list[Float[Tensor, "position vocab"]]:
    """Scores of the whole vocabulary at chosen positions of each row, from forward passes shared with other callers.

    Args:
        model: A model with a language modelling head on one stack of layers.
        rows: Any number, of any lengths.

    Returns:
        Per row, in the order given, float32 logits on the model's device, one line per position.

    Raises:
        UnsuitableText: A row is longer than the model's limit.
        ValueError: A row is empty, or holds an id or a position that does not exist; or heads are switched off.
    """
    refuse_sharing()
    combiner = _combiner_of(model)
    for row in rows:
        combiner.check(row)
    if current_turn() is None:
        return combiner.answer(model.network, rows) if rows else []
    answers: dict[int, Tensor] = {}
    for part in _parts(rows, combiner.batch_tokens):
        give_way()
        answers.update(zip(part, combiner.answer(model.network, [rows[index] for index in part]), strict=True))
    return [answers[index] for index in range(len(rows))]


def _parts(rows: Sequence[Row], most_tokens: int) -> Iterable[list[int]]:
    """Indices of rows, the shortest first, in parts of so many tokens."""
    part, tokens = [], 0
    for index in sorted(range(len(rows)), key=lambda index: len(rows[index].ids)):
        if part and tokens + len(rows[index].ids) > most_tokens:
            yield part
            part, tokens = [], 0
        part.append(index)
        tokens += len(rows[index].ids)
    if part:
        yield part


@dataclass(eq=False)
class _Request:
    """What one caller asks: rows still to do, and the answers so far."""

    todo: dict[int, Row]
    logits: list[Tensor | None]
    alone: bool = False  # a pass shared with others failed: the next is not shared, so that the fault finds its owner
    error: Exception | None = None
    called: Event = field(default_factory=Event)  # set when all of it is answered, or when its caller is to lead
    turn: Turn | None = field(default_factory=current_turn)

    @property
    def is_open(self) -> bool:
        return bool(self.todo) and self.error is None

    def fail(self, error: Exception) -> None:
        """Nothing more of it is answered."""
        self.error = error
        self.called.set()


@dataclass(eq=False)
class _Combiner:
    """What is pending for one model, and the facts needed to check and pad it."""

    vocabulary: int
    limit_tokens: int
    pad_id: int
    device: torch.device
    batch_tokens: int
    pads: bool  # else rows of a batch have equal lengths
    pending: list[_Request] = field(default_factory=list)
    leader: _Request | None = None  # whose caller runs the batches
    lock: Lock = field(default_factory=Lock)  # for the two above; never held while a batch runs

    def check(self, row: Row) -> None:
        """Refuse what the device would fail on: on CUDA an index error ruins the whole process."""
        length = len(row.ids)
        if length > self.limit_tokens:
            raise UnsuitableText(
                f"The text has {length} tokens, and this model reads at most {self.limit_tokens}: shorten the text."
            )
        if not row.ids or not row.positions:
            raise ValueError("a row needs at least one token id and one position")
        if min(row.ids) < 0 or max(row.ids) >= self.vocabulary:
            raise ValueError(f"token ids must lie in [0, {self.vocabulary}), got {min(row.ids)} to {max(row.ids)}")
        if min(row.positions) < 0 or max(row.positions) >= length:
            raise ValueError(f"positions {row.positions} must lie in [0, {length})")

    def answer(self, network: nn.Module, rows: Sequence[Row]) -> list[Tensor]:
        """Wait until these rows are answered, or run micro-batches, these rows among them, until they are."""
        request = _Request(todo=dict(enumerate(rows)), logits=[None] * len(rows))
        with self.lock:
            self.pending.append(request)
            if self.leader is None:
                self.leader = request
        try:
            while request.is_open:
                if self.leader is request:
                    self._run_one_batch(network)
                else:
                    request.called.wait()
        finally:
            self._leave(request)
        if request.error is not None:
            raise request.error
        return request.logits

    def _leave(self, request: _Request) -> None:
        with self.lock:
            self.pending.remove(request)
            if self.leader is request:
                self.leader = next((other for other in self.pending if other.is_open), None)
                if self.leader is not None:
                    self.leader.called.set()

    def _run_one_batch(self, network: nn.Module) -> None:
        batch = self._next_batch()
        if not batch:
            return
        requests = {id(request): request for request, _ in batch}.values()
        try:
            answers = self._forward(network, [request.todo[index] for request, index in batch])
        except Exception as error:  # handed to the caller whose rows these are
            for request in requests:
                request.alone = True
            if len(requests) == 1:
                request.fail(error)
            return
        for (request, index), logits in zip(batch, answers, strict=True):
            request.logits[index] = logits
            del request.todo[index]
            if not request.todo:
                request.called.set()

    def _next_batch(self) -> list[tuple[_Request, int]]:
        """Rows of similar length, those of the smallest request among them; none if all turns are over."""
        with self.lock:
            waiting = [request for request in self.pending if request.is_open]
        for request in waiting:
            if request.turn is not None and (error := request.turn.refusal()):
                request.fail(error)
        waiting = [request for request in waiting if request.is_open]
        if not waiting:
            return []
        first = waiting[0]
        if len(waiting) == 1 and len(first.todo) == 1:
            return [(first, next(iter(first.todo)))]
        first = min(waiting, key=lambda request: sum(len(row.ids) for row in request.todo.values()))
        sharing = [first] if first.alone else [request for request in waiting if not request.alone]
        by_length = sorted(
            ((request, index) for request in sharing for index in request.todo),
            key=lambda asked: len(asked[0].todo[asked[1]].ids),
        )
        return next(batch for batch in self._cut(by_length) if any(request is first for request, _ in batch))

    def _cut(self, by_length: list[tuple[_Request, int]]) -> Iterable[list[tuple[_Request, int]]]:
        """Micro-batches whose tokens, padding included, stay under the bound."""
        batch, length_before = [], 0
        for request, index in by_length:
            length = len(request.todo[index].ids)
            is_full = (len(batch) + 1) * length > self.batch_tokens
            if batch and (is_full or (length > length_before and not self.pads)):
                yield batch
                batch = []
            batch.append((request, index))
            length_before = length
        yield batch

    @torch.inference_mode()
    def _forward(self, network: nn.Module, rows: list[Row]) -> Sequence[Tensor]:
        longest = max(len(row.ids) for row in rows)
        padded = [row.ids + (self.pad_id,) * (longest - len(row.ids)) for row in rows]
        ids = torch.tensor(padded).to(self.device)
        if all(len(row.ids) == longest for row in rows):
            mask = None  # spares building a 4-D mask and lets the fastest attention kernel run
        else:
            mask = torch.tensor([[1] * len(row.ids) + [0] * (longest - len(row.ids)) for row in rows]).to(self.device)
        wanted = torch.tensor([i * longest + position for i, row in enumerate(rows) for position in row.positions])
        _selection.wanted, _selection.shape, _selection.done = wanted.to(self.device), ids.shape, False
        try:
            with for_others_too():
                output = network(input_ids=ids, attention_mask=mask, return_dict=True)
            logits = output["logits" if "logits" in output else "prediction_logits"]  # a BERT with both its heads
            if not _selection.done:  # an unusual network: its head ran everywhere
                logits = logits.flatten(0, 1).index_select(0, _selection.wanted)
        finally:
            _selection.wanted = None
        logits = logits.reshape(len(wanted), -1).float()
        return logits.split([len(row.positions) for row in rows])


class _Selection(local):
    """The positions that this thread's forward pass wants; other threads may use the same network undisturbed."""

    wanted: Tensor | None = None
    shape: tuple[int, ...] = ()
    done: bool = False


_selection = _Selection()


def _keep_wanted(body: nn.Module, arguments: object, output: object) -> None:
    """Forward hook of a network's body: the vocabulary head, half of a small model's work, gets only what is wanted."""
    if _selection.wanted is None or _selection.done:
        return
    hidden = getattr(output, "last_hidden_state", None)
    if hidden is not None and hidden.shape[:2] == _selection.shape:
        output["last_hidden_state"] = hidden.flatten(0, 1).index_select(0, _selection.wanted)[None]
        _selection.done = True


_combiners: WeakKeyDictionary[LoadedModel, _Combiner] = WeakKeyDictionary()  # goes when the model does
_combiners_lock = Lock()


def _combiner_of(model: LoadedModel) -> _Combiner:
    if (combiner := _combiners.get(model)) is not None:
        return combiner
    network = model.network
    if network.config.is_encoder_decoder:
        raise ValueError(f"{model.card.name} has no single stack of layers: ask its decoder instead")
    pads = may_be_padded(model, network.base_model)  # may take a second, so not under the lock
    with _combiners_lock:
        if (combiner := _combiners.get(model)) is None:
            combiner = _combiners[model] = _prepare(model, pads)
    return combiner


def _prepare(model: LoadedModel, pads: bool) -> _Combiner:
    network = model.network
    network.base_model.register_forward_hook(_keep_wanted)
    device = network.device
    return _Combiner(
        vocabulary=len(network.get_input_embeddings().weight),
        limit_tokens=model.limit_tokens,
        pad_id=getattr(network.config, "pad_token_id", None) or 0,
        device=device,
        batch_tokens=CUDA_BATCH_TOKENS if device.type == "cuda" else CPU_BATCH_TOKENS,
        pads=pads,
    )
