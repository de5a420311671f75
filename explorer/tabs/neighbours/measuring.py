"""Scores of senses, measured once for all visitors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.analysis.embedding_results import Occurrences
from explorer.analysis.labelled_uses import LabelledUses, foreign_senses
from explorer.analysis.sense_results import LayerSenses, SenseConfusion, SenseScores, UseSimilarity
from explorer.analysis.sense_scoring import confuse_senses, draw_words, score_vectors
from explorer.analysis.use_similarity import measure_similarity
from explorer.analysis.vectors import adjust_layers, take_uses
from explorer.models.card import ModelCard
from explorer.models.registry import Registry
from explorer.tabs.kept import Kept
from explorer.tabs.neighbours.material import Vectors
from explorer.tabs.neighbours.which_vector import LAYER, Vector, choose, read_vector

SEED = 0  # of the random words and the intervals; the shell and HTTP take any
KEPT_MIB = 16
LEAST_WORDS = 2  # that can be alike
LAYER_BYTES = 2_000  # about what the scores of one take

Wanted = tuple[ModelCard, LabelledUses, str, str, tuple[int, ...]]  # the last: which uses; none = without labels


@dataclass(frozen=True)
class Labels:
    """Which uses of a word can be scored.

    Attributes:
        kept: Places of these uses.
        senses: Their senses.
        unlabelled: How many uses have no label.
        foreign: Senses that are of another language, whether they are among the kept ones or not.
    """

    kept: tuple[int, ...]
    senses: tuple[str, ...]
    unlabelled: int
    foreign: tuple[str, ...]

    @property
    def suffice(self) -> bool:
        """Whether there are senses to tell apart."""
        return len(set(self.senses)) > 1


def read_labels(uses: LabelledUses, *, without_foreign: bool) -> Labels:
    """The uses of a word that have a label, without those of another language where that is wanted."""
    foreign = foreign_senses(uses)
    left_out = foreign if without_foreign else ()
    kept = tuple(number for number, sense in enumerate(uses.senses) if sense and sense not in left_out)
    senses = tuple(uses.senses[number] for number in kept)
    return Labels(kept, senses, uses.senses.count(""), foreign)


class Measured:
    """Recent scores of all layers; what is asked for again is here."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._scores: Kept[Wanted, SenseScores | UseSimilarity] = Kept(KEPT_MIB, _size_bytes)

    def scores(
        self, models: Registry, model: str, uses: LabelledUses, vector: Vector, *, without_foreign: bool = False
    ) -> SenseScores:
        """The scores of each layer, adjusted as the visitor wants.

        Args:
            models: Where models run.
            model: Name in it.
            uses: Of a word, with labels that suffice.
            vector: Its adjustment and pieces count.
            without_foreign: Whether senses of another language are left out.

        Raises:
            ExplorerError: The model or the uses do not suit.
        """
        labels = read_labels(uses, without_foreign=without_foreign)

        def compute() -> SenseScores:
            found = adjust_layers(take_uses(self._embed(models, model, uses, vector), labels.kept), vector.adjust)
            words = self._random_words(models, model, uses, vector)
            random_words = adjust_layers(words, vector.adjust).vectors if words else None
            return score_vectors(found, labels.senses, random_words=random_words, seed=SEED)

        key = (models.card(model), uses, vector.adjust, vector.pieces, labels.kept)
        return self._scores.get(key, compute)

    def similarity(self, models: Registry, model: str, uses: LabelledUses, vector: Vector) -> UseSimilarity:
        """What can be measured without labels; arguments and errors as of scores."""

        def compute() -> UseSimilarity:
            found = adjust_layers(self._embed(models, model, uses, vector), vector.adjust)
            words = self._random_words(models, model, uses, vector)
            random_words = adjust_layers(words, vector.adjust).vectors if words else None
            return measure_similarity(found, random_words=random_words, seed=SEED)

        return self._scores.get((models.card(model), uses, vector.adjust, vector.pieces, ()), compute)

    def chosen(
        self, models: Registry, model: str, uses: LabelledUses, labels: Labels, *values: object
    ) -> tuple[LayerSenses | None, SenseConfusion]:
        """The scores of the chosen vector, None where it is one layer and they are there, and what it confuses.

        Args:
            models: Where models run.
            model: Name in it.
            uses: Of a word.
            labels: Of read_labels.
            values: Of which_vector.Which.inputs.
        """
        vector = read_vector(*values)
        found = take_uses(self._embed(models, model, uses, vector), labels.kept)
        vectors, words = choose(found, *values)
        confusion = confuse_senses(found, vectors, labels.senses, vector=words)
        if vector.combine == LAYER:
            return None, confusion
        words = self._random_words(models, model, uses, vector)
        random_words = choose(words, *values)[0][None] if words else None
        joined = replace(found, vectors=vectors[None], layers=found.layers[-1:])
        return score_vectors(joined, labels.senses, random_words=random_words, seed=SEED).layers[0], confusion

    def _embed(self, models: Registry, model: str, uses: LabelledUses, vector: Vector) -> Occurrences:
        return self._vectors.embed(models, model, uses, vector.pieces)

    def _random_words(self, models: Registry, model: str, uses: LabelledUses, vector: Vector) -> Occurrences | None:
        drawn = draw_words(uses.sentences, uses.positions, SEED)
        if len(drawn) < LEAST_WORDS:
            return None
        words = LabelledUses(*(tuple(column) for column in zip(*drawn, strict=True)), ("",) * len(drawn))
        return self._embed(models, model, words, vector)


def _size_bytes(scores: SenseScores | UseSimilarity) -> int:
    return LAYER_BYTES * len(scores.layers)
