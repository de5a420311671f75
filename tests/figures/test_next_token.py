"""The distribution as it travels to the page."""

import base64
import json

import numpy as np

from explorer.analysis.next_token_results import NextTokens
from explorer.analysis.scoring_results import NextToken
from explorer.figures.next_token import MOST_CHARACTERS, pack_next_tokens


def test_scores_come_back_as_they_were():
    logits = np.random.default_rng(0).normal(3, 4, 3000).astype(np.float32)
    tokens = (NextToken(5, " <b>", "<b>", 0.5),)
    result = NextTokens("M", "Once", (1, 2), (2,), tokens, 1.0, logits, (0,), 2, 512)
    packed = pack_next_tokens(result, "x" * 1000)
    assert "<" not in packed
    facts = json.loads(packed)
    back = np.frombuffer(base64.b64decode(facts["logits"]), "<f2").astype(np.float64) + facts["highest"]
    assert np.abs(back - logits)[logits > logits.max() - 8].max() <= 2**-9 + 1e-6
    assert facts["prompt_ids"] == [1, 2]
    assert facts["tokens"] == [{"token_id": 5, "text": " <b>"}]
    assert len(facts["ending"]) == MOST_CHARACTERS + 1


def test_half_precision_keeps_probabilities_to_a_thousandth_where_they_count():
    logits = np.random.default_rng(1).normal(0, 3, 30_000).astype(np.float32)
    result = NextTokens("M", "", (1,), (), (), 1.0, logits, (), 1, 512)
    facts = json.loads(pack_next_tokens(result, ""))
    back = np.frombuffer(base64.b64decode(facts["logits"]), "<f2").astype(np.float64)
    one, two = (np.exp(x) / np.exp(x).sum() for x in (back, (logits - logits.max()).astype(np.float64)))
    assert np.abs(one - two).max() < 1e-3
