"""Every architecture of the catalogue: heads are measured, matched with relations, switched off and ranked."""

import numpy as np
import pytest

from explorer.analysis.head_ablation import ablate_heads, rank_heads
from explorer.analysis.head_relations import match_relations
from explorer.analysis.heads import measure_heads
from explorer.models.attention import head_counts
from explorer.models.card import Ability
from tests.analysis.objective_models import opinionated
from tests.analysis.tiny_models import TOKENIZERS, loaded
from tests.models.families import FAMILIES

SHORT, LONG = "Yes, he did.", "The old king gave his book to the queen, and she looked at the dog on the mat."


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: f"{family.model_type}-{family.ability}")
def model(request):
    family = request.param
    if not TOKENIZERS.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    tokenizer = family.tokenizer(TOKENIZERS)
    config = family.config(len(tokenizer))
    for name, value in family.overrides:
        setattr(config, name, value)
    network = opinionated(family.saved_as(config))
    return loaded(network, tokenizer, name=family.model_type, abilities=[family.ability], limit_tokens=64)


def test_texts_padded_together_give_what_they_give_one_by_one(model):
    """Sums over tokens add up, whatever stands beside a text in its batch."""
    both, *alone = (measure_heads(model, texts) for texts in ([SHORT, LONG], [SHORT], [LONG]))
    for key in set(both.values) - {"distance", "induction"}:
        parts = [one for one in alone if key in one.values]
        assert both.counts[key] == sum(one.counts[key] for one in parts)
        mean = sum(one.values[key] * one.counts[key] for one in parts) / both.counts[key]
        np.testing.assert_allclose(both.values[key], mean, atol=1e-5, err_msg=key)
    assert both.shape == next(iter(head_counts(model.network).values()))
    assert all(np.isfinite(values).all() for values in both.values.values())


def test_relations_are_matched(model):
    found = match_relations(model)
    assert {one.relation for one in found.relations} >= {"det", "nsubj", "obj"}
    for one in found.relations:
        assert one.accuracy.shape == next(iter(head_counts(model.network).values()))
        assert 0 <= one.accuracy.min() <= one.accuracy.max() <= 1


def test_heads_are_switched_off_and_ranked(model):
    has_blank = Ability.FILL_BLANKS in model.card.abilities
    text = "The cat ___ on the mat." if has_blank else "The cat sat on the mat"
    every = sum(layers * heads for layers, heads in head_counts(model.network).values())
    result = ablate_heads(model, text, heads="1")
    *_, ranking = rank_heads(model, text)
    assert ranking.done == ranking.head_count == result.head_count == every
    assert all(np.isfinite(effects).all() for effects in ranking.effects.values())
    if result.places:
        assert sum(place.divergence_bits for place in result.places) > 0
    else:
        assert result.cosine < 1
