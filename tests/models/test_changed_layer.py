"""Changed layers against a hook that is put by hand on the module of each architecture that gives the layer."""

from threading import Thread

import pytest
import torch
from transformers import AlbertConfig, AlbertForMaskedLM

from explorer.errors import UnsuitableModel
from explorer.models.changed_layer import changed_layer
from tests.analysis import tiny_models
from tests.analysis.test_embeddings import own

GIVERS = {  # of layer 0, of layer 1, …
    "word_piece": lambda network: [network.bert.embeddings, *network.bert.encoder.layer],
    "byte_level": lambda network: [network.roberta.embeddings, *network.roberta.encoder.layer],
    "bert-decoder": lambda network: [network.bert.embeddings, *network.bert.encoder.layer],
    "gpt2": lambda network: [network.transformer.drop, *network.transformer.h],
    "openai-gpt": lambda network: [network.transformer.drop, *network.transformer.h],
    "llama": lambda network: [network.model.embed_tokens, *network.model.layers],
}


def less(states):
    changed = states.clone()
    changed[..., 3] = 0.7
    changed[..., 5] = -0.2
    return changed


def by_hand(network, module, ids, visit=0):
    """Logits where a plain hook changes what a module gives at its n-th visit."""
    visits = []

    def hook(module, arguments, output):
        visits.append(module)
        if len(visits) == visit + 1:
            return less(output) if isinstance(output, torch.Tensor) else type(output)([less(output[0]), *output[1:]])

    handle = module.register_forward_hook(hook)
    try:
        return network(torch.tensor([ids])).logits
    finally:
        handle.remove()


def changed(model, layer, ids):
    with changed_layer(model, layer, tuple(ids[:2]), less):
        return model.network(torch.tensor([ids])).logits


@pytest.mark.parametrize("name", sorted(GIVERS))
@torch.inference_mode()
def test_every_layer_is_changed_where_it_is_given(name):
    model = own(name)
    ids = model.tokenizer("the cat walks home")["input_ids"]
    intact = model.network(torch.tensor([ids])).logits
    layers = GIVERS[name](model.network)
    assert len(layers) > 2
    for layer, module in enumerate(layers[:-1]):
        found = changed(model, layer, ids)
        torch.testing.assert_close(found, by_hand(model.network, module, ids), atol=1e-5, rtol=1e-5)
        assert not torch.allclose(found, intact, atol=1e-3)
    torch.testing.assert_close(model.network(torch.tensor([ids])).logits, intact, msg="the network is as before")


@torch.inference_mode()
def test_one_module_may_give_all_layers():
    tokenizer = own("word_piece").tokenizer
    torch.manual_seed(0)
    config = {**tiny_models.TINY, "num_hidden_layers": 3}
    network = AlbertForMaskedLM(AlbertConfig(vocab_size=len(tokenizer), embedding_size=24, **config))
    model = tiny_models.loaded(network, tokenizer)
    ids = tokenizer("the cat walks home")["input_ids"]
    shared = network.albert.encoder.albert_layer_groups[0].albert_layers[0]
    found = [changed(model, layer, ids) for layer in range(3)]
    for layer in (1, 2):
        expected = by_hand(network, shared, ids, visit=layer - 1)
        torch.testing.assert_close(found[layer], expected, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(found[1], found[2], atol=1e-3) and not torch.allclose(found[0], found[1], atol=1e-3)


@torch.inference_mode()
def test_other_threads_and_later_passes_are_undisturbed():
    model = own("gpt2")
    ids = model.tokenizer("the cat walks home")["input_ids"]
    row, said = torch.tensor([ids]), []
    intact = model.network(row).logits

    def ask():
        with torch.inference_mode():
            said.append(model.network(row).logits)

    with changed_layer(model, 1, tuple(ids), less):
        thread = Thread(target=ask)
        thread.start()
        thread.join()
        first, second = model.network(row).logits, model.network(row).logits
    torch.testing.assert_close(said[0], intact)
    torch.testing.assert_close(second, intact, msg="of one pass, not of all")
    assert not torch.allclose(first, intact, atol=1e-3)


def test_what_has_no_such_layer_says_so():
    with (
        pytest.raises(UnsuitableModel, match="cannot be changed"),
        changed_layer(own("gpt2"), 9, (1, 2), less),
    ):
        pass
