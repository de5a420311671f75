"""The page with one small model for each objective that no shipped model has, random weights over a real vocabulary."""

import torch
from transformers import (
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    T5Config,
    T5ForConditionalGeneration,
)

import app
import explorer
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.elmo import ElmoConfig
from explorer.models.elmo_language_model import ElmoForPreTraining
from explorer.models.folders import find_folder
from explorer.models.loading import load_model
from explorer.models.local import LocalBackend
from explorer.models.progress import ignore
from explorer.models.registry import Registry

BODY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
WRITER = {"d_model": 32, "pad_token_id": 0, "bos_token_id": 101, "eos_token_id": 102, "decoder_start_token_id": 101}
LAYERS = {f"{side}_{part}": n for side in ("encoder", "decoder") for part, n in (("layers", 2), ("ffn_dim", 64))}
HEADS = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
MAKE = {
    "Tiny ELECTRA": ("electra", {Ability.DETECT_REPLACED}, ElectraForPreTraining, ElectraConfig, BODY),
    "Tiny BERT": ("bert", {Ability.FILL_BLANKS, Ability.NEXT_SENTENCE}, BertForPreTraining, BertConfig, BODY),
    "Tiny ELMo": (
        "elmo",
        {Ability.PREDICT_BOTH_WAYS},
        ElmoForPreTraining,
        ElmoConfig,
        {"input": "tokens", "projection_dim": 16, "lstm_dim": 24, "bos_token_id": 101, "eos_token_id": 102},
    ),
    "Tiny T5": (
        "t5",
        {Ability.FILL_SPANS},
        T5ForConditionalGeneration,
        T5Config,
        {**WRITER, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2},
    ),
    "Tiny BART": (
        "bart",
        {Ability.FILL_SPANS},
        BartForConditionalGeneration,
        BartConfig,
        {**WRITER, **LAYERS, **HEADS},
    ),
}
CARDS = tuple(
    ModelCard(name, LocalFolder("nowhere"), kind, frozenset(abilities), "Random.", "Apache-2.0", "none", "",
              parameters=1_000_000, weights_bytes=4_000_000)
    for name, (kind, abilities, *_) in MAKE.items()
)  # fmt: skip


def load(card, *, device, progress):
    if card not in CARDS:
        return load_model(card, device=device, progress=progress)
    base = next(card for card in CATALOGUE if card.name == "all-MiniLM-L6-v2")
    tokenizer = AutoTokenizer.from_pretrained(find_folder(base, ignore))
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    if card.model_type == "t5":
        tokenizer.add_tokens([f"<extra_id_{number}>" for number in range(32)], special_tokens=True)
    _, _, network_class, config_class, options = MAKE[card.name]
    torch.manual_seed(0)
    network = network_class(config_class(vocab_size=len(tokenizer), **options)).to(device).eval()
    return LoadedModel(card, tokenizer, network, limit_tokens=128, weights_bytes=card.weights_bytes)


if __name__ == "__main__":
    cards = (*CARDS, *CATALOGUE)
    explorer.open_registry = lambda: Registry(cards, lambda: LocalBackend(load, cards=cards))
    app.main()
