"""Small real models of three tokenizer families, with random weights large enough to have opinions."""

import json
import os
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaTokenizer,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaTokenizer,
)

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard

EVAL_DATA = Path(os.environ.get("EXPLORER_EVAL_DATA", Path(__file__).parents[2] / "../shared/eval"))
TOKENIZERS = EVAL_DATA / "tokenizers"

TINY = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "initializer_range": 0.5,  # the usual 0.02 gives distributions so flat that no order of choices is stable
}
WORDPIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog play playing walk run happy paris is in on new york he she king "
    "queen un home ( ) , . ! ' - s ing ##ing ##ed ##s ##ly _ 我 你"
).split()
CORPUS = ["The cat is playing in Paris.", "A dog walks home (slowly).", "He is happy, unhappily.", "play walk run"] * 3


def loaded(network, tokenizer, *, name="tiny", abilities=(Ability.FILL_BLANKS,), limit_tokens=64) -> LoadedModel:
    """A loaded model as a backend would hand it to an analysis."""
    card = ModelCard(
        name=name,
        source=LocalFolder("nowhere"),
        model_type=network.config.model_type,
        abilities=frozenset(abilities),
        special="Made for a test.",
        licence="Apache-2.0",
        paper="none",
        paper_url="",
    )
    return LoadedModel(card, tokenizer, network.eval(), limit_tokens=limit_tokens, weights_bytes=0)


def tiny_bert(tokenizer, seed=0, **config):
    torch.manual_seed(seed)
    return BertForMaskedLM(
        BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **{**TINY, **config})
    )


def tiny_roberta(tokenizer, seed=0):
    torch.manual_seed(seed)
    return RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=len(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            max_position_embeddings=tokenizer.pad_token_id + 80,  # positions are counted from there
            **TINY,
        )
    )


def word_piece(seed=0) -> LoadedModel:
    tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(WORDPIECES)})
    return loaded(tiny_bert(tokenizer, seed), tokenizer, name="tiny bert")


def byte_level(seed=0) -> LoadedModel:
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    trained.train_from_iterator(CORPUS, trainer)
    model = json.loads(trained.to_str())["model"]
    tokenizer = RobertaTokenizer(
        vocab=model["vocab"],
        merges=[tuple(pair) for pair in model["merges"]],
        mask_token=AddedToken("<mask>", lstrip=True, special=True),  # as in the published tokenizer.json
    )
    return loaded(tiny_roberta(tokenizer, seed), tokenizer, name="tiny roberta")


def sentence_piece(seed=0) -> LoadedModel:
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    trained.train_from_iterator(CORPUS, trainer)
    pieces = [tuple(piece) for piece in json.loads(trained.to_str())["model"]["vocab"]]
    tokenizer = XLMRobertaTokenizer(
        vocab=[*pieces, ("▁Paris", -3.0), ("▁New", -3.0), ("▁York", -3.0), ("<mask>", 0.0)],
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )
    torch.manual_seed(seed)
    network = XLMRobertaForMaskedLM(
        XLMRobertaConfig(
            vocab_size=len(tokenizer) + 7,  # padded, as many published heads are
            pad_token_id=tokenizer.pad_token_id,
            max_position_embeddings=110,
            **TINY,
        )
    )
    return loaded(network, tokenizer, name="tiny xlm-roberta", limit_tokens=100)


FAMILIES = {"word_piece": word_piece, "byte_level": byte_level, "sentence_piece": sentence_piece}


def gpt2() -> LoadedModel:
    """A model without a mask token."""
    tokenizer = GPT2Tokenizer(vocab={"a": 0, "b": 1, "_": 2, "Ġ": 3, "<|endoftext|>": 4}, merges=[])
    network = GPT2LMHeadModel(GPT2Config(vocab_size=5, n_embd=8, n_layer=1, n_head=1))
    return loaded(network, tokenizer, name="tiny gpt", abilities=[Ability.GENERATE])


def published_bert_vocabulary() -> LoadedModel:
    tokenizer = BertTokenizer.from_pretrained(TOKENIZERS / "bert-base-uncased")
    return loaded(tiny_bert(tokenizer), tokenizer, name="bert vocabulary")


def published_gpt2_vocabulary() -> LoadedModel:
    """The byte pairs that GPT-2 and RoBERTa share, with RoBERTa's special tokens."""
    mask = AddedToken("<mask>", lstrip=True, special=True)
    tokenizer = RobertaTokenizer.from_pretrained(TOKENIZERS / "gpt2", mask_token=mask)
    return loaded(tiny_roberta(tokenizer), tokenizer, name="gpt-2 vocabulary")


@torch.inference_mode()
def log_probabilities(model: LoadedModel, rows, positions) -> torch.Tensor:
    """The plain way to the same numbers: one forward pass of rows of one length, a head everywhere; [row, vocab]."""
    logits = model.network(input_ids=torch.tensor([list(ids) for ids in rows])).logits.double()
    return logits[torch.arange(len(rows)), list(positions)].log_softmax(dim=-1)
