"""A head that is off says nothing: as if its columns of the output projection were zero, in one thread alone."""

import copy
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from explorer.errors import UnsuitableModel
from explorer.models.attention import head_counts, read_weights, refuse_sharing, without_heads
from explorer.models.batching import Row, masked_logits
from explorer.models.decoding import begin_draft, extend_drafts
from explorer.models.fast_attention import make_readable
from tests.analysis.tiny_models import word_piece
from tests.analysis.writing_models import writer
from tests.models.attention_networks import NETWORKS, VOCABULARY, WITHOUT, inputs_of

BERT, GPT2, LLAMA = (
    "encoder.layer.{}.attention.output.dense",
    "transformer.h.{}.attn.c_proj",
    "layers.{}.self_attn.o_proj",
)
T5 = {
    "encoder": "encoder.block.{}.layer.0.SelfAttention.o",
    "decoder": "decoder.block.{}.layer.0.SelfAttention.o",
    "cross": "decoder.block.{}.layer.1.EncDecAttention.o",
}
PROJECTIONS = {  # of each layer, as the families name them
    "bert": {"encoder": f"bert.{BERT}"},
    "bert with both heads": {"encoder": f"bert.{BERT}"},
    "bert decoder": {"decoder": f"bert.{BERT}"},
    "roberta": {"encoder": f"roberta.{BERT}"},
    "xlm-roberta": {"encoder": f"roberta.{BERT}"},
    "distilbert": {"encoder": "distilbert.transformer.layer.{}.attention.out_lin"},
    "electra": {"encoder": f"electra.{BERT}"},
    "electra discriminator": {"encoder": f"electra.{BERT}"},
    "mpnet": {"encoder": "mpnet.encoder.layer.{}.attention.attn.o"},
    "deberta": {"encoder": f"deberta.{BERT}"},
    "deberta-v2": {"encoder": f"deberta.{BERT}"},
    "modernbert": {"encoder": "model.layers.{}.attn.Wo"},
    "gpt2": {"decoder": GPT2},
    "openai-gpt": {"decoder": GPT2},
    "opt": {"decoder": "model.decoder.layers.{}.self_attn.out_proj"},
    "gpt_neo": {"decoder": "transformer.h.{}.attn.attention.out_proj"},
    "gpt_neox": {"decoder": "gpt_neox.layers.{}.attention.dense"},
    **dict.fromkeys(["llama", "mistral", "qwen2", "qwen3", "gemma2"], {"decoder": f"model.{LLAMA}"}),
    "bloom": {"decoder": "transformer.h.{}.self_attention.dense"},
    "t5": T5,
    "mt5": T5,
    "bart": {
        "encoder": "model.encoder.layers.{}.self_attn.out_proj",
        "decoder": "model.decoder.layers.{}.self_attn.out_proj",
        "cross": "model.decoder.layers.{}.encoder_attn.out_proj",
    },
    "two berts": {
        "encoder": f"encoder.{BERT}",
        "decoder": f"decoder.bert.{BERT}",
        "cross": "decoder.bert.encoder.layer.{}.crossattention.output.dense",
    },
}


def built(name):
    torch.manual_seed(0)
    network = NETWORKS[name]().eval()
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1:
                weight.mul_(3)
    return network


def zeroed(name, network, heads):
    """A copy whose heads cannot be heard."""
    network = copy.deepcopy(network)
    counts = head_counts(network)
    for stack, layer, head in heads:
        if name == "xlnet":
            network.transformer.layer[layer].rel_attn.o.data[:, head] = 0
            continue
        projection = network.get_submodule(PROJECTIONS[name][stack].format(layer))
        weight = projection.weight.data if isinstance(projection, torch.nn.Linear) else projection.weight.data.T
        width = weight.shape[1] // counts[stack][1]
        weight[:, head * width : (head + 1) * width] = 0
    return network


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "albert"])
@torch.inference_mode()
def test_heads_that_are_off_say_nothing(name):
    network = built(name)
    inputs = inputs_of(network, padded=True)
    every = [(stack, 1, 1) for stack in head_counts(network)]
    before = network(**inputs)[0]
    for heads in [*([one] for one in every), [*every, *((stack, 0, 0) for stack, _, _ in every)]]:
        wanted = zeroed(name, network, heads)(**inputs)[0]
        with without_heads(network, heads):
            got = network(**inputs)[0]
            again = network(**inputs)[0]
        torch.testing.assert_close(got, wanted, atol=2e-5, rtol=1e-4)
        torch.testing.assert_close(again, wanted, atol=2e-5, rtol=1e-4)
        assert (got - before).abs().max() > 5e-4
    assert torch.equal(network(**inputs)[0], before)


@torch.inference_mode()
def test_one_layer_of_albert_is_silent_though_all_share_their_weights():
    network = built("albert")
    inputs = inputs_of(network)
    reference, calls = copy.deepcopy(network), []

    def silence(module, arguments):
        calls.append(module)
        said = arguments[0].clone()
        if len(calls) == 2:
            said[..., 6:12] = 0
        return (said,)

    reference.albert.encoder.albert_layer_groups[0].albert_layers[0].attention.dense.register_forward_pre_hook(silence)
    wanted = reference(**inputs)[0]
    with without_heads(network, [("encoder", 1, 1)]):
        torch.testing.assert_close(network(**inputs)[0], wanted)
        torch.testing.assert_close(network(**inputs)[0], wanted)


@torch.inference_mode()
def test_contexts_add_up_and_end():
    network = built("bert")
    inputs = inputs_of(network)
    wanted = zeroed("bert", network, [("encoder", 0, 0), ("encoder", 2, 3)])(**inputs)[0]
    with without_heads(network, [("encoder", 0, 0)]), without_heads(network, [("encoder", 2, 3)]):
        torch.testing.assert_close(network(**inputs)[0], wanted)
    refuse_sharing()
    with pytest.raises(KeyError), without_heads(network, [("encoder", 0, 0)]):
        raise KeyError
    refuse_sharing()


@pytest.mark.parametrize("head", [("encoder", 3, 0), ("encoder", 0, 4), ("encoder", -1, 0), ("cross", 0, 0)])
def test_an_unknown_head_is_refused(head):
    with pytest.raises(ValueError, match="there is no head"), without_heads(built("bert"), [head]):
        pass


def test_a_network_without_attention_says_so():
    with pytest.raises(UnsuitableModel, match="no attention"), without_heads(WITHOUT["mamba"](), []):
        pass


@pytest.mark.parametrize("name", ["bert", "albert", "t5", "deberta", "xlnet"])
def test_other_threads_are_undisturbed(name):
    network = built(name)
    make_readable(network)
    inputs = inputs_of(network)
    stack = next(iter(head_counts(network)))
    heads = [(stack, 0, 0), (stack, 1, 1)]
    with torch.inference_mode():
        whole = network(**inputs)[0]
        with without_heads(network, heads):
            less = network(**inputs)[0]
    weights = read_weights(network, inputs)[stack]
    together = Barrier(3, timeout=60)

    def plain():
        together.wait()
        with torch.inference_mode():
            return all(torch.equal(network(**inputs)[0], whole) for _ in range(30))

    def ablated():
        together.wait()
        with torch.inference_mode(), without_heads(network, heads):
            return all(torch.equal(network(**inputs)[0], less) for _ in range(30))

    def reading():
        together.wait()
        return all(torch.equal(read_weights(network, inputs)[stack], weights) for _ in range(30))

    with ThreadPoolExecutor(3) as pool:
        assert all(answer.result() for answer in [pool.submit(work) for work in (plain, ablated, reading)])


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert decoder", "mistral", "gpt_neox", "t5", "bart", "two berts"])
@torch.inference_mode()
def test_generation_is_unharmed(name):
    network = built(name)
    ids = torch.randint(5, VOCABULARY, (2, 6), generator=torch.Generator().manual_seed(3))
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    if network.config.is_encoder_decoder:
        options["decoder_start_token_id"] = 0
    mask = torch.ones_like(ids)
    mask[1, :2] = 0
    options |= {"attention_mask": mask, "output_logits": True, "return_dict_in_generate": True}
    before = network.generate(ids, **options)
    make_readable(network)
    read_weights(network, inputs_of(network))
    after = network.generate(ids, **options)
    assert torch.equal(after.sequences, before.sequences)
    assert all(map(torch.equal, after.logits, before.logits))
    heads = [(stack, 1, 0) for stack in head_counts(network)]
    with without_heads(network, heads):  # every pass of a memory of keys and values
        got = network.generate(ids, **options)
    wanted = zeroed(name, network, heads).generate(ids, **options)
    assert torch.equal(got.sequences, wanted.sequences)
    torch.testing.assert_close(got.logits, wanted.logits, atol=2e-5, rtol=1e-4)
    assert (got.logits[0] - before.logits[0]).abs().max() > 5e-4


def test_a_pass_that_others_share_is_refused():
    model = word_piece()
    [whole] = masked_logits(model, [Row((2, 5, 4, 3), (2,))])
    with without_heads(model.network, [("encoder", 0, 0)]), pytest.raises(ValueError, match="pass of its own"):
        masked_logits(model, [Row((2, 5, 4, 3), (2,))])
    assert torch.equal(masked_logits(model, [Row((2, 5, 4, 3), (2,))])[0], whole)
    model = writer("gpt2")
    draft, _ = begin_draft(model, [3, 4], 8)
    with without_heads(model.network, [("decoder", 0, 0)]), pytest.raises(ValueError, match="pass of its own"):
        extend_drafts(model, [draft], [5])
    draft.close()
