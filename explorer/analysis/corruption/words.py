"""Which words, and which spans of words, are picked to be predicted."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from explorer.analysis.corruption.masking import MASK_SHARE, budget_tokens

Span = tuple[int, int]  # indices of its first token, and of the one behind its last

SPAN_CHANCE = 0.2  # of a span to end at a word: the parameter of the geometric distribution
MOST_SPAN_WORDS = 10


def pick_words(words: Sequence[Span], *, share: float = MASK_SHARE, generator: torch.Generator) -> list[Span]:
    """Pick words at random, all tokens of each, until a share of the tokens is picked; one word at least.

    A word that would take more than the share is passed over, as in BERT's own code.

    Args:
        words: In order.
        share: Of the tokens of all words, in (0, 1].
        generator: Source of the random numbers.

    Source: https://github.com/google-research/bert (whole word masking, May 2019)
    """
    budget = _budget(words, share)
    order = [words[index] for index in torch.randperm(len(words), generator=generator).tolist()]
    picked: list[Span] = []
    for start, end in order:
        if end - start <= budget:
            picked.append((start, end))
            budget -= end - start
    return sorted(picked) or [min(order, key=lambda word: word[1] - word[0])]


def draw_span_words(count: int, generator: torch.Generator) -> Int[Tensor, " span"]:
    """Lengths of spans in words: geometric with SPAN_CHANCE, from 1 to MOST_SPAN_WORDS; 3.8 on average.

    Args:
        count: How many.
        generator: Source of the random numbers.

    Source: Joshi et al. 2020, section 3.1, https://arxiv.org/abs/1907.10529
    """
    chances = SPAN_CHANCE * (1 - SPAN_CHANCE) ** torch.arange(MOST_SPAN_WORDS, dtype=torch.double)
    return torch.multinomial(chances, count, replacement=True, generator=generator) + 1


def pick_word_spans(words: Sequence[Span], *, share: float = MASK_SHARE, generator: torch.Generator) -> list[Span]:
    """Pick spans of whole words, as SpanBERT does, until a share of the tokens is picked.

    A span begins at a random word and ends early where it meets another, the text ends, or the share is reached.

    Args:
        words: In order.
        share: Of the tokens of all words, in (0, 1].
        generator: Source of the random numbers.

    Source: Joshi et al. 2020, section 3.1, https://arxiv.org/abs/1907.10529
    """
    budget = _budget(words, share)
    taken: set[int] = set()
    spans: list[Span] = []
    while budget > 0:
        free = [index for index in range(len(words)) if index not in taken]
        first = free[int(torch.randint(len(free), (), generator=generator))]
        length = int(draw_span_words(1, generator))
        last = first
        while True:
            taken.add(last)
            budget -= words[last][1] - words[last][0]
            if budget <= 0 or last + 1 - first == length or last + 1 == len(words) or last + 1 in taken:
                break
            last += 1
        spans.append((words[first][0], words[last][1]))
    return sorted(spans)


def _budget(words: Sequence[Span], share: float) -> int:
    return int(budget_tokens(torch.tensor(sum(end - start for start, end in words)), share))
