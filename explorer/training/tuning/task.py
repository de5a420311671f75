"""What the loop asks of a task; any that answers can be fine-tuned in every way.

examples --rows--> Row: what is read, and what is to come out
rows --loss--> a number to make smaller            rows --judge--> what the model makes of them, one by one
rows --features--> what the frozen network says of each, computed once, from which loss and judge work as well
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.training.tuning.examples import Example
from explorer.training.tuning.results import Judged

Ids = Sequence[int] | Sequence[Sequence[int]]  # the latter: ELMo's words, each by its characters


@dataclass(frozen=True, eq=False)
class Start:
    """What a task is built on.

    Attributes:
        name: Of the model.
        network: A copy that may be changed; the task keeps it, and the loop decides which weights of it move.
        tokenizer: A copy, too: it may be told to cut, and needs no lock.
        limit_tokens: Longest input, special tokens included.
    """

    name: str
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | ElmoTokenizer
    limit_tokens: int

    @property
    def body(self) -> PreTrainedModel:
        """What makes the vectors: the network without its head, or the encoder of an encoder-decoder."""
        return self.network.get_encoder() if self.network.config.is_encoder_decoder else self.network.base_model


@dataclass(frozen=True)
class Reading:
    """One input of a network.

    Attributes:
        ids: Token ids, special tokens included.
        types: Which of two texts a token is of; () = the network is not told.
    """

    ids: Ids
    types: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Row:
    """One example, ready for the network.

    Attributes:
        readings: One; of a triplet three, each read by itself.
        target: What is to come out, in whatever form the task compares with.
        was_cut: Whether the text was longer than is read.
    """

    readings: tuple[Reading, ...]
    target: object = None
    was_cut: bool = False

    @property
    def length_tokens(self) -> int:
        """Of the longest reading: rows of similar length share a batch."""
        return max(len(reading.ids) for reading in self.readings)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the model made of one held-out row.

    Attributes:
        loss: Of this row alone.
        answer: In whatever form the task's score reads it, on the CPU.
    """

    loss: float
    answer: object = None


@dataclass(frozen=True)
class Measured:
    """What a task says of all held-out examples together; the fields become those of Outcome.

    Attributes:
        scores: Name -> value, the main one first.
        confusion: [gold][predicted] counts; () where the task has no labels.
        judged: Every example, those that are judged wrongly with most confidence first.
    """

    scores: dict[str, float]
    confusion: tuple[tuple[int, ...], ...] = ()
    judged: tuple[Judged, ...] = field(default=())


@runtime_checkable
class Task(Protocol):
    """A task, built on a network.

    Attributes:
        network: Start.network.
        head: What the task adds to it, new weights; an empty nn.ModuleList where the network's own head does the work.
            It may hold a LayerMix, which the method "layers" reports.
        labels: Classes or tags, in the order of the head's rows; () where there are none.
        keeps_features: Whether features() is answered, so that the methods "frozen" and "layers" can be had.
        head_reads: What of the network the head reads, or is compared, in words; "" = the network's own head works.
    """

    network: PreTrainedModel
    head: nn.Module
    labels: tuple[str, ...]
    keeps_features: bool
    head_reads: str

    def rows(self, examples: Sequence[Example]) -> list[Row]:
        """One row for each example, parallel to them; a task that cuts long texts into several says so in target.

        Raises:
            ExplorerError: An example is not of this task, or cannot be read.
        """
        ...

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        """What the head reads of each row: [layer, …, dim], one layer but with the method "layers"."""
        ...

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        """Mean loss of a batch, to be made smaller.

        Args:
            rows: The batch.
            kept: What features() said of each; None = ask the network.
            share_done: How much of the training is done, in [0, 1].
        """
        ...

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        """What the model makes of each row; no gradients are wanted."""
        ...

    def measure(self, examples: Sequence[Example], verdicts: Sequence[Verdict]) -> Measured:
        """Scores over examples; parallel to their verdicts."""
        ...

    def baselines(self, train: Sequence[Example], held_out: Sequence[Example]) -> dict[str, float]:
        """Main score of what needs no model: name -> value; {} where there is no such thing."""
        ...

    def remarks(self, train: Sequence[Example], held_out: Sequence[Example]) -> list[str]:
        """What the visitor should know about these examples, in whole sentences; may be []."""
        ...

    def samples(self, held_out: Sequence[Example]) -> list[tuple[str, str]]:
        """What was asked, and what the model answers now; asked before and after. [] where nothing is to show."""
        ...

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        """Fit the head on kept features at once; False = it cannot be, so it is trained step by step."""
        ...
