"""Agreement with dependency relations, against the protocol written as plain loops, and by hand."""

from collections import Counter

import numpy as np
import pytest
import torch

from explorer.analysis.head_patterns import name_patterns
from explorer.analysis.head_relations import match_relations, measure_distances, word_pieces
from explorer.analysis.head_texts import encode_texts
from explorer.analysis.heads import measure_heads
from explorer.analysis.treebank import read_compact
from explorer.errors import UnsuitableModel
from explorer.models.attention import read_weights
from tests.analysis import objective_models

SENTENCES = read_compact(
    [
        "the/2/det cat/3/nsubj walked/0/root in/5/case Paris/3/obl ./3/punct",
        "a/2/det king/3/nsubj played/0/root unhappily/3/advmod ./3/punct",
        "dogs/2/nsubj run/0/root",
    ]
)


def plain_hits(model):
    """Clark et al.'s protocol, one word at a time: hits by relation, [direction layer head]."""
    hits, counts = {}, Counter()
    for sentence in SENTENCES:
        encoding = model.tokenizer(sentence.text, return_offsets_mapping=True, add_special_tokens=True)
        if model.card.abilities == {"generate"}:
            [encoded] = encode_texts(model, [sentence.text])
            ids, offsets = encoded.ids, encoded.spans
        else:
            ids, offsets = encoding["input_ids"], encoding["offset_mapping"]
        [weights] = read_weights(model.network, {"input_ids": torch.tensor([list(ids)])}).values()
        weights = weights[:, 0].double().numpy()
        pieces = [
            [
                i
                for i, (s, e) in enumerate(offsets)
                if e > s and sentence.text[s:e].strip() and _centre(sentence, s, e) == w
            ]
            for w in range(len(sentence.words))
        ]
        between = np.zeros((*weights.shape[:2], len(pieces), len(pieces)))
        for a, of_a in enumerate(pieces):
            for b, of_b in enumerate(pieces):
                if a != b:
                    between[..., a, b] = sum(np.mean([weights[..., q, k] for q in of_a], axis=0) for k in of_b)
        for place, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True)):
            if relation in {"root", "punct"}:
                continue
            counts[relation] += 1
            total = hits.setdefault(relation, np.zeros((2, *weights.shape[:2])))
            for layer, number in np.ndindex(*weights.shape[:2]):
                for direction, row in enumerate((between[layer, number, place], between[layer, number, :, place])):
                    total[direction, layer, number] += row.max() > 0 and row.argmax() == head - 1
    return {relation: total / counts[relation] for relation, total in hits.items()}, counts


def _centre(sentence, start, end):
    """The word that the middle of a piece lies in."""
    piece = sentence.text[start:end]
    middle = end - len(piece.strip()) / 2
    return next(
        index for index, (s, e) in enumerate(sentence.spans) if s <= middle <= e and (middle > s or middle == e)
    )


def compare(model):
    expected, counts = plain_hits(model)
    result = match_relations(model, sentences=SENTENCES, source="ours", least_count=1)
    assert {one.relation: one.count for one in result.relations} == counts
    for one in result.relations:
        np.testing.assert_allclose([one.to_head, one.from_head], expected[one.relation], err_msg=one.relation)
        np.testing.assert_array_equal(one.accuracy, expected[one.relation].max(axis=0))


def test_accuracies_equal_the_protocol_as_loops(family):
    compare(family)


def test_accuracies_of_causal_models_equal_it_too(causal):
    compare(causal)
    result = match_relations(causal, sentences=SENTENCES, least_count=1)
    det = next(one for one in result.relations if one.relation == "det")
    assert det.to_head.max() == 0  # no determiner sees the noun behind it


def test_pieces_belong_to_the_word_they_are_of(bert):
    [encoded] = encode_texts(bert, ["a king played unhappily."])
    pieces = word_pieces(SENTENCES[1], encoded)
    assert [len(some) for some in pieces][:2] == [1, 1] and len(pieces[2]) == 2  # play ##ed
    assert sorted(sum(pieces, [])) == list(range(1, len(encoded.ids) - 1))


def test_the_baseline_is_the_best_fixed_distance():
    found = measure_distances(SENTENCES)
    assert found["det"][1] == 2 and found["det"][2] == 0
    assert found["nsubj"][1] == 3
    assert found["obl"][-2] == 1 and found["obl"].total() == 1
    assert found["advmod"][-1] == 1
    assert found["root"][-5] >= 1  # beyond an end: the end itself, as in the authors' code


def test_relations_that_are_too_rare_are_left_out(bert):
    result = match_relations(bert, sentences=SENTENCES, least_count=2)
    assert [one.relation for one in result.relations] == ["nsubj", "det"]
    assert result.left_out == {"advmod": 1, "case": 1, "obl": 1} and result.least_count == 2


def test_our_own_sentences_name_the_heads_of_a_trained_model(shipped_registry):
    relations = shipped_registry.run("MiniLM (masked)", match_relations)
    assert relations.sentences >= 60 and relations.source == "built-in set"
    det = next(one for one in relations.relations if one.relation == "det")
    assert det.count >= 90 and det.accuracy.max() > 0.85 > det.baseline + 0.1
    patterns = name_patterns(shipped_registry.run("MiniLM (masked)", measure_heads), relations)
    named = {pattern.key for pattern in patterns}
    assert "relation:det" in named
    assert "relation:compound" not in named  # always the next word: no head can do better than that
    best = next(pattern for pattern in patterns if pattern.key == "relation:det")
    assert det.accuracy[best.layer, best.head] == det.accuracy.max() == best.value


def test_a_model_without_attention_is_refused():
    with pytest.raises(UnsuitableModel):
        match_relations(objective_models.mini("bilm"))
