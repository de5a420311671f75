"""What all objectives have in common: an example that is not yet read as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from explorer.analysis.plain_text import PlainText
from explorer.analysis.training_results import Fate, Replacements


@dataclass(frozen=True)
class Options:
    """What a visitor may choose, and the text again as it was typed.

    Attributes:
        generator: Source of the random numbers, on the CPU.
        noise: A key of MAKE_NOISE.
        text: The text.
        other_text: The sentence after it.
        replacements: What a generator drew.
    """

    generator: torch.Generator
    noise: str
    text: str
    other_text: str
    replacements: Replacements | None


@dataclass(frozen=True)
class DraftAnswer:
    """An Answer whose words are token ids, where they are tokens."""

    index: int | None
    right: int | str
    guess: int | str
    probability: float
    loss_nats: float
    direction: str = ""


@dataclass(frozen=True)
class Draft:
    """A TrainingExample whose tokens are ids; fates are parallel to the tokens of the text, segments to what
    is read, target is of a decoder."""

    fates: Sequence[Fate]
    inputs: Sequence[tuple[int, Fate]]
    answers: Sequence[DraftAnswer]
    target: Sequence[int] = ()
    later_epochs: tuple[tuple[Fate, ...], ...] = ()
    replaced_by: str = ""
    segments: tuple[int, ...] = ()


def untouched(plain: PlainText, answers: Sequence[DraftAnswer]) -> Draft:
    """A text that is read as it is."""
    fates = [Fate.SPECIAL if special else Fate.KEPT for special in plain.is_special]
    return Draft(fates, tuple(zip(plain.ids, fates, strict=True)), answers)


def score_answers(
    logits: Float[Tensor, "answer vocab"], right: Sequence[int], indices: Sequence[int | None], direction: str = ""
) -> list[DraftAnswer]:
    """How probable the right answers are, and which are the likeliest.

    Args:
        logits: One line per answer.
        right: The right one of each, as an index of the vocabulary.
        indices: Which token of the text each is about.
        direction: From where the text was read.
    """
    scores = logits.log_softmax(dim=-1)
    of_right = scores.gather(1, torch.tensor(right, device=scores.device)[:, None])[:, 0]
    columns = (indices, right, scores.argmax(dim=-1).tolist(), of_right.exp().tolist(), (-of_right).tolist())
    return [DraftAnswer(*values, direction) for values in zip(*columns, strict=True)]
