"""Rows of token ids to train on and to measure on, cut from tokenized documents."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from explorer.errors import UnsuitableCorpus
from explorer.training.corpus import TokenizedText
from explorer.training.rows import with_edges


class WindowSampler:
    """Draws windows that begin where a sentence begins and stay within one document.

    Args:
        texts: Tokenized files.
        shares: How much of the rows comes from each file; need not sum to one. Parallel to texts.
        before: Ids put before each window, e.g. [CLS].
        after: Ids put after it, e.g. [SEP].
        sentence_at: Where in a window a sentence begins, as a share of its length: 0 = with it.
        seed: Of the random draws.
    """

    def __init__(
        self,
        texts: Sequence[TokenizedText],
        shares: Sequence[float],
        *,
        before: Sequence[int] = (),
        after: Sequence[int] = (),
        sentence_at: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._texts = texts
        self._shares = np.array(shares, dtype=float) / sum(shares)
        self._before, self._after = before, after
        self._sentence_at = sentence_at
        self._random = np.random.default_rng(seed)
        self._starts: dict[tuple[int, int], np.ndarray] = {}

    def draw(self, row_count: int, length_tokens: int) -> Int[Tensor, "row token"]:
        """Draw rows, special tokens included in the length.

        Raises:
            UnsuitableCorpus: No document is as long as a row.
        """
        inner = length_tokens - len(self._before) - len(self._after)
        possible = np.array([len(self._window_starts(index, inner)) > 0 for index in range(len(self._texts))])
        if not (possible & (self._shares > 0)).any():
            raise UnsuitableCorpus(f"No document of the corpus has {inner} tokens in a row; use shorter sequences.")
        shares = self._shares * possible
        drawn = []
        for index, count in enumerate(self._random.multinomial(row_count, shares / shares.sum())):
            if count:
                starts = self._random.choice(self._window_starts(index, inner), count)
                drawn.append(self._texts[index].ids[starts[:, None] + np.arange(inner)].astype(np.int64))
        return with_edges(torch.from_numpy(np.concatenate(drawn)), self._before, self._after)

    def _window_starts(self, index: int, inner: int) -> np.ndarray:
        if (index, inner) not in self._starts:
            lead = int(inner * self._sentence_at)
            self._starts[index, inner] = self._texts[index].window_starts(inner, lead)
        return self._starts[index, inner]

    def reseed(self, seed: int | Sequence[int]) -> None:
        """Draw from now on what this seed gives."""
        self._random = np.random.default_rng(seed)

    def state(self) -> dict:
        """Where the random draws stand, to resume from."""
        return self._random.bit_generator.state

    def restore(self, state: dict) -> None:
        """Continue from a state."""
        self._random.bit_generator.state = state
