"""One small causal model for each architecture, and what a plain forward pass of it says."""

import pytest
import torch
from tokenizers import Tokenizer, processors
from transformers import (
    BertConfig,
    BertLMHeadModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OpenAIGPTConfig,
    OpenAIGPTLMHeadModel,
    PreTrainedTokenizerFast,
)

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.loading import load_model
from tests.analysis.objective_models import opinionated
from tests.analysis.tiny_models import EVAL_DATA, TINY, byte_level, loaded, sentence_piece, word_piece

STORIES = EVAL_DATA / "stories260K"


def gpt2() -> LoadedModel:
    """Knows a token that starts a text; its tokenizer does not set it."""
    tokenizer = _tokenizer(byte_level(), "", bos_token="<s>", eos_token="</s>")
    return _causal(
        GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=48, n_embd=24, n_layer=3, n_head=2)),
        tokenizer,
    )


def llama() -> LoadedModel:
    """Its tokenizer sets the token that starts a text."""
    tokenizer = _tokenizer(sentence_piece(), "<s>", bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    config = LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=48, num_key_value_heads=1, **TINY)
    return _causal(LlamaForCausalLM(config), tokenizer)


def bert_decoder() -> LoadedModel:
    """As MiniLM (causal) is made."""
    tokenizer = _tokenizer(word_piece(), "[CLS]", bos_token="[CLS]", eos_token="[SEP]", unk_token="[UNK]")
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=48, is_decoder=True, **TINY)
    return _causal(BertLMHeadModel(config), tokenizer)


def openai_gpt() -> LoadedModel:
    """Has no token that starts a text."""
    tokenizer = _tokenizer(sentence_piece(), "", unk_token="<unk>")
    config = OpenAIGPTConfig(vocab_size=len(tokenizer), n_positions=48, n_embd=24, n_layer=3, n_head=2)
    return _causal(OpenAIGPTLMHeadModel(config), tokenizer)


MODELS = {"gpt2": gpt2, "llama": llama, "bert-decoder": bert_decoder, "openai-gpt": openai_gpt}


def stories() -> LoadedModel:
    """A really trained small Llama; skips where it is not at hand."""
    if not STORIES.is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    card = ModelCard(
        name="stories",
        source=LocalFolder(str(STORIES)),
        model_type="llama",
        abilities=frozenset({Ability.GENERATE}),
        special="",
        licence="MIT",
        paper="none",
        paper_url="",
    )
    return load_model(card, device="cpu", progress=lambda progress: None)


@torch.inference_mode()
def plain_scores(model: LoadedModel, ids) -> torch.Tensor:
    """Log-probabilities of the token after each of some ids, from one pass of one row; [token, vocab]."""
    return model.network(input_ids=torch.tensor([list(ids)])).logits[0].double().log_softmax(dim=-1)


def _causal(network, tokenizer) -> LoadedModel:
    name = f"tiny {network.config.model_type}"
    return loaded(opinionated(network), tokenizer, name=name, abilities=[Ability.GENERATE], limit_tokens=48)


def _tokenizer(of: LoadedModel, start: str, **special) -> PreTrainedTokenizerFast:
    backend = Tokenizer.from_str(of.tokenizer.backend_tokenizer.to_str())
    marks = [(start, backend.token_to_id(start))] if start else []
    backend.post_processor = processors.TemplateProcessing(single=f"{start} $A".strip(), special_tokens=marks)
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)
