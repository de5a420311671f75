import pytest
import torch

from explorer.analysis import next_tokens, read_layers
from explorer.analysis.prompts import encode_prompt
from explorer.errors import UnsuitableModel, UnsuitableText
from tests.analysis import causal_models, objective_models
from tests.analysis.causal_models import plain_scores
from tests.analysis.tiny_models import log_probabilities

HEADS = {  # by hand, from what each architecture's paper and code say stands between its last layer and the words
    "gpt2": lambda network, hidden: network.lm_head(network.transformer.ln_f(hidden)),
    "llama": lambda network, hidden: network.lm_head(network.model.norm(hidden)),
    "bert": lambda network, hidden: network.cls(hidden),
    "openai-gpt": lambda network, hidden: network.lm_head(hidden),
}


@torch.inference_mode()
def by_hand(model, ids):
    """Log-probabilities of each layer's own output, caught as it leaves the layer; [layer, vocab]."""
    network = model.network
    body = network.base_model
    blocks = next(module for module in body.modules() if isinstance(module, torch.nn.ModuleList))
    caught = []

    def catch(module, arguments, output):
        caught.append(output[0] if isinstance(output, tuple | list) else output)

    hooks = [block.register_forward_hook(catch) for block in blocks]
    hooks.append(blocks[0].register_forward_pre_hook(lambda module, arguments: caught.append(arguments[0])))
    network(input_ids=torch.tensor([ids]))
    for hook in hooks:
        hook.remove()
    last = [hidden[:, -1] for hidden in caught]
    return torch.cat([HEADS[network.config.model_type](network, hidden) for hidden in last]).double().log_softmax(-1)


def test_layers_are_read_by_the_last_norm_and_the_head(causal):
    result = read_layers(causal, "the cat is", top_k=4)
    ids = encode_prompt(causal, "the cat is")
    expected = by_hand(causal, ids)
    assert len(result.layers) == len(expected) == causal.network.config.num_hidden_layers + 1
    answer = int(expected[-1].argmax())
    for reading, scores in zip(result.layers, expected, strict=True):
        best = scores.topk(4)
        assert [token.token_id for token in reading.tokens] == best.indices.tolist()
        assert [token.probability for token in reading.tokens] == pytest.approx(best.values.exp().tolist(), abs=1e-4)
        assert reading.rank == int((scores > scores[answer]).sum()) + 1
        assert reading.probability == pytest.approx(scores[answer].exp().item(), abs=1e-4)
        assert reading.entropy_nats == pytest.approx(-(scores.exp() * scores).sum().item(), abs=1e-3)


def test_the_last_layer_is_the_models_own_answer(causal):
    last = read_layers(causal, "the cat is", top_k=50).layers[-1]
    own = plain_scores(causal, encode_prompt(causal, "the cat is"))[-1].exp()
    assert last.rank == 1
    for token in last.tokens:
        assert token.probability == pytest.approx(own[token.token_id].item(), abs=1e-4)
    assert next_tokens(causal, "the cat is", top_k=1).tokens[0].token_id == last.tokens[0].token_id


def test_what_is_applied_is_said():
    applied = {name: read_layers(make(), "the cat").applied for name, make in causal_models.MODELS.items()}
    assert "ln_f" in applied["gpt2"] and "norm" in applied["llama"]
    assert applied["bert-decoder"] == applied["openai-gpt"] and "alone" in applied["openai-gpt"]


def test_a_masked_model_is_read_at_its_blank(family):
    result = read_layers(family, "the ___ is in ___.", top_k=3, blank=2)
    ids = family.tokenizer(f"the {family.tokenizer.mask_token} is in {family.tokenizer.mask_token}.")["input_ids"]
    assert result.predicts == "blank" and result.seen[result.position] == family.tokenizer.mask_token
    [own] = log_probabilities(family, [ids], [result.position])
    assert [token.token_id for token in result.layers[-1].tokens] == own.topk(3).indices.tolist()
    with pytest.raises(UnsuitableText, match="no blank 3"):
        read_layers(family, "the ___ is in ___.", blank=3)


def test_other_passes_of_the_network_stay_as_they_were(causal):
    before = plain_scores(causal, [1, 2, 3])
    read_layers(causal, "the cat")
    assert torch.equal(before, plain_scores(causal, [1, 2, 3]))


def test_a_story_comes_up_layer_by_layer():
    layers = read_layers(causal_models.stories(), "Once upon a").layers
    assert layers[0].tokens[0].text == " a"  # tied embeddings say the word that was read
    assert layers[-1].tokens[0].text == " time" and layers[0].rank > layers[-2].rank > 1


@pytest.mark.parametrize("objective", ["span", "bilm"])
def test_models_without_one_stack_are_refused(objective):
    with pytest.raises(UnsuitableModel):
        read_layers(objective_models.mini(objective), "the dog")
