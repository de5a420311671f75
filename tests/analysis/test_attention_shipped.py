"""Attention of the really trained models that ship, up to the longest text they read."""

from functools import partial

import numpy as np
import pytest
import torch

from explorer.analysis import read_attention
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.card import Ability
from tests.models.attention_networks import eager_weights

CAPITAL = "Paris is the capital of France, and Berlin is the capital of Germany."
LONG = " ".join(["the cat sat on the mat and the dog"] * 60)  # cut to length below


def compare(model, text, second_text=None):
    """The largest difference to transformers' eager attention on the ids that were read."""
    reading = read_attention(model, text, second_text=second_text)
    ids = [
        torch.tensor([model.tokenizer.convert_tokens_to_ids([token.text for token in stack.queries])])
        for stack in reading.stacks[:2]
    ]
    inputs = {"input_ids": ids[0]} if len(ids) == 1 else {"input_ids": ids[0], "decoder_input_ids": ids[1]}
    wanted = eager_weights(model.network, inputs, [stack.name for stack in reading.stacks])
    return max(
        float(np.abs(stack.weights - wanted[stack.name][:, 0].numpy()).max()) for stack in reading.stacks
    ), reading


@pytest.mark.parametrize(
    "name", ["MiniLM (masked)", "all-MiniLM-L6-v2", "MiniLM (causal)", "GPT mini", "MiniLM (span)"]
)
def test_weights_are_those_of_eager_attention(shipped_registry, name):
    difference, reading = shipped_registry.run(name, partial(compare, text=CAPITAL))
    assert difference <= 1e-5
    assert reading.written_by_model is (name == "MiniLM (span)")
    for stack in reading.stacks:
        np.testing.assert_allclose(stack.weights.sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["MiniLM (masked)", "MiniLM (causal)", "GPT mini"])
def test_a_text_of_the_longest_length_is_read_and_one_token_more_is_refused(shipped_registry, name):
    def ask(model):
        marks = 2 if Ability.FILL_BLANKS in model.card.abilities else 1
        words = LONG.split()[: model.limit_tokens - marks]
        difference, reading = compare(model, " ".join(words))
        assert reading.weights.shape[2:] == (model.limit_tokens,) * 2
        np.testing.assert_allclose(reading.weights.sum(axis=-1), 1, atol=1e-5)
        with pytest.raises(UnsuitableText, match=f"has {model.limit_tokens + 1} tokens, and .* reads at most"):
            read_attention(model, " ".join([*words, "cat"]))
        return difference

    assert shipped_registry.run(name, ask) <= 1e-4  # sums of 512 numbers; processors add them in orders of their own


def test_elmo_says_that_it_has_no_attention(shipped_registry):
    with pytest.raises(UnsuitableModel, match="no attention"):
        shipped_registry.run("ELMo mini", partial(read_attention, text=CAPITAL))


@pytest.mark.parametrize(
    "text", ["</script><img src=x onerror=alert(1)>", "مرحبا بالعالم", "🏳️‍🌈 \u200f\u202e abc", "___", "."]
)
@pytest.mark.parametrize("name", ["MiniLM (masked)", "GPT mini", "MiniLM (span)"])
def test_odd_texts_are_read(shipped_registry, name, text):
    reading = shipped_registry.run(name, partial(read_attention, text=text))
    for stack in reading.stacks:
        np.testing.assert_allclose(stack.weights.sum(axis=-1), 1, atol=1e-5)
