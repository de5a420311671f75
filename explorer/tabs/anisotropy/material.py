"""The corpus that all views of the tab are about, and recent measurements of it, shared by all visitors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256

from explorer import analysis
from explorer.analysis.anisotropy_results import Anisotropy, DimensionAblation, RogueDimensions
from explorer.analysis.cures import COMPONENTS, CURES
from explorer.analysis.own_corpus import read_own_corpus
from explorer.analysis.vector_spaces import LayerSpace
from explorer.errors import UnsuitableText
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.kept import Kept
from explorer.tabs.links import LINKED_CHARACTERS

YOURS = "Your sentences"
EVERY = 3  # so that the page answers in seconds; HTTP and the shell take all sentences
OURS = "Every third of the explorer's own sentences (uses of 12 ambiguous words, and a small treebank)"
KEPT_MIB = 128
SPACES_MIB = 256  # of six models as MiniLM, or of two as BERT base
MOST_ROGUES = 10  # top dimensions of a layer
ROGUE_POINTS = 300  # drawn to see how far similarities are the same without them
PLACES = 80  # predictions compared
DRAWS, FEW_DRAWS = 10, 4  # of random dimensions beside the top ones; below the last layer each takes all layers above
VALUE_BYTES = 100  # about what a number takes that stands in no array

Asked = tuple[ModelCard, str, str, str, bool]  # model, name of the corpus, its fingerprint, unit, specials


@dataclass(frozen=True)
class Sentences:
    """A corpus.

    Attributes:
        sentences: None is empty.
        name: For the protocol.
    """

    sentences: tuple[str, ...]
    name: str

    @property
    def fingerprint(self) -> str:
        """The same for the same sentences; short, whatever they are."""
        return sha256("\n".join(self.sentences).encode("utf-8", "surrogatepass")).hexdigest()


def read_corpus(own: str | None) -> Sentences:
    """The sentences that are measured.

    Args:
        own: As typed, a sentence a line; "" = those that come with the explorer.

    Raises:
        UnsuitableText: There are more than settings().most_corpus_characters.
    """
    own = own or ""
    if not own.strip():
        return _own_corpus()
    most = settings().most_corpus_characters
    if len(own) > most:
        raise UnsuitableText(
            f"There are {len(own):,} characters; the page measures at most {most:,} at once. Give fewer sentences, or "
            f"use Python or a shell, which have no limit."
        )
    name = YOURS if len(own) <= LINKED_CHARACTERS else f"{YOURS}, too long for a link"
    return Sentences(tuple(line.strip() for line in own.splitlines() if line.strip()), name)


@cache
def _own_corpus() -> Sentences:
    return Sentences(read_own_corpus()[::EVERY], OURS)


class Measured:
    """Recent measurements; whoever asks for what another is waiting for waits for the same."""

    def __init__(self, room_mib: float = KEPT_MIB) -> None:
        self._found: Kept[tuple[Asked, str], Anisotropy] = Kept(room_mib, _size_bytes)
        self._coming: Kept[tuple[Asked, tuple[str, ...]], tuple[Anisotropy, ...]] = Kept(0, _size_of_all)
        self._rogues: Kept[Asked, RogueDimensions] = Kept(room_mib, _size_of_rogues)
        self._ablations: Kept[tuple[Asked, int, int, str], DimensionAblation] = Kept(1, _size_of_ablation)
        self._spaces: Kept[Asked, tuple[LayerSpace, ...]] = Kept(SPACES_MIB, _size_of_spaces)

    def anisotropy(
        self,
        registry: Registry,
        model: str,
        sentences: Sentences,
        cures: tuple[str, ...] = ("none",),
        *,
        unit: str = "tokens",
        specials: bool = False,
        components: int = COMPONENTS,
    ) -> tuple[Anisotropy, ...]:
        """All layers before and after cures, in their order; those that are not here are computed together.

        Args:
            registry: Where models run.
            model: Name in it.
            sentences: As read_corpus reads them.
            cures: Keys of cures.CURES.
            unit: As measure_anisotropy takes it.
            specials: Likewise; of words there are none.
            components: Likewise, of the cure "all_but_the_top".

        Raises:
            ExplorerError: The model or the sentences do not suit.
        """
        asked = _asked(registry, model, sentences, unit, specials)
        keys = {cure: _cure_key(cure, components) for cure in cures}
        found = {cure: self._found.find((asked, key)) for cure, key in keys.items()}
        missing = tuple(cure for cure, one in found.items() if one is None)
        if missing:
            fitted = any(CURES[cure].needs_fit for cure in missing)
            spaces = self.spaces(registry, model, sentences, unit=unit, specials=specials) if fitted else None
            compute = partial(
                analysis.measure_cures, sentences=sentences.sentences, corpus=sentences.name, unit=unit,
                specials=asked[-1], cures=missing, components=components, spaces=spaces,
            )  # fmt: skip
            coming = asked, tuple(keys[cure] for cure in missing)
            for one in self._coming.get(coming, lambda: registry.run(model, compute)):
                found[one.cure] = one
                self._found.put((asked, keys[one.cure]), one)
        return tuple(one for cure in cures if (one := found[cure]) is not None)

    def spaces(
        self, registry: Registry, model: str, sentences: Sentences, *, unit: str = "tokens", specials: bool = False
    ) -> tuple[LayerSpace, ...]:
        """What cures are fitted on: the space of each layer; arguments and errors as of anisotropy."""
        from explorer.analysis.anisotropy import sum_spaces  # needs torch

        asked = _asked(registry, model, sentences, unit, specials)
        compute = partial(sum_spaces, sentences=sentences.sentences, unit=unit, specials=asked[-1])
        return self._spaces.get(asked, lambda: registry.run(model, compute))

    def rogues(
        self, registry: Registry, model: str, sentences: Sentences, *, unit: str = "tokens", specials: bool = False
    ) -> RogueDimensions:
        """The MOST_ROGUES top dimensions of all layers, without what they do for predictions.

        Args:
            registry: Where models run.
            model: Name in it.
            sentences: As read_corpus reads them.
            unit: As find_rogue_dimensions takes it.
            specials: Likewise; of words there are none.

        Raises:
            ExplorerError: The model or the sentences do not suit.
        """
        asked = _asked(registry, model, sentences, unit, specials)
        compute = partial(
            analysis.find_rogue_dimensions, sentences=sentences.sentences, corpus=sentences.name, k=MOST_ROGUES,
            unit=unit, specials=asked[-1], random_points=ROGUE_POINTS, places=0,
        )  # fmt: skip
        return self._rogues.get(asked, lambda: registry.run(model, compute))

    def ablation(
        self,
        registry: Registry,
        model: str,
        sentences: Sentences,
        found: RogueDimensions,
        *,
        layer: int,
        k: int,
        value: str,
    ) -> DimensionAblation:
        """What the top dimensions of one layer do for predictions.

        Args:
            registry: Where models run.
            model: Name in it.
            sentences: As read_corpus reads them.
            found: As rogues returns it for these.
            layer: One that the model has.
            k: How many.
            value: As find_rogue_dimensions takes it.

        Raises:
            UnsuitableModel: It predicts nothing.
            ExplorerError: The model or the sentences do not suit.
        """
        asked = _asked(registry, model, sentences, found.protocol.unit, found.protocol.specials)
        draws = DRAWS if layer == found.layer_count - 1 else FEW_DRAWS
        compute = partial(
            analysis.ablate_rogues, found=found, sentences=sentences.sentences, layer=layer, k=k, places=PLACES,
            value=value, draws=draws,
        )  # fmt: skip
        return self._ablations.get((asked, layer, k, value), lambda: registry.run(model, compute))

    def keep(self, card: ModelCard, sentences: Sentences, found: Anisotropy) -> None:
        """Keep a measurement that is there already.

        Args:
            card: Of the model that made it.
            sentences: What was measured.
            found: Of all layers.
        """
        protocol = found.protocol
        asked = (card, sentences.name, sentences.fingerprint, protocol.unit, protocol.specials)
        self._found.put((asked, found.cure), found)


def _cure_key(cure: str, components: int) -> str:
    return f"{cure} {components}" if cure == "all_but_the_top" and components != COMPONENTS else cure


def _asked(registry: Registry, model: str, sentences: Sentences, unit: str, specials: bool) -> Asked:
    is_counted = bool(specials) and unit == "tokens"
    return registry.card(model), sentences.name, sentences.fingerprint, unit, is_counted


def _size_bytes(found: Anisotropy) -> int:
    arrays = (found.spectrum, found.edges, found.random_pairs, found.same_word, found.top_dimensions, found.covariance)
    return sum(array.nbytes for array in arrays) + VALUE_BYTES * len(found.metrics) * len(found.layers)


def _size_of_spaces(spaces: tuple[LayerSpace, ...]) -> int:
    return sum(space.covariance.nbytes + space.components.nbytes for space in spaces)


def _size_of_all(found: tuple[Anisotropy, ...]) -> int:
    return 1 + sum(map(_size_bytes, found))


def _size_of_rogues(found: RogueDimensions) -> int:
    arrays = (found.contributions, found.centre, found.top, found.shares, found.means, found.deviations,
              found.r_squared, found.spearman)  # fmt: skip
    return sum(array.nbytes for array in arrays)


def _size_of_ablation(found: DimensionAblation) -> int:
    return VALUE_BYTES * sum(3 + len(one.dimensions) for one in found.rogue)
