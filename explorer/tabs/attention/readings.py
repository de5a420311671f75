"""Recent readings, rounded, shared by all visitors: a head is fetched from here when it is looked at."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass, fields
from functools import partial
from threading import Lock, Thread

from explorer import analysis
from explorer.analysis.attention_packing import PackedReading, pack_reading
from explorer.analysis.attention_results import AttentionReading
from explorer.errors import ExplorerError, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.attention.passing import Passing
from explorer.tabs.attention.which import layer_of
from explorer.tabs.kept import Kept


@dataclass(frozen=True)
class Ask:
    """What decides the weights.

    Attributes:
        model: Name in the registry.
        text: As typed.
        second: As typed; "" = none, or what the model writes itself.
        new_tokens: How many tokens a causal model writes first, where no second text is given.
    """

    model: str
    text: str
    second: str = ""
    new_tokens: int = 0


MOST_LOOKED_AT = 256
Wanted = tuple[Ask, int | None]  # what was asked, and which layer of it; None = all


def read_ask(sent: object) -> tuple[Ask, str]:
    """What the page sent to fetch a head: the question, and the word for the head.

    Raises:
        UnsuitableText: Something is missing or of another kind; the page itself never sends that.
    """
    asked = sent.get("asked") if isinstance(sent, dict) else None
    word = sent.get("which") if isinstance(sent, dict) else None
    kinds = {field.name: type(field.default) if field.name == "new_tokens" else str for field in fields(Ask)}
    if not isinstance(asked, dict) or not isinstance(word, str) or asked.keys() != kinds.keys():
        raise UnsuitableText("A head is fetched by what was read and which head it is. Reload the page.")
    if any(type(asked[name]) is not kind for name, kind in kinds.items()):
        raise UnsuitableText("A head is fetched by texts and a whole number of tokens. Reload the page.")
    return Ask(**asked), word


def tidy_ask(models: Registry, name: str, ask: Ask) -> Ask:
    """The same without what the model makes no use of, so that it is found again whatever stands in hidden boxes."""
    if writes_on(models.card(name)):
        return Ask(name, ask.text, ask.second, 0 if ask.second.strip() else ask.new_tokens)
    return Ask(name, ask.text, ask.second)


class Readings:
    """Recent readings, whole and single layers of them."""

    def __init__(self, room_mib: int) -> None:
        self._kept: Kept[Wanted, PackedReading] = Kept(room_mib, lambda reading: reading.size_bytes)
        self._looked_at: dict[Ask, int] = {}  # the only layer of each that was asked for
        self._passing: dict[Ask, Passing] = {}
        self._lock = Lock()

    def all_layers(self, models: Registry, ask: Ask) -> PackedReading:
        """The whole reading, from here if it is here.

        Raises:
            ExplorerError: The model or the text does not suit.
        """
        return self._kept.get((ask, None), lambda: self._read_all(models, ask))

    def with_layer(self, models: Registry, ask: Ask, word: str) -> PackedReading:
        """A reading that has a head: its layer alone where not all are here, for the layers above need no computing.

        Whoever looks at another layer has all of them read, and waits only until the model has passed that one.

        Args:
            models: Where models run.
            ask: What is read.
            word: For the head, as tabs.attention.which spells it.

        Raises:
            ExplorerError: The model or the text does not suit.
        """
        layer = layer_of(word)
        if layer is None or self._kept.has((ask, None)):
            return self.all_layers(models, ask)
        if not self._kept.knows((ask, layer)):
            passing = self._passing.get(ask)
            if not passing and self._looked_at.get(ask, layer) != layer:
                passing = self._begin_all(models, ask)
            if passing and (found := passing.wait(layer)):
                self._kept.put((ask, layer), found)
                return found
            if self._kept.knows((ask, None)):
                return self.all_layers(models, ask)
        self._note(ask, layer)
        return self._kept.get((ask, layer), lambda: models.run(ask.model, partial(read_packed, ask=ask, layer=layer)))

    def keep(self, ask: Ask, reading: PackedReading) -> None:
        """Keep a whole reading that is there already."""
        self._kept.put((ask, None), reading)

    def _note(self, ask: Ask, layer: int) -> None:
        with self._lock:
            self._looked_at[ask] = layer
            while len(self._looked_at) > MOST_LOOKED_AT:
                del self._looked_at[next(iter(self._looked_at))]

    def _begin_all(self, models: Registry, ask: Ask) -> Passing:
        """Have all layers read by another thread."""
        passing = self._passing.setdefault(ask, Passing())

        def read() -> None:
            try:
                self.all_layers(models, ask)
            except ExplorerError:  # whoever waits asks for a layer alone, and is told
                pass
            finally:
                self._end(ask, passing)

        Thread(target=copy_context().run, args=(read,), daemon=True).start()
        return passing

    def _read_all(self, models: Registry, ask: Ask) -> PackedReading:
        passing = self._passing.setdefault(ask, Passing())
        try:
            return models.run(ask.model, partial(read_packed, ask=ask, passing=passing))
        finally:
            self._end(ask, passing)

    def _end(self, ask: Ask, passing: Passing) -> None:
        self._passing.pop(ask, None)
        passing.close()

    @property
    def size_bytes(self) -> int:
        """What the readings take."""
        return self._kept.size_bytes


def read_packed(
    model: LoadedModel, ask: Ask, *, layer: int | None = None, passing: Passing | None = None
) -> PackedReading:
    """The analysis, rounded where the model is, so that less has to travel.

    Args:
        model: Any with attention.
        ask: What to read.
        layer: The only one wanted, counted from 0, or the last where there are fewer; None = all, as where one stack
            has it and another does not.
        passing: Where each layer is put once it is known, if all are wanted.
    """
    from explorer.models.attention import head_counts  # needs torch

    read = partial(analysis.read_attention, model, ask.text, **beside(model, ask))
    layers = {stack: count for stack, (count, _) in head_counts(model.network).items()}
    if layer is None:

        def keep(layer: int, found: AttentionReading) -> None:
            passing.put(layer, pack_reading(found, layers, layer))

        return pack_reading(read(passed=keep if passing else None))
    if layer >= min(layers.values()) != max(layers.values()):
        return pack_reading(read())
    layer = min(layer, *(count - 1 for count in layers.values()))
    return pack_reading(read(layers=[layer]), layers, layer)


def beside(model: LoadedModel, ask: Ask) -> dict[str, object]:
    """What is read beside the text, as analyses take it: a second text, or the tokens that the model writes first."""
    if not ask.new_tokens or not writes_on(model.card):
        return {"second_text": ask.second or None}
    steps = analysis.continue_text(model, ask.text, strategy="greedy", max_new_tokens=ask.new_tokens)
    return {"written": tuple(step.token_id for step in steps)}


def writes_on(card: ModelCard) -> bool:
    """Whether a model reads from left to right, and goes on writing what it reads."""
    return Ability.GENERATE in card.abilities and Ability.FILL_BLANKS not in card.abilities
