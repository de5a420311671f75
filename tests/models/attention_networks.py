"""A small network of every architecture, and what transformers' eager attention says of it."""

import copy

import torch
import transformers as t
from torch import Tensor

VOCABULARY = 40
BODY = {"hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
GPT = {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 32}
SIZES = {"vocab_size": VOCABULARY, **BODY}
LLAMA = {**SIZES, "num_key_value_heads": 2, "max_position_embeddings": 32}


def two_berts() -> t.EncoderDecoderModel:
    encoder = t.BertModel(t.BertConfig(**SIZES))
    decoder = t.BertLMHeadModel(
        t.BertConfig(**{**SIZES, "num_hidden_layers": 2}, is_decoder=True, add_cross_attention=True)
    )
    return t.EncoderDecoderModel(encoder=encoder, decoder=decoder)


def bart() -> t.BartForConditionalGeneration:
    return t.BartForConditionalGeneration(
        t.BartConfig(
            vocab_size=VOCABULARY,
            d_model=24,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=2,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=32,
        )
    )


def deberta(kind: type, config: type):
    return kind(config(**SIZES, relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=32))


T5 = {"vocab_size": VOCABULARY, "d_model": 24, "d_kv": 8, "d_ff": 48, "num_heads": 4, "decoder_start_token_id": 0}
NETWORKS = {
    "bert": lambda: t.BertForMaskedLM(t.BertConfig(**SIZES)),
    "bert with both heads": lambda: t.BertForPreTraining(t.BertConfig(**SIZES)),
    "bert decoder": lambda: t.BertLMHeadModel(t.BertConfig(**SIZES, is_decoder=True)),
    "roberta": lambda: t.RobertaForMaskedLM(t.RobertaConfig(**SIZES, pad_token_id=1)),
    "xlm-roberta": lambda: t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**SIZES, pad_token_id=1)),
    "albert": lambda: t.AlbertForMaskedLM(t.AlbertConfig(**SIZES, embedding_size=16)),
    "distilbert": lambda: t.DistilBertForMaskedLM(
        t.DistilBertConfig(vocab_size=VOCABULARY, dim=24, n_layers=3, n_heads=4, hidden_dim=48)
    ),
    "electra": lambda: t.ElectraForMaskedLM(t.ElectraConfig(**SIZES, embedding_size=16)),
    "electra discriminator": lambda: t.ElectraForPreTraining(t.ElectraConfig(**SIZES, embedding_size=16)),
    "mpnet": lambda: t.MPNetForMaskedLM(t.MPNetConfig(**SIZES)),
    "deberta": lambda: deberta(t.DebertaForMaskedLM, t.DebertaConfig),
    "deberta-v2": lambda: deberta(t.DebertaV2ForMaskedLM, t.DebertaV2Config),
    "modernbert": lambda: t.ModernBertForMaskedLM(
        t.ModernBertConfig(**SIZES, pad_token_id=0, bos_token_id=1, eos_token_id=2, local_attention=4)
    ),
    "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=VOCABULARY, **GPT)),
    "openai-gpt": lambda: t.OpenAIGPTLMHeadModel(t.OpenAIGPTConfig(vocab_size=VOCABULARY, **GPT)),
    "opt": lambda: t.OPTForCausalLM(
        t.OPTConfig(
            vocab_size=VOCABULARY,
            hidden_size=24,
            word_embed_proj_dim=24,
            num_hidden_layers=3,
            num_attention_heads=4,
            ffn_dim=48,
        )
    ),
    "gpt_neo": lambda: t.GPTNeoForCausalLM(
        t.GPTNeoConfig(
            vocab_size=VOCABULARY,
            hidden_size=24,
            num_layers=2,
            num_heads=4,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
        )
    ),
    "gpt_neox": lambda: t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**SIZES)),
    "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**LLAMA)),
    "mistral": lambda: t.MistralForCausalLM(t.MistralConfig(**LLAMA, sliding_window=4)),
    "qwen2": lambda: t.Qwen2ForCausalLM(t.Qwen2Config(**LLAMA)),
    "qwen3": lambda: t.Qwen3ForCausalLM(t.Qwen3Config(**LLAMA, head_dim=8)),
    "gemma2": lambda: t.Gemma2ForCausalLM(t.Gemma2Config(**LLAMA, head_dim=6, sliding_window=4)),
    "bloom": lambda: t.BloomForCausalLM(t.BloomConfig(vocab_size=VOCABULARY, hidden_size=24, n_layer=3, n_head=4)),
    "xlnet": lambda: t.XLNetLMHeadModel(
        t.XLNetConfig(vocab_size=VOCABULARY, d_model=24, n_layer=3, n_head=4, d_inner=48)
    ),
    "t5": lambda: t.T5ForConditionalGeneration(t.T5Config(**T5, num_layers=3, num_decoder_layers=2)),
    "mt5": lambda: t.MT5ForConditionalGeneration(t.MT5Config(**T5, num_layers=2)),
    "bart": bart,
    "two berts": two_berts,
}


WITHOUT = {
    "mamba": lambda: t.MambaForCausalLM(
        t.MambaConfig(vocab_size=VOCABULARY, hidden_size=24, num_hidden_layers=2, state_size=4)
    ),
    "rwkv": lambda: t.RwkvForCausalLM(
        t.RwkvConfig(vocab_size=VOCABULARY, hidden_size=24, num_hidden_layers=2, attention_hidden_size=24)
    ),
    "falcon": lambda: t.FalconForCausalLM(
        t.FalconConfig(vocab_size=VOCABULARY, hidden_size=24, num_hidden_layers=3, num_attention_heads=4)
    ),
    "longformer": lambda: t.LongformerForMaskedLM(t.LongformerConfig(**SIZES, attention_window=4)),
}


def inputs_of(network, *, padded: bool = False, length: int = 9) -> dict[str, Tensor]:
    """A batch of two rows; padded: the second ends earlier."""
    torch.manual_seed(1)
    inputs = {"input_ids": torch.randint(5, VOCABULARY, (2, length))}
    if padded:
        inputs["attention_mask"] = torch.ones(2, length, dtype=torch.long)
        inputs["attention_mask"][1, length - 3 :] = 0
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(5, VOCABULARY, (2, 5))
    return inputs


@torch.inference_mode()
def eager_weights(network, inputs, names=None) -> dict[str, Tensor]:
    """From a copy of the network that transformers loads with eager attention; [layer, batch, head, query, key]."""
    network = copy.deepcopy(network)
    for module in network.modules():  # the layers of an encoder-decoder hold configurations of their own
        if isinstance(getattr(module, "config", None), t.PreTrainedConfig):
            module.config._attn_implementation = "eager"
    output = network(**inputs, output_attentions=True, return_dict=True)
    if network.config.is_encoder_decoder:
        names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    else:
        names = {names[0] if names else "decoder" if is_causal(network) else "encoder": "attentions"}
    return {stack: torch.stack(output[name]) for stack, name in names.items()}


def is_causal(network) -> bool:
    """Said of the tests' own networks by name, not looked up."""
    name = type(network).__name__
    return "CausalLM" in name or name in {"BertLMHeadModel", "GPT2LMHeadModel", "OpenAIGPTLMHeadModel"}
