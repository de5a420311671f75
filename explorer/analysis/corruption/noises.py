"""The noises that BART is trained to undo.

A noised text is a list: for each token that the encoder reads, the index of the token of the text that stands there,
or None for a mask.

Source: Lewis et al. 2020, section 2.2, https://arxiv.org/abs/1910.13461
"""

from collections.abc import Callable, Sequence

import torch

from explorer.analysis.corruption.masking import MASK_SHARE, budget_tokens
from explorer.analysis.corruption.words import Span

Noised = list[int | None]

INFILL_SHARE = 0.3  # of the tokens; the share of the masked and of the deleted ones is not published, here as BERT's
MEAN_INFILL_TOKENS = 3.0


def mask_each(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """Token masking: random tokens become masks."""
    picked = _pick(len(tokens), generator)
    return [None if index in picked else token for index, token in enumerate(tokens)]


def delete_tokens(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """Token deletion: random tokens are gone, and the model must say where something is missing."""
    picked = _pick(len(tokens), generator)
    return [token for index, token in enumerate(tokens) if index not in picked]


def infill_text(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """Text infilling: each span becomes a single mask, so that the model must say how many tokens are missing.

    Lengths are Poisson with mean MEAN_INFILL_TOKENS; a span of length 0 puts in a mask where nothing is missing.
    """
    lengths = draw_infill_lengths(int(budget_tokens(torch.tensor(len(tokens)), INFILL_SHARE)), generator)
    kept = len(tokens) - sum(lengths)
    places = set(torch.randperm(kept + len(lengths), generator=generator)[: len(lengths)].tolist())
    noised: Noised = []
    rest, spans = iter(tokens), iter(lengths)
    for place in range(kept + len(lengths)):
        if place in places:
            noised.append(None)
            for _ in range(next(spans)):
                next(rest)
        else:
            noised.append(next(rest))
    return noised


def draw_infill_lengths(budget: int, generator: torch.Generator) -> list[int]:
    """Poisson lengths until they take a number of tokens together; the last is cut to fit.

    Args:
        budget: That number, at least 1.
        generator: Source of the random numbers.
    """
    lengths: list[int] = []
    while sum(lengths) < budget:
        drawn = int(torch.poisson(torch.tensor(MEAN_INFILL_TOKENS), generator=generator))
        lengths.append(min(drawn, budget - sum(lengths)))
    return lengths


def permute_sentences(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """Sentence permutation: the sentences in a random order."""
    order = torch.randperm(len(sentences), generator=generator).tolist()
    return [token for index in order for token in tokens[slice(*sentences[index])]]


def rotate_document(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """Document rotation: the text begins at a random token, and what stood before comes at the end."""
    first = int(torch.randint(len(tokens), (), generator=generator))
    return tokens[first:] + tokens[:first]


def infill_permuted(tokens: Noised, sentences: Sequence[Span], generator: torch.Generator) -> Noised:
    """What the published BART was trained with: its sentences permuted, then text infilling."""
    return infill_text(permute_sentences(tokens, sentences, generator), sentences, generator)


MAKE_NOISE: dict[str, Callable[[Noised, Sequence[Span], torch.Generator], Noised]] = {
    "token_masking": mask_each,
    "token_deletion": delete_tokens,
    "text_infilling": infill_text,
    "sentence_permutation": permute_sentences,
    "document_rotation": rotate_document,
    "infilling_and_permutation": infill_permuted,
}


def _pick(count: int, generator: torch.Generator) -> set[int]:
    wanted = int(budget_tokens(torch.tensor(count), MASK_SHARE))
    return set(torch.randperm(count, generator=generator)[:wanted].tolist())
