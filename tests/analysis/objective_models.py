"""One small model for each pre-training objective, with random weights."""

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
)

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from tests.analysis.tiny_models import TINY, byte_level, loaded, word_piece
from tests.training.tiny_networks import tiny_network, tiny_tokenizer

TEXT = "the dog barks in the garden . anna hears it and feeds the dog . the owl hoots in the barn ."
ABILITIES = {
    "span": Ability.FILL_SPANS,
    "bilm": Ability.PREDICT_BOTH_WAYS,
    "replaced": Ability.DETECT_REPLACED,
    "causal": Ability.GENERATE,
    "masked": Ability.FILL_BLANKS,
}


def opinionated(network: torch.nn.Module) -> torch.nn.Module:
    """Weights so large that no two tokens are alike likely."""
    torch.manual_seed(1)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def mini(objective: str) -> LoadedModel:
    """A member of the family that starts from nothing; all cut a text into the same tokens."""
    network = opinionated(tiny_network(objective))
    return loaded(network, tiny_tokenizer(objective), name=f"{objective} mini", abilities=[ABILITIES[objective]])


def bert_with_both_heads() -> LoadedModel:
    tokenizer = word_piece().tokenizer
    torch.manual_seed(0)
    network = BertForPreTraining(BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **TINY))
    abilities = [Ability.FILL_BLANKS, Ability.NEXT_SENTENCE]
    return loaded(network, tokenizer, name="tiny bert of two heads", abilities=abilities)


def gpt2() -> LoadedModel:
    tokenizer = byte_level().tokenizer
    network = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=24, n_layer=2, n_head=2))
    return loaded(opinionated(network), tokenizer, name="tiny gpt-2", abilities=[Ability.GENERATE])


def bart() -> LoadedModel:
    tokenizer = byte_level().tokenizer
    network = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=24,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=128,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.eos_token_id,
        )
    )
    return loaded(opinionated(network), tokenizer, name="tiny bart", abilities=[Ability.FILL_SPANS], limit_tokens=128)
