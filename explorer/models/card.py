"""The facts about a model that are known before it is loaded."""

from dataclasses import dataclass, field
from enum import StrEnum


class Ability(StrEnum):
    """Something a tab may ask of a model."""

    FILL_BLANKS = "fill_blanks"  # a masked language modelling head
    FILL_SPANS = "fill_spans"  # an encoder-decoder that writes what a sentinel or mask stands for
    GENERATE = "generate"  # a causal language modelling head
    DETECT_REPLACED = "detect_replaced"  # ELECTRA's discriminator head
    PREDICT_BOTH_WAYS = "predict_both_ways"  # ELMo's softmax: each word from its left, and from its right
    NEXT_SENTENCE = "next_sentence"  # BERT's next sentence head
    EMBED = "embed"  # contextual vectors of tokens
    EMBED_SENTENCES = "embed_sentences"  # one vector of a sentence, trained to be compared


@dataclass(frozen=True)
class InstalledPackage:
    """A folder of an installed Python package.

    Attributes:
        module: Import name.
        folder: Path inside the package.
        extra: The extra of this project that installs it, for the error message.
    """

    module: str
    folder: str
    extra: str


@dataclass(frozen=True)
class Bundled:
    """Weights in assets/models: a whole model, or what to add to another card's weights.

    Attributes:
        folder: Folder below assets/models.
        base: Where the weights to start from are, if the folder holds a delta.
        base_sha256: Checksum of the base's model.safetensors.
        delta_sha256: Checksum of the folder's delta.safetensors.
    """

    folder: str
    base: InstalledPackage | None = None
    base_sha256: str | None = None
    delta_sha256: str | None = None


@dataclass(frozen=True)
class LocalFolder:
    """A folder in the format of save_pretrained."""

    path: str


@dataclass(frozen=True)
class HubRepository:
    """A repository of the Hugging Face Hub.

    Attributes:
        id: "organisation/name".
        revision: Commit, so that results can be reproduced; "main" only where the card says the pin is unconfirmed.
        is_named: Whether a visitor named it, so that its files leave when those have no more room.
    """

    id: str
    revision: str
    is_named: bool = False


@dataclass(frozen=True)
class PublishedFile:
    """A file that its authors publish outside the Hub.

    Attributes:
        name: Its name.
        size_bytes: Its size; None = what its server says.
        sha256: Its checksum; None = not known.
    """

    name: str
    size_bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class PublishedFiles:
    """Files at a published address outside the Hub (ELMo's options.json and weights.hdf5).

    Attributes:
        base_url: Address that the file names are appended to.
        files: The files, weights last.
    """

    base_url: str
    files: tuple[PublishedFile, ...]


Source = Bundled | InstalledPackage | LocalFolder | HubRepository | PublishedFiles


@dataclass(frozen=True)
class ModelCard:
    """A model the explorer offers.

    Attributes:
        name: What the visitor sees and types; unique in the catalogue.
        source: Where its files are.
        model_type: The architecture as transformers names it, e.g. "bert".
        abilities: What the model can be asked to do.
        special: One sentence for students on what is special about it.
        parameters: Number of weights; None = unknown until the first download.
        weights_bytes: Size of the weights file; None = unknown until the first download.
        weights_sha256: Checksum of the weights file, checked at load; None = not known.
        weights_format: "safetensors", or "bin" for repositories that have nothing else.
        languages: ISO 639-1 codes, or ("multilingual",).
        licence: SPDX id, or what is known.
        paper: Authors and year.
        paper_url: Link to it.
        training: For models trained by this project: corpus, tokens seen, hardware, held-out numbers.
        unconfirmed: Facts of this card that no public record confirms; they are resolved at the first download.
        generator: Of a model that detects replaced tokens: the one that draws them where the chosen model, whose
            tokenizer cuts a text otherwise, cannot.
        config_overrides: Settings the published configuration lacks, e.g. (("legacy", False),).
        tokenizer_overrides: Likewise for the tokenizer, e.g. (("do_lower_case", False),).
        is_tuned: Whether a visitor fine-tuned it here.
    """

    name: str
    source: Source
    model_type: str
    abilities: frozenset[Ability]
    special: str
    licence: str
    paper: str
    paper_url: str
    parameters: int | None = None
    weights_bytes: int | None = None
    weights_sha256: str | None = None
    weights_format: str = "safetensors"
    languages: tuple[str, ...] = ("en",)
    training: str = ""
    unconfirmed: tuple[str, ...] = ()
    generator: str = ""
    config_overrides: tuple[tuple[str, object], ...] = ()
    tokenizer_overrides: tuple[tuple[str, object], ...] = field(default=())
    is_tuned: bool = False

    @property
    def needs_network(self) -> bool:
        """Whether the files come from the internet the first time."""
        return isinstance(self.source, HubRepository | PublishedFiles)

    @property
    def learned_from_pairs(self) -> bool:
        """Whether its layers are those of a sentence encoder, or began as such: trained on pairs of like sentences.

        Of what a visitor tuned no such thing is said: its abilities are those of its base, and its layers have moved.
        """
        began = isinstance(self.source, Bundled) and self.source.base is not None
        return not self.is_tuned and (began or Ability.EMBED_SENTENCES in self.abilities)
