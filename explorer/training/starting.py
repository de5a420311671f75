"""Where pre-training starts from: published weights, a bundled model, nothing, or a folder of an earlier run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer, processors
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    EncoderDecoderConfig,
    EncoderDecoderModel,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from explorer.analysis.corruption.sentinels import SENTINELS, find_sentinels
from explorer.errors import ModelRefused, UnknownModel, UnsuitableModel
from explorer.models.card import Bundled, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.folders import find_base
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from explorer.models.warm_start import build_on_encoder, share_layers, starting_weights
from explorer.training.minis import AUTO_CLASSES, dress_tokenizer, new_network
from explorer.training.parameters import freeze_embeddings
from explorer.training.vocabulary import find_vocabulary

NOTHING = "nothing"
STARTS = {"MiniLM": "MiniLM (masked)"}  # name on the command line -> card whose base it is
WARM_OBJECTIVES = ("masked", "causal", "span")  # what a published encoder can be put to
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
SENTINEL_NOISE = 1.0  # of the standard deviation of the table; with half of it the encoder takes them all for one
CAUSAL_MARKS = "[CLS] $A"  # a text to go on with has no end

KINDS = {  # objective -> what the class of a network that it can train is called, in part
    "masked": "ForMaskedLM",
    "masked+nsp": "ForPreTraining",
    "causal": "LMHead",
    "span": "",
    "bilm": "ElmoForPreTraining",
    "replaced": "ElectraForPreTraining",
}


@dataclass(frozen=True, eq=False)
class Start:
    """What is trained.

    Attributes:
        network: Without dropout: no text is seen twice, so there is nothing to regularise.
        tokenizer: Of the network.
        base: Published weights that what training adds can be told from, by the network's names; empty = none.
        is_attention_new: Whether a decoder has yet to learn where in the encoder's row to look.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    base: dict[str, Tensor]
    is_attention_new: bool = False


def start_network(objective: str, start: str, *, seed: int = 0, corpus: Sequence[Path] = (), cache: Path) -> Start:
    """A network to train for an objective.

    Args:
        objective: A key of KINDS.
        start: A key of STARTS, a bundled model's name, NOTHING, or a folder in the format of save_pretrained.
        seed: Of new weights.
        corpus: Files that a vocabulary is made from, where there is nothing to start from.
        cache: Folder where that vocabulary is kept, for all objectives that start from nothing.

    Raises:
        UnknownModel: There is no such start.
        UnsuitableModel: The start has nothing to begin this objective with.
        ModelUnavailable: The package that holds the published weights is not installed.
        ModelRefused: The weights are not the published ones, or the folder cannot be read.
        UnsuitableCorpus: The files hold too little text for a vocabulary.
    """
    torch.manual_seed(seed)
    if start == NOTHING:
        tokenizer = dress_tokenizer(find_vocabulary(corpus, cache), objective)
        return Start(new_network(objective, tokenizer), tokenizer, {})
    if start in STARTS:
        if objective not in WARM_OBJECTIVES:
            raise UnsuitableModel(
                f"{start} cannot begin {objective!r}; it can: {', '.join(WARM_OBJECTIVES)}. Use --start {NOTHING}."
            )
        return _start_warm(objective, next(card for card in CATALOGUE if card.name == STARTS[start]), seed)
    if Path(start).is_dir():
        return _start_folder(objective, Path(start))
    bundled = {card.name: card for card in CATALOGUE if isinstance(card.source, Bundled)}
    if start in bundled:
        return _start_bundled(objective, bundled[start], seed)
    names = ", ".join((*STARTS, NOTHING, *bundled))
    raise UnknownModel(f"There is no start {start!r}; choose one of: {names}, or a model folder.")


def _start_warm(objective: str, card: ModelCard, seed: int, taught: BertForMaskedLM | None = None) -> Start:
    """The published layers of a card put to an objective, or those of a model that was taught to fill blanks."""
    folder = find_base(card)
    weights = load_file(folder / "model.safetensors")
    tokenizer = _tokenizer_for(objective, AutoTokenizer.from_pretrained(folder))
    config = _config_for(objective, BertConfig.from_pretrained(folder, **NO_DROPOUT), tokenizer)
    network = build_on_encoder(config, weights, seed=seed)
    base = starting_weights(network, weights)
    if taught:
        network.load_state_dict(starting_weights(network, taught.bert.state_dict()), strict=False)
        getattr(network, "decoder", network).cls.load_state_dict(taught.cls.state_dict())
    if objective == "span":
        _renew_sentinels(network, tokenizer, seed)
    freeze_embeddings(network)
    return Start(network, tokenizer, base, is_attention_new=objective == "span")


def _start_bundled(objective: str, card: ModelCard, seed: int) -> Start:
    """Go on with what this project ships; what training adds is still told from the published weights."""
    model = load_model(card, device="cpu", progress=ignore)
    network = model.network
    if isinstance(network, BertForMaskedLM) and objective in WARM_OBJECTIVES[1:] and find_base(card):
        return _start_warm(objective, card, seed, network)
    _check_class(objective, network, card.name)
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    base = {}
    if folder := find_base(card):
        base = starting_weights(network, load_file(folder / "model.safetensors"))
        freeze_embeddings(network)
    return Start(network, model.tokenizer, base)


def _check_class(objective: str, network: PreTrainedModel, name: str) -> None:
    if KINDS[objective] not in type(network).__name__:
        raise UnsuitableModel(f"{name} is a {type(network).__name__}, which {objective!r} cannot train.")


def _tokenizer_for(objective: str, tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """BERT's tokenizer, with what an objective needs of it: no mark behind a text, or sentinels."""
    if objective == "masked":
        return tokenizer
    described = tokenizer.backend_tokenizer.to_str()
    if objective == "span":
        for number in range(SENTINELS):  # entries that BERT was never trained on
            described = described.replace(f'"[unused{number + 1}]"', f'"<extra_id_{number}>"')
    backend = Tokenizer.from_str(described)
    backend.no_truncation()
    backend.no_padding()
    extra = {}
    if objective == "causal":
        backend.post_processor = processors.TemplateProcessing(  # BERT's template, less its end
            single=CAUSAL_MARKS, special_tokens=[("[CLS]", tokenizer.cls_token_id)]
        )
    else:
        extra = {"additional_special_tokens": [f"<extra_id_{number}>" for number in range(SENTINELS)]}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=tokenizer.model_max_length,
        **tokenizer.special_tokens_map,
        bos_token=tokenizer.cls_token,
        eos_token=tokenizer.sep_token,
        **extra,
    )


def _config_for(objective: str, bert: BertConfig, tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    marks = {"eos_token_id": tokenizer.sep_token_id, "pad_token_id": tokenizer.pad_token_id}
    if objective == "masked":
        return bert
    decoder = BertConfig.from_dict(
        {**bert.to_dict(), "is_decoder": True, "bos_token_id": tokenizer.cls_token_id, **marks}
    )
    if objective == "causal":
        return decoder
    decoder.add_cross_attention = True
    config = EncoderDecoderConfig.from_encoder_decoder_configs(bert, decoder, **marks)
    config.decoder_start_token_id = tokenizer.cls_token_id
    return config


@torch.no_grad()
def _renew_sentinels(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, seed: int) -> None:
    """The mask's vector, which says that something is missing, and noise: the unused entries' own are all the same."""
    table = network.get_input_embeddings().weight
    ids = find_sentinels(tokenizer)
    noise = torch.randn(len(ids), table.shape[1], generator=torch.Generator().manual_seed(seed))
    table[ids] = table[tokenizer.mask_token_id] + SENTINEL_NOISE * table.std() * noise


def _start_folder(objective: str, folder: Path) -> Start:
    kind = AUTO_CLASSES[objective]
    try:
        config = AutoConfig.from_pretrained(folder)
        network, report = kind.from_pretrained(folder, output_loading_info=True, **_no_dropout(config))
        if lacking := [name for name in report["missing_keys"] if "pooler." not in name]:
            raise ValueError(f"lacks {lacking[0]}")
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelRefused(
            f"{folder} does not hold a whole model for {objective!r} that save_pretrained wrote ({str(error)[:100]}). "
            f"Choose another folder, or one of: {', '.join(STARTS)}, {NOTHING}."
        ) from error
    _check_class(objective, network, str(folder))
    if isinstance(network, EncoderDecoderModel):
        share_layers(network)
    return Start(network, tokenizer, {})


def _no_dropout(config: PreTrainedConfig) -> dict[str, float]:
    names = (*NO_DROPOUT, "resid_pdrop", "embd_pdrop", "attn_pdrop", "dropout_rate")
    return {name: 0.0 for name in names if hasattr(config, name)}
