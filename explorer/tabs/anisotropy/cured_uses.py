"""What cures do to the senses of a word, judged once for all visitors."""

from __future__ import annotations

from explorer.analysis.cured_senses import score_cured
from explorer.analysis.cures import COMPONENTS
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.sense_results import CuredSenses
from explorer.analysis.vectors import take_uses
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.tabs.anisotropy.material import Measured, Sentences
from explorer.tabs.kept import Kept
from explorer.tabs.neighbours.material import Vectors, read_uses
from explorer.tabs.neighbours.measuring import SEED, Labels, read_labels

KEPT_MIB = 16
LAYER_BYTES = 2_500  # about what the scores of one take

Wanted = tuple[ModelCard, str, LabelledUses, str, bool, str, int]  # …, unit, specials, cure, components


class CuredUses:
    """Recent scores; what is asked for again is here."""

    def __init__(self, vectors: Vectors, measured: Measured) -> None:
        self._vectors = vectors
        self._measured = measured
        self._found: Kept[Wanted, CuredSenses] = Kept(KEPT_MIB, _size_bytes)

    def senses(
        self,
        registry: Registry,
        model: str,
        sentences: Sentences,
        word: str,
        cures: tuple[str, ...],
        *,
        unit: str,
        specials: bool,
        components: int = COMPONENTS,
    ) -> tuple[CuredSenses, ...]:
        """The scores of each layer after cures, in their order.

        Args:
            registry: Where models run.
            model: Name in it.
            sentences: What the cures are fitted on, as material.read_corpus reads them.
            word: That has sentences here.
            cures: Keys of cures.CURES.
            unit: As measure_cures takes it.
            specials: Likewise.
            components: Likewise.

        Raises:
            ExplorerError: The model, the sentences or the word do not suit.
        """
        uses, labels = read_word(word)
        card = registry.card(model)

        def compute(cure: str) -> CuredSenses:
            spaces = self._measured.spaces(registry, model, sentences, unit=unit, specials=specials)
            found = take_uses(self._vectors.embed(registry, model, uses), labels.kept)
            return score_cured(found, labels.senses, cure=cure, spaces=spaces, components=components, seed=SEED)

        return tuple(
            self._found.get(
                (card, sentences.fingerprint, uses, unit, specials, cure, components), lambda cure=cure: compute(cure)
            )
            for cure in cures
        )


def read_word(word: str) -> tuple[LabelledUses, Labels]:
    """The uses of a word that come with the explorer, and those of them that are scored: without another language.

    Raises:
        UnsuitableText: The word has no sentences here.
    """
    uses = read_uses(word, "")
    return uses, read_labels(uses, without_foreign=True)


def _size_bytes(found: CuredSenses) -> int:
    return LAYER_BYTES * len(found.layers)
