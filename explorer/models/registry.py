"""The models on offer, by name, and the backend that runs them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from functools import partial
from threading import Lock

from explorer.errors import ModelRefused, TooBusy, UnknownModel, quoted
from explorer.models.backend import Backend, LoadedModel, Result
from explorer.models.card import Ability, HubRepository, ModelCard
from explorer.models.presence import is_here, is_offline
from explorer.models.shared_answers import SharedAnswers, question_of
from explorer.models.status import Budget, ModelStatus
from explorer.models.suggesting import MOST_NAMED

ALIKE = 0.5  # a name at least so much like what was typed, of 0 to 1, may have been meant
NEARLY = 0.1  # so much less like a name than the closest may be what is suggested beside it
WHERE_MODELS_ARE_LISTED = "All models are listed in the Models tab."


class Registry:
    """Finds a model by name and sends analyses to where it runs.

    Args:
        cards: The models on offer, in the order they are shown; names must be unique.
        open_backend: Called once, when the first model is needed: opening it imports torch, and the page comes first.

    Raises:
        ValueError: Two cards share a name.
    """

    def __init__(self, cards: Iterable[ModelCard], open_backend: Callable[[], Backend]) -> None:
        self._cards: dict[str, ModelCard] = {}
        for card in cards:
            if card.name in self._cards:
                raise ValueError(f"two cards are named {card.name!r}")
            self._cards[card.name] = card
        self._backend = open_backend if isinstance(open_backend, _LazyBackend) else _LazyBackend(open_backend)

    def names(self, ability: Ability | None = None) -> list[str]:
        """Names of the models, in the order of the catalogue.

        Args:
            ability: Only of the models that have it.
        """
        return [card.name for card in self._cards.values() if ability is None or ability in card.abilities]

    def cards(self) -> tuple[ModelCard, ...]:
        """The models on offer, in the order of the catalogue."""
        return tuple(self._cards.values())

    def known(self, name: str) -> ModelCard | None:
        """The card of that name, in capitals or not, or else the first of a Hub repository of that name: "gpt2" was an
        id once."""
        if name in self._cards:
            return self._cards[name]
        folded, cards = name.casefold() or None, self._cards.values()
        return next((card for key in (_folded_name, _repository) for card in cards if key(card) == folded), None)

    def card(self, name: str, ability: Ability | None = None) -> ModelCard:
        """The facts about a model.

        Args:
            name: Of the model, or of its repository on the Hub without the organisation.
            ability: What it is wanted for: the message about an unknown name suggests only models that have it.

        Raises:
            UnknownModel: No card has that name; the message names the nearest, or else where all are listed.
        """
        card = self.known(name)
        if card is None:
            said = f"No model is called {quoted(name)}" if name else "No model is chosen"
            raise UnknownModel(f"{said}. {self._suggest(name, ability)}")
        return card

    def run(self, name: str, analysis: Callable[[LoadedModel], Result]) -> Result:
        """Apply an analysis to a model, loaded first if needed, and return its result.

        Who asks the same of the same model while that is at work gets the same result.

        Args:
            name: Of the model, as on its card.
            analysis: E.g. partial(fill_blanks, text="The cat ___ on the mat."); it travels to the model.

        Raises:
            UnknownModel: No card has that name.
            ExplorerError: Whatever the analysis or the load says to the visitor.
        """
        card = self.card(name)  # a name that is wrong is told at once, and opens nothing
        run = partial(self._backend().run, card, analysis)
        question = question_of(analysis)
        return run() if question is None else self._backend.answers.get((card, question), run)

    def stream(self, name: str, analysis: Callable[[LoadedModel], Iterator[Result]]) -> Iterator[Result]:
        """As run, for an analysis that yields results while it works; close the iterator to stop it."""
        card = self.card(name)
        return self._backend().stream(card, analysis)

    def load(self, name: str, is_waiting: Callable[[], bool] = lambda: True) -> None:
        """Bring a model into memory; return when it is there.

        Args:
            name: Of the model.
            is_waiting: Whether the caller still wants it; a download that nobody waits for may end.
        """
        card = self.card(name)
        self._backend().load(card, is_waiting)

    def unload(self, name: str) -> None:
        """Let a model go, if it is in memory.

        Raises:
            TooBusy: It is in use, or another visitor than the one who asks used it lately.
        """
        card = self.card(name)
        if self._backend.is_open:
            self._backend().unload(card)

    def let_go(self, is_gone: Callable[[ModelCard], bool]) -> None:
        """Let models go that nobody can want any more, on offer or not; one in use stays until it is idle.

        Args:
            is_gone: Whether a model's files are no longer there.
        """
        if self._backend.is_open:
            for card in filter(is_gone, tuple(self._backend().status())):
                with suppress(TooBusy):
                    self._backend().unload(card)

    def status(self) -> tuple[ModelStatus, ...]:
        """How every model on offer stands, in the order of the catalogue; never waits for torch."""
        here = self._backend().status() if self._backend.is_open else {}
        return tuple(here.get(card) or ModelStatus(card.name) for card in self._cards.values())

    def budget(self) -> Budget | None:
        """What weights may take, and take, where models run; None until the first model was asked for."""
        return self._backend().budget() if self._backend.is_open else None

    def with_card(self, card: ModelCard) -> "Registry":
        """A registry with one more model, e.g. for the one visitor who named it; the backend is shared.

        Args:
            card: The further model.

        Raises:
            ModelRefused: Another model on offer has its name.
        """
        if self._cards.get(card.name, card) != card:
            raise ModelRefused(
                f"{quoted(card.name)} is already the name of a model on offer: choose that one, or give yours another."
            )
        return Registry((self._cards | {card.name: card}).values(), self._backend)

    def _suggest(self, name: str, ability: Ability | None) -> str:
        cards = [self._cards[name] for name in self.names(ability)]
        called = {_repository(card): card for card in cards} | {card.name.casefold(): card for card in cards}
        called.pop("", None)
        close = list(dict.fromkeys(called[match] for match in _near(name.casefold(), called)))
        here, away = ([card.name for card in close if is_here(card) == at_hand] for at_hand in (True, False))
        if here:  # offline, nothing else can be had
            away = [] if is_offline() else away
        here = here[:MOST_NAMED]
        away = away[: MOST_NAMED - len(here)]
        told = " or ".join([*here, *([f"{' or '.join(away)} (with internet)"] if away else [])])
        kin = [card.name for card in cards if away and is_here(card) and card.model_type == close[0].model_type]
        kin.sort(key=lambda one: -SequenceMatcher(None, one.casefold(), name.casefold()).ratio())
        beside = f" Of its kind, {kin[0]} is here." if kin and not here and is_offline() else ""
        return f"Did you mean {told}?{beside}" if told else WHERE_MODELS_ARE_LISTED


def _near(name: str, called: Iterable[str]) -> list[str]:
    """Those that begin with a name, else have it within, else are like it; close to the closest of them, that first."""
    ratios = {one: SequenceMatcher(None, one, name).ratio() for one in called}
    longer = [one for one in ratios if name and name in one]
    begun = [one for one in longer if one.startswith(name)]
    close = begun or longer or [one for one in ratios if ratios[one] >= ALIKE]
    close.sort(key=lambda one: -ratios[one])
    return [one for one in close[: 2 * MOST_NAMED] if ratios[one] >= ratios[close[0]] - NEARLY]


def _folded_name(card: ModelCard) -> str:
    return card.name.casefold()


def _repository(card: ModelCard) -> str:
    """The name of its repository on the Hub without the organisation, casefolded; "" for a model from elsewhere."""
    return card.source.id.rpartition("/")[2].casefold() if isinstance(card.source, HubRepository) else ""


class _LazyBackend:
    """A backend that is opened at its first use, once, whoever comes first; and the answers on their way from it."""

    def __init__(self, open_backend: Callable[[], Backend]) -> None:
        self.answers: SharedAnswers = SharedAnswers()
        self._open_backend = open_backend
        self._backend: Backend | None = None
        self._lock = Lock()

    @property
    def is_open(self) -> bool:
        """Whether anybody has used it."""
        return self._backend is not None

    def __call__(self) -> Backend:
        with self._lock:
            if self._backend is None:
                self._backend = self._open_backend()
            return self._backend


FindModel = Callable[[str], tuple[Registry, str]]  # name -> registry that has the model, and its name there
