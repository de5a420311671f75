import json

import numpy as np
import pytest
import torch

from explorer.analysis import next_tokens
from explorer.analysis.exporting import to_json, to_tables
from explorer.analysis.prompts import encode_prompt
from explorer.errors import UnsuitableModel, UnsuitableText
from tests.analysis import causal_models
from tests.analysis.causal_models import plain_scores


def test_the_table_is_what_a_plain_forward_pass_says(causal):
    result = next_tokens(causal, "the cat is", top_k=7)
    scores = plain_scores(causal, encode_prompt(causal, "the cat is"))[-1]
    best = scores.topk(7)
    assert [token.token_id for token in result.tokens] == best.indices.tolist()
    assert [token.probability for token in result.tokens] == pytest.approx(best.values.exp().tolist(), abs=1e-5)
    assert result.entropy_nats == pytest.approx(-(scores.exp() * scores).sum().item(), abs=1e-4)
    own = torch.tensor(result.logits).double().log_softmax(dim=-1)
    assert torch.allclose(own, scores, atol=1e-4)
    assert result.token_count == len(result.prompt_ids) and result.limit_tokens == 48


def test_written_tokens_go_on_from_the_prompt(causal):
    prompt = encode_prompt(causal, "the cat")
    written = next_tokens(causal, "the cat", top_k=1).tokens[0].token_id
    result = next_tokens(causal, "the cat", written=[written, 5], top_k=3)
    assert result.prompt_ids == (*prompt, written, 5) and result.written == (written, 5)
    expected = plain_scores(causal, [*prompt, written, 5])[-1].topk(3).indices.tolist()
    assert [token.token_id for token in result.tokens] == expected
    assert result.written_text == causal.tokenizer.decode([written, 5])
    head, row, *_ = to_tables(result)["tokens"]
    assert dict(zip(head, row, strict=True))["written"] == result.written_text
    assert next_tokens(causal, "the cat").written_text == ""


def test_json_leaves_the_whole_vocabulary_out(causal):
    result = next_tokens(causal, "the cat", top_k=2)
    assert "logits" not in json.loads(json.dumps(to_json(result)))
    assert result.logits.dtype == np.float32 and not result.logits.flags.writeable


def test_text_of_a_token_is_what_it_adds():
    model = causal_models.bert_decoder()
    by_token = {token.token: token.text for token in next_tokens(model, "the cat", top_k=100).tokens}
    assert by_token["dog"] == " dog" and by_token["##ing"] == "ing"
    first = {token.token: token.text for token in next_tokens(model, "", top_k=100).tokens}
    assert first["dog"] == "dog"


def test_a_story_goes_on():
    result = next_tokens(causal_models.stories(), "Once upon a", top_k=5)
    assert result.tokens[0].text == " time" and result.tokens[0].probability > 0.95


def test_an_empty_prompt_needs_a_token_that_starts_a_text():
    assert next_tokens(causal_models.gpt2(), "").token_count == 1
    with pytest.raises(UnsuitableText, match="no token that starts"):
        next_tokens(causal_models.openai_gpt(), "")


def test_the_limit_is_said(causal):
    room = 48 - len(encode_prompt(causal, "the cat"))
    assert next_tokens(causal, "the cat", written=[5] * room).token_count == 48
    with pytest.raises(UnsuitableText, match="49 tokens, and tiny .* reads at most 48"):
        next_tokens(causal, "the cat", written=[5] * (room + 1))


@pytest.mark.parametrize(
    ("options", "says"),
    [({"written": [10**6]}, "token ids"), ({"written": [-1]}, "token ids"), ({"top_k": 0}, "whole number")],
)
def test_bad_options_are_refused(options, says):
    with pytest.raises(UnsuitableText, match=says):
        next_tokens(causal_models.gpt2(), "a", **options)


def test_control_characters_and_masked_models_are_refused(bert):
    with pytest.raises(UnsuitableText, match="control"):
        next_tokens(causal_models.gpt2(), "a\0b")
    with pytest.raises(UnsuitableModel, match="not trained to say what comes next"):
        next_tokens(bert, "the cat")
