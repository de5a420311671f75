"""Small networks of many architectures that predict tokens, as masked_logits takes them."""

from dataclasses import dataclass

import torch
import transformers
from transformers import PreTrainedModel

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard

VOCABULARY = 97
LIMIT_TOKENS = 40
SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}


@dataclass(frozen=True)
class Family:
    """A masked architecture, and what its small configuration is called."""

    config: str
    network: str
    settings: dict

    def __str__(self) -> str:
        return self.network.removesuffix("ForMaskedLM")

    def build(self) -> PreTrainedModel:
        torch.manual_seed(0)
        network = getattr(transformers, self.network)(getattr(transformers, self.config)(**self.settings)).eval()
        for parameter in network.parameters():  # as made, small networks are so flat that any mistake looks right
            torch.nn.init.normal_(parameter, std=0.2)
        return network


DISTILBERT = {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
DEBERTA = SMALL | {"relative_attention": True, "max_relative_positions": 16, "pos_att_type": ["c2p", "p2c"]}
MODERNBERT = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
XLNET = {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}
FUNNEL = {"vocab_size": VOCABULARY, "d_model": 32, "block_sizes": [1, 1], "n_head": 2, "d_head": 16, "d_inner": 64}
FAMILIES = [
    Family("BertConfig", "BertForMaskedLM", SMALL),
    Family("BertConfig", "BertForPreTraining", SMALL),
    Family("RobertaConfig", "RobertaForMaskedLM", SMALL),
    Family("XLMRobertaConfig", "XLMRobertaForMaskedLM", SMALL),
    Family("AlbertConfig", "AlbertForMaskedLM", SMALL | {"embedding_size": 16}),
    Family("DistilBertConfig", "DistilBertForMaskedLM", DISTILBERT),
    Family("ElectraConfig", "ElectraForMaskedLM", SMALL | {"embedding_size": 16}),
    Family("MPNetConfig", "MPNetForMaskedLM", SMALL),
    Family("DebertaConfig", "DebertaForMaskedLM", DEBERTA | {"legacy": False, "position_biased_input": True}),
    Family("DebertaConfig", "DebertaForMaskedLM", DEBERTA | {"legacy": True}),
    Family("DebertaV2Config", "DebertaV2ForMaskedLM", DEBERTA | {"legacy": False, "position_buckets": 8}),
    Family("ModernBertConfig", "ModernBertForMaskedLM", SMALL | MODERNBERT | {"local_attention": 8}),
    Family("XLNetConfig", "XLNetLMHeadModel", XLNET),
    Family("FNetConfig", "FNetForMaskedLM", SMALL | {"use_tpu_fourier_optimizations": False}),
    Family("YosoConfig", "YosoForMaskedLM", SMALL),
    Family("FunnelConfig", "FunnelForMaskedLM", FUNNEL),
    Family("GPT2Config", "GPT2LMHeadModel", {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4}),
]


def loaded(network: PreTrainedModel) -> LoadedModel:
    card = ModelCard("tiny", LocalFolder("."), "bert", frozenset({Ability.FILL_BLANKS}), "", "", "", "")
    return LoadedModel(card, tokenizer=None, network=network, limit_tokens=LIMIT_TOKENS, weights_bytes=0)
