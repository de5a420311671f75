"""The seam between the explorer and the places where models run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # this file is imported by the page, which must not wait for torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from explorer.models.card import ModelCard
    from explorer.models.status import Budget, ModelStatus

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model in memory, ready to be analysed.

    Attributes:
        card: What it is.
        tokenizer: Hold tokenizer_lock while calling it: fast tokenizers are not thread-safe.
        network: In eval mode, on its device.
        tokenizer_lock: One per tokenizer.
        limit_tokens: Longest input, special tokens included.
        weights_bytes: Memory its weights take, measured.
    """

    card: ModelCard
    tokenizer: PreTrainedTokenizerBase
    network: PreTrainedModel
    limit_tokens: int
    weights_bytes: int
    tokenizer_lock: Lock = field(default_factory=Lock)


class Backend(Protocol):
    """A place where models run. The analysis travels to the model; only its result returns."""

    def run(self, card: ModelCard, analysis: Callable[[LoadedModel], Result]) -> Result:
        """Load the model if needed, apply the analysis to it, and return the result."""
        ...

    def stream(self, card: ModelCard, analysis: Callable[[LoadedModel], Iterator[Result]]) -> Iterator[Result]:
        """As run, for an analysis that yields results while it works."""
        ...

    def load(self, card: ModelCard, is_waiting: Callable[[], bool] = lambda: True) -> None:
        """Bring a model into memory without analysing anything; return when it is there.

        Args:
            card: The model.
            is_waiting: Whether the caller still wants it; a download that nobody waits for may end.
        """
        ...

    def unload(self, card: ModelCard) -> None:
        """Let a model go, if it is there and nobody uses it."""
        ...

    def status(self) -> dict[ModelCard, ModelStatus]:
        """How the models stand that are in memory or on their way."""
        ...

    def budget(self) -> Budget:
        """What model weights may take, and take, on the device."""
        ...
