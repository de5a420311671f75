"""Which attention heads find the word that a word depends on, by the protocol of Clark et al. (2019)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.blanks import check_option
from explorer.analysis.head_results import BUILT_IN, RelationAgreement, RelationMatches
from explorer.analysis.head_sides import encode_again, has_two_sides
from explorer.analysis.head_texts import (
    EncodedText,
    batch_by_length,
    choose_stack,
    encode_texts,
    make_inputs,
)
from explorer.analysis.treebank import ROOT, ParsedSentence, read_own_sentences
from explorer.models.attention import head_counts, visit_weights
from explorer.models.backend import LoadedModel

LEAST_COUNT = 10  # of fewer words nothing can be said
FARTHEST = 5  # words, of the fixed distances that are tried
UNJUDGED = frozenset({"root", "punct"})


@torch.inference_mode()
def match_relations(
    model: LoadedModel,
    *,
    sentences: Sequence[ParsedSentence] = (),
    source: str = BUILT_IN,
    stack: str | None = None,
    least_count: int = LEAST_COUNT,
) -> RelationMatches:
    """Measure how often each head points from a word to the word it depends on, relation by relation.

    Attention is taken between words: to the pieces of a word it is summed, from them it is averaged. Special tokens and
    the word itself do not count. Each word that depends on another is one case; a hit is where, of all other words, its
    most attended one is its head, or, in the other direction, where its head is what attends to it most. Beside it
    stands the best of the fixed distances up to FARTHEST words. A decoder beside an encoder reads the sentence
    that the encoder read, as if it wrote it again, and in cross-attention its words look at the encoder's.

    Args:
        model: With attention.
        sentences: None = those that ship with the explorer.
        source: What they are, for the reader.
        stack: Whose heads: "encoder", "decoder" or "cross"; None = the first that the model has.
        least_count: Relations with fewer words are left out, from 1.

    Raises:
        UnsuitableModel: It has no attention, or no such stack.
        UnsuitableText: A sentence is longer than the model reads.

    Source: Clark et al. 2019, section 4.2, https://aclanthology.org/W19-4828
    """
    check_option("least_count", least_count, 1_000_000)
    sentences = tuple(sentences) or read_own_sentences()
    stack = choose_stack(model, stack)
    encoded = encode_texts(model, [sentence.text for sentence in sentences])
    relations = sorted({relation for sentence in sentences for relation in sentence.relations} - UNJUDGED)
    hits = _count_hits(model, sentences, encoded, relations, stack).cpu().numpy()
    counts = Counter(relation for sentence in sentences for relation in sentence.relations)
    distances = measure_distances(sentences)
    kept = [relation for relation in relations if counts[relation] >= least_count]
    found = []
    for relation in sorted(kept, key=lambda relation: (-counts[relation], relation)):
        to_head, from_head = hits[:, relations.index(relation)] / counts[relation]
        offset = max(distances[relation], key=lambda offset: (distances[relation][offset], -abs(offset)))
        baseline = distances[relation][offset] / counts[relation]
        found.append(RelationAgreement(relation, counts[relation], to_head, from_head, baseline, offset))
        for array in (to_head, from_head):
            array.setflags(write=False)
    return RelationMatches(
        model=model.card.name,
        stack=stack,
        source=source,
        sentences=len(sentences),
        words=sum(len(sentence.words) for sentence in sentences),
        relations=tuple(found),
        left_out={relation: counts[relation] for relation in relations if relation not in kept},
        least_count=least_count,
    )


def measure_distances(sentences: Sequence[ParsedSentence]) -> dict[str, Counter[int]]:
    """For each relation, how many words have their head at each fixed distance; beyond an end, at the end itself."""
    hits: dict[str, Counter[int]] = {}
    offsets = [offset for offset in range(-FARTHEST, FARTHEST + 1) if offset]
    for sentence in sentences:
        for place, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True), start=1):
            counted = hits.setdefault(relation, Counter(dict.fromkeys(offsets, 0)))
            for offset in offsets:
                counted[offset] += head == min(max(place + offset, ROOT), len(sentence.words))
    return hits


def word_pieces(sentence: ParsedSentence, text: EncodedText) -> list[list[int]]:
    """For each word, which tokens are its pieces: those that share most of their characters with it."""
    pieces: list[list[int]] = [[] for _ in sentence.words]
    for index in range(text.start, len(text.ids) - text.end):
        start, end = text.spans[index]
        shared = [min(end, behind) - max(start, before) for before, behind in sentence.spans]
        best = int(np.argmax(shared))
        if shared[best] > 0:
            pieces[best].append(index)
    return pieces


def _count_hits(
    model: LoadedModel,
    sentences: Sequence[ParsedSentence],
    encoded: Sequence[EncodedText],
    relations: list[str],
    stack: str,
) -> Tensor:
    """How often the head is found, [direction relation layer head]; directions: to the head, from the head."""
    device = model.network.device
    again = encode_again(model, encoded) if has_two_sides(model, stack) else None
    hits = torch.zeros(2, len(relations), *head_counts(model.network)[stack], dtype=torch.float64, device=device)
    for batch in batch_by_length(model, encoded):
        parsed, rows_read = ([some[index] for index in batch] for some in (sentences, encoded))
        said = [again[index] for index in batch] if again else None
        keys, queries = said if said and stack == "decoder" else rows_read, said or rows_read
        to_words, from_words = (_word_matrix(parsed, side).to(device) for side in (keys, queries))
        from_words = from_words / from_words.sum(dim=-1, keepdim=True).clamp(min=1)
        cases = [
            (row, place, head - 1, relations.index(relation))
            for row, index in enumerate(batch)
            for place, (head, relation) in enumerate(
                zip(sentences[index].heads, sentences[index].relations, strict=True)
            )
            if relation not in UNJUDGED
        ]
        if not cases:
            continue
        rows, words, heads, kinds = torch.tensor(cases, device=device).T

        def count(name: str, layer: int, weights: Tensor, given=(to_words, from_words, rows, words, heads, kinds)):
            if name != stack:
                return
            to_words, from_words, rows, words, heads, kinds = given
            between = from_words[:, None] @ weights @ to_words[:, None].transpose(-1, -2)
            between.diagonal(dim1=-2, dim2=-1).zero_()
            for direction, matrix in enumerate((between, between.transpose(-1, -2))):
                best = matrix[rows, :, words].max(dim=-1)  # [case head]
                hit = (best.indices == heads[:, None]) & (best.values > 0)  # whoever sees no other word finds nothing
                hits[direction, :, layer].index_add_(0, kinds, hit.double())

        visit_weights(model.network, make_inputs(model, rows_read, said), count)
    return hits


def _word_matrix(sentences: Sequence[ParsedSentence], encoded: Sequence[EncodedText]) -> Tensor:
    """1 where a token is a piece of a word, [batch word key]."""
    words, tokens = max(len(one.words) for one in sentences), max(len(one.ids) for one in encoded)
    matrix = torch.zeros(len(sentences), words, tokens)
    for row, (sentence, text) in enumerate(zip(sentences, encoded, strict=True)):
        for word, pieces in enumerate(word_pieces(sentence, text)):
            matrix[row, word, pieces] = 1.0
    return matrix
