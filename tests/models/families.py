"""Every architecture the catalogue names, as a small configuration and a real or really trained tokenizer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import transformers as t
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from explorer.models.card import Ability

SENTENCES = [
    "The cat sat on the mat and looked at the dog.",
    "A king and a queen lived in an old house by the sea.",
    "Paris is the capital of France, and Berlin is the capital of Germany.",
    "She gave him his book because he had asked her for it.",
    "Der Hund und die Katze schlafen auf dem alten Sofa.",
]
BODY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
FILLS, SPANS, WRITES, FINDS = Ability.FILL_BLANKS, Ability.FILL_SPANS, Ability.GENERATE, Ability.DETECT_REPLACED


def bert_words(folder: Path):
    return t.BertTokenizer(vocab=str(folder / "bert-base-uncased" / "vocab.txt"))


def byte_pieces(tokenizer_class: type, **special):
    """GPT-2's real pieces, with the special tokens of a later family."""

    def make(folder: Path):
        files = {"vocab": str(folder / "gpt2" / "vocab.json"), "merges": str(folder / "gpt2" / "merges.txt")}
        return tokenizer_class(**files, **special)

    return make


def wrapped_byte_pieces(folder: Path):
    """The same for a family without a tokenizer class of its own (ModernBERT)."""
    backend = t.GPT2Tokenizer(
        vocab=str(folder / "gpt2" / "vocab.json"), merges=str(folder / "gpt2" / "merges.txt")
    ).backend_tokenizer
    special = {"mask_token": "[MASK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return t.PreTrainedTokenizerFast(tokenizer_object=backend, **special)


@cache
def unigram() -> Tokenizer:
    """A sentencepiece-like tokenizer, trained on our own sentences."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", "<extra_id_0>", "<extra_id_1>"]
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="<unk>")
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return tokenizer


def sentence_pieces(folder: Path):
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return t.PreTrainedTokenizerFast(tokenizer_object=unigram(), mask_token="<mask>", **special)


@dataclass(frozen=True)
class Family:
    """A family, how to make a small one, and what loading must give.

    Attributes:
        model_type: As transformers names it.
        ability: What the card promises besides vectors.
        saved_as: Class of the checkpoint, and of the loaded network.
        config: Makes the configuration from the number of tokens.
        tokenizer: Makes the tokenizer from the folder of real vocabularies.
        limit_tokens: What the network takes.
        overrides: Of the configuration, on the card.
    """

    model_type: str
    ability: Ability
    saved_as: type
    config: Callable[[int], t.PreTrainedConfig]
    tokenizer: Callable[[Path], t.PreTrainedTokenizerBase]
    limit_tokens: int
    overrides: tuple[tuple[str, object], ...] = ()


ROBERTA = byte_pieces(t.RobertaTokenizer)
FAMILIES = [
    Family("bert", FILLS, t.BertForMaskedLM, lambda n: t.BertConfig(vocab_size=n, **BODY), bert_words, 512),
    Family(
        "roberta",
        FILLS,
        t.RobertaForMaskedLM,
        lambda n: t.RobertaConfig(vocab_size=n, max_position_embeddings=514, pad_token_id=1, **BODY),
        ROBERTA,
        512,
    ),
    Family(
        "xlm-roberta",
        FILLS,
        t.XLMRobertaForMaskedLM,
        lambda n: t.XLMRobertaConfig(vocab_size=n, max_position_embeddings=66, pad_token_id=1, **BODY),
        sentence_pieces,
        64,
    ),
    Family(
        "albert",
        FILLS,
        t.AlbertForMaskedLM,
        lambda n: t.AlbertConfig(vocab_size=n, embedding_size=16, **BODY),
        sentence_pieces,
        512,
    ),
    Family(
        "distilbert",
        FILLS,
        t.DistilBertForMaskedLM,
        lambda n: t.DistilBertConfig(vocab_size=n, dim=32, n_layers=2, n_heads=2, hidden_dim=64),
        bert_words,
        512,
    ),
    Family(
        "electra",
        FILLS,
        t.ElectraForMaskedLM,
        lambda n: t.ElectraConfig(vocab_size=n, embedding_size=16, **BODY),
        bert_words,
        512,
    ),
    Family(
        "electra",
        FINDS,
        t.ElectraForPreTraining,
        lambda n: t.ElectraConfig(vocab_size=n, embedding_size=16, **BODY),
        bert_words,
        512,
    ),
    Family(
        "mpnet",
        FILLS,
        t.MPNetForMaskedLM,
        lambda n: t.MPNetConfig(vocab_size=n, max_position_embeddings=514, **BODY),
        bert_words,
        512,
    ),
    Family(
        "deberta",
        FILLS,
        t.DebertaForMaskedLM,
        lambda n: t.DebertaConfig(vocab_size=n, relative_attention=True, pos_att_type=["c2p", "p2c"], **BODY),
        byte_pieces(t.DebertaTokenizer),
        512,
        overrides=(("legacy", False),),
    ),
    Family(
        "deberta-v2",
        Ability.EMBED,
        t.DebertaV2Model,
        lambda n: t.DebertaV2Config(vocab_size=n, relative_attention=True, pos_att_type=["c2p", "p2c"], **BODY),
        sentence_pieces,
        512,
    ),
    Family(
        "xlnet",
        WRITES,
        t.XLNetLMHeadModel,
        lambda n: t.XLNetConfig(vocab_size=n, d_model=32, n_layer=2, n_head=2, d_inner=64),
        sentence_pieces,
        512,
    ),
    Family(
        "modernbert",
        FILLS,
        t.ModernBertForMaskedLM,
        lambda n: t.ModernBertConfig(
            vocab_size=n, max_position_embeddings=256, pad_token_id=0, bos_token_id=1, eos_token_id=2, **BODY
        ),
        wrapped_byte_pieces,
        256,
    ),
    Family(
        "gpt2",
        WRITES,
        t.GPT2LMHeadModel,
        lambda n: t.GPT2Config(vocab_size=n, n_positions=128, n_embd=32, n_layer=2, n_head=2),
        byte_pieces(t.GPT2Tokenizer),
        128,
    ),
    Family(
        "openai-gpt",
        WRITES,
        t.OpenAIGPTLMHeadModel,
        lambda n: t.OpenAIGPTConfig(vocab_size=n, n_positions=128, n_embd=32, n_layer=2, n_head=2),
        sentence_pieces,
        128,
    ),
    Family(
        "llama",
        WRITES,
        t.LlamaForCausalLM,
        lambda n: t.LlamaConfig(vocab_size=n, max_position_embeddings=128, num_key_value_heads=1, **BODY),
        sentence_pieces,
        128,
    ),
    Family(
        "t5",
        SPANS,
        t.T5ForConditionalGeneration,
        lambda n: t.T5Config(
            vocab_size=n, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, decoder_start_token_id=0
        ),
        sentence_pieces,
        512,
    ),
    Family(
        "bart",
        SPANS,
        t.BartForConditionalGeneration,
        lambda n: t.BartConfig(
            vocab_size=n,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            max_position_embeddings=128,
        ),
        ROBERTA,
        128,
    ),
]
