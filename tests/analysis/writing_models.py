"""One small model of every architecture that writes from left to right, and real ones where they are at hand."""

from functools import cache

import pytest
import torch
import transformers as t

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from tests.analysis.tiny_models import EVAL_DATA, byte_level, loaded, sentence_piece, word_piece

SEED = 3  # of weights that write many different tokens, and do not end at once
STORIES = EVAL_DATA / "stories260K"
BODY = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
GPT = {"n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 64}
NEO = {"hidden_size": 24, "num_layers": 2, "num_heads": 2, "attention_types": [[["global", "local"], 1]]}
NETWORKS = {  # class, configuration, tokenizer
    "gpt2": (t.GPT2LMHeadModel, t.GPT2Config, GPT, byte_level),
    "openai-gpt": (t.OpenAIGPTLMHeadModel, t.OpenAIGPTConfig, GPT, sentence_piece),
    "llama": (t.LlamaForCausalLM, t.LlamaConfig, BODY | {"num_key_value_heads": 1}, sentence_piece),
    "bert": (t.BertLMHeadModel, t.BertConfig, BODY | {"is_decoder": True}, word_piece),
    "gpt_neo": (t.GPTNeoForCausalLM, t.GPTNeoConfig, NEO | {"window_size": 4}, byte_level),
    "gpt_neox": (t.GPTNeoXForCausalLM, t.GPTNeoXConfig, BODY, byte_level),
    "mistral": (t.MistralForCausalLM, t.MistralConfig, BODY | {"num_key_value_heads": 1, "sliding_window": 6},
                sentence_piece),
    "mamba": (t.MambaForCausalLM, t.MambaConfig, {"hidden_size": 24, "num_hidden_layers": 2, "state_size": 4},
              byte_level),
    "xlnet": (t.XLNetLMHeadModel, t.XLNetConfig, {"d_model": 24, "n_layer": 2, "n_head": 2, "d_inner": 48},
              sentence_piece),
}  # fmt: skip
REMEMBERING = {"gpt2", "llama", "bert", "gpt_neo", "gpt_neox", "mistral"}


def build(architecture: str, limit_tokens: int = 64) -> LoadedModel:
    """A small model with random weights large enough to have opinions."""
    network_class, config_class, options, family = NETWORKS[architecture]
    tokenizer = family().tokenizer
    ends = {"bos_token_id": tokenizer.bos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = config_class(
        vocab_size=len(tokenizer), initializer_range=0.5, eos_token_id=tokenizer.sep_token_id, **ends, **options
    )
    torch.manual_seed(SEED)
    network = network_class(config)
    return loaded(
        network, tokenizer, name=f"tiny {architecture}", abilities=[Ability.GENERATE], limit_tokens=limit_tokens
    )


@cache
def writer(architecture: str) -> LoadedModel:
    """The same, built once."""
    return build(architecture)


@cache
def stories() -> LoadedModel:
    """A llama of 260,000 parameters that was trained on children's stories; skips where it is not at hand."""
    if not STORIES.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    network = t.AutoModelForCausalLM.from_pretrained(STORIES, dtype=torch.float32)
    tokenizer = t.AutoTokenizer.from_pretrained(STORIES)
    return loaded(network, tokenizer, name="stories", abilities=[Ability.GENERATE], limit_tokens=512)


def generated(model: LoadedModel, ids: list[int], count: int, **options) -> list[int]:
    """What generate of transformers writes behind ids, with nothing but these options."""
    given = torch.tensor([ids])
    settings = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} if options.get("do_sample") else {}
    config = t.GenerationConfig(
        max_new_tokens=count,
        eos_token_id=model.network.generation_config.eos_token_id,
        pad_token_id=0,
        **(settings | options),
    )
    use = {"use_mems": False} if model.network.config.model_type == "xlnet" else {}
    made = model.network.generate(given, attention_mask=torch.ones_like(given), generation_config=config, **use)
    return made[0, len(ids) :].tolist()


@torch.inference_mode()
def plain_logits(model: LoadedModel, ids: list[int]) -> torch.Tensor:
    """Scores of what comes next, by one full forward pass over the text; [vocab]."""
    given = torch.tensor([ids])
    if model.network.config.model_type != "xlnet":
        return model.network(input_ids=given).logits[0, -1].float()
    asked = torch.tensor([[*ids, 0]])  # XLNet is asked by a place that nothing else looks at
    hidden = torch.zeros(1, len(ids) + 1, len(ids) + 1)
    hidden[:, :, -1] = 1.0
    target = torch.zeros(1, 1, len(ids) + 1)
    target[0, 0, -1] = 1.0
    return model.network(input_ids=asked, perm_mask=hidden, target_mapping=target, use_mems=False).logits[0, -1]
