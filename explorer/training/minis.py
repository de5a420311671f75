"""A family from nothing: one corpus, one vocabulary, one size, and another objective each.

The lectures compare ELMo, GPT, BERT and T5, which differ in data, size and vocabulary too. Here nothing differs but the
objective, and the attention or recurrence that it calls for: about 2.7 M weights in the layers, and one table of words
that input and predictions share.
"""

from collections.abc import Iterable

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForSeq2SeqLM,
    BertConfig,
    ElectraConfig,
    GPT2Config,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    T5Config,
)

import explorer.models.elmo_language_model  # noqa: F401  tells transformers that ELMo has a softmax
from explorer.analysis.corruption.sentinels import SENTINELS
from explorer.models.elmo import ElmoConfig

VOCABULARY = 6144
WIDTH, LAYERS, HEADS, CONTEXT_TOKENS = 192, 6, 6, 256
LSTM_DIM = 2 * WIDTH  # makes two layers in two directions as large as six layers of attention
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
POSITION_TABLES = ("position_embeddings.weight", "wpe.weight")
SHOWN_BYTES = 32_000_000  # of text, to choose the vocabulary from

AUTO_CLASSES = {  # objective -> what makes its network, and loads a saved one
    "masked": AutoModelForMaskedLM,
    "masked+nsp": AutoModelForPreTraining,
    "causal": AutoModelForCausalLM,
    "span": AutoModelForSeq2SeqLM,
    "bilm": AutoModelForPreTraining,
    "replaced": AutoModelForPreTraining,
}

# What a tokenizer sets around a text. One vocabulary serves all; a GPT's text must not end where the visitor's does.
TEXT, PAIR = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
AROUND = {
    "masked": TEXT,
    "masked+nsp": TEXT,
    "replaced": TEXT,
    "causal": "[CLS] $A",
    "span": "$A [SEP]",
    "bilm": "$A",  # the network sets its own marks
}


def train_tokenizer(paragraphs: Iterable[str]) -> Tokenizer:
    """Byte-level BPE of VOCABULARY entries, special tokens and sentinels among them.

    Args:
        paragraphs: Text.

    Source: Radford et al. 2019, section 2.2,
        https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = [AddedToken(token, special=True, lstrip=token == "[MASK]") for token in SPECIAL_TOKENS]
    special += [AddedToken(f"<extra_id_{number}>", special=True, lstrip=True) for number in range(SENTINELS)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=16,
        show_progress=False,
    )
    tokenizer.train_from_iterator(paragraphs, trainer)
    return tokenizer


def dress_tokenizer(tokenizer: Tokenizer, objective: str) -> PreTrainedTokenizerBase:
    """A vocabulary as a transformers tokenizer, which sets around a text what an objective needs.

    Args:
        tokenizer: Of train_tokenizer.
        objective: A key of AROUND.
    """
    dressed = Tokenizer.from_str(tokenizer.to_str())
    marks = [(mark, dressed.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    single = AROUND[objective]
    pair = PAIR if single == TEXT else None
    dressed.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=dressed,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        bos_token="[CLS]",
        sep_token="[SEP]",
        eos_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=CONTEXT_TOKENS,
    )


def new_network(objective: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
    """A network of random weights for an objective, without dropout.

    Args:
        objective: A key of AROUND.
        tokenizer: Of dress_tokenizer.
    """
    config = _config(objective, tokenizer)
    network = AUTO_CLASSES[objective].from_config(config)
    for name, weight in network.named_parameters():
        if name.endswith(POSITION_TABLES):
            _begin_as_waves(weight)
    return network


@torch.no_grad()
def _begin_as_waves(table: Tensor) -> None:
    """Sinusoids of the size of a table's random weights, to be trained on.

    Where positions begin at random, a masked model has first to learn from one token in seven which of them are
    neighbours; in the tokens that a CPU can read it does not, and stays with how often words occur.

    Args:
        table: [position, width].

    Source: Vaswani et al. 2017, section 3.5, https://arxiv.org/abs/1706.03762
    """
    length, width = table.shape
    frequencies = 10_000.0 ** -(torch.arange(0, width, 2) / width)
    angles = torch.arange(length)[:, None] * frequencies
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    table.copy_(waves * (table.std() / waves.std()))


def _config(objective: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    common = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "tie_word_embeddings": True,
    }
    bert = {
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": 4 * WIDTH,
        "max_position_embeddings": CONTEXT_TOKENS,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    match objective:
        case "masked" | "masked+nsp":
            return BertConfig(**common, **bert)
        case "replaced":
            return ElectraConfig(**common, **bert, embedding_size=WIDTH)
        case "causal":
            dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
            return GPT2Config(
                **common, n_positions=CONTEXT_TOKENS, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS, **dropout
            )
        case "span":
            return T5Config(
                **common,
                d_model=WIDTH,
                d_kv=WIDTH // HEADS,
                d_ff=4 * WIDTH,
                num_layers=LAYERS // 2,
                num_decoder_layers=LAYERS // 2,
                num_heads=HEADS,
                dropout_rate=0.0,
                decoder_start_token_id=tokenizer.bos_token_id,
            )
        case "bilm":
            return ElmoConfig(
                **common,
                input="tokens",
                projection_dim=WIDTH,
                lstm_dim=LSTM_DIM,
                num_hidden_layers=2,
                cell_clip=None,
                projection_clip=None,
            )
    raise ValueError(f"no network is known for the objective {objective!r}")
