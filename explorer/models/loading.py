"""From a card to a model in memory: safe formats only, no foreign code, no head that was never trained."""

import dataclasses
import json
import logging
import pickle
from pathlib import Path
from threading import Lock

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    CONFIG_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import disable_progress_bar

from explorer.errors import ModelRefused, UnsuitableModel
from explorer.models.backend import LoadedModel
from explorer.models.bundled import build_bundled
from explorer.models.card import Ability, Bundled, HubRepository, ModelCard
from explorer.models.delta import FILE as DELTA
from explorer.models.elmo import load_elmo
from explorer.models.fast_attention import make_readable
from explorer.models.folders import check_once, find_base, find_folder, find_weights
from explorer.models.limits import limit_tokens
from explorer.models.memory import choose_dtype, is_out_of_memory, measure_weights_bytes
from explorer.models.model_files import TOKENIZER_FILES
from explorer.models.progress import Progress, Report
from explorer.models.turns import end_with_turns

building = Lock()  # transformers changes torch for the whole process, its default dtype too, while it makes a network

KINDS = (  # the first whose abilities a card has decides which heads are loaded
    ({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE}, AutoModelForPreTraining, "masked and next sentence heads"),
    ({Ability.FILL_BLANKS}, AutoModelForMaskedLM, "masked language modelling head"),
    ({Ability.FILL_SPANS}, AutoModelForSeq2SeqLM, "language modelling head"),
    ({Ability.GENERATE}, AutoModelForCausalLM, "language modelling head"),
    ({Ability.DETECT_REPLACED}, AutoModelForPreTraining, "replaced token detection head"),
    ({Ability.PREDICT_BOTH_WAYS}, AutoModelForPreTraining, "softmax"),
)
UNREADABLE = (  # what the libraries raise at files that are damaged, or that somebody made up
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    ImportError,
    RuntimeError,
    SafetensorError,
    pickle.UnpicklingError,
    StrictDataclassError,
)


disable_progress_bar()
# Its report of missing weights is read below. A higher level, rather than a filter, would make it report even more.
logging.getLogger("transformers.modeling_utils").addFilter(lambda record: record.levelno >= logging.ERROR)


def load_model(card: ModelCard, *, device: str, progress: Report) -> LoadedModel:
    """Bring a model into memory, downloading it first if it is not on this machine.

    Args:
        card: What is wanted.
        device: As memory.choose_device returns it.
        progress: Told how far the download and the load have come.

    Returns:
        The model in eval mode on the device; its card holds what the catalogue could not confirm.

    Raises:
        ModelUnavailable: It cannot be had now.
        ModelRefused: Its files are unsafe, too large, damaged, or not what the card says.
        UnsuitableModel: Its checkpoint lacks a head that the card promises.
    """
    folder = find_folder(card, progress)
    bundled = isinstance(card.source, Bundled)
    published_elmo = card.model_type == "elmo" and not _has_tokenizer(folder)
    if bundled:
        weights = (folder / DELTA,)
        if card.source.delta_sha256:
            check_once(folder / DELTA, card.source.delta_sha256, card.name)
    else:
        weights = () if published_elmo else find_weights(card, folder)
    total_bytes = sum(file.stat().st_size for file in weights) or card.weights_bytes or 0
    progress(Progress(0, total_bytes, "loading"))
    if published_elmo:
        with building:
            network, tokenizer = load_elmo(folder)
    else:
        base = find_base(card)
        tokenizer = _load_tokenizer(card, folder if _has_tokenizer(folder) else base)
        dtype = choose_dtype(card, device)
        if bundled:
            config = _load_config(card, folder if (folder / "config.json").is_file() else base)
            with building:
                network = build_bundled(card.name, folder, base, config, _kind(card)[0]).to(dtype)
        else:
            with building:
                network, missing = _load_network(card, weights, dtype)
            _refuse_untrained(card, network, missing)
        _check_vocabulary(card, network, tokenizer)
    network = network.to(device).eval()
    make_readable(network)
    end_with_turns(network)
    progress(Progress(total_bytes, total_bytes, "loading"))
    return LoadedModel(
        card=_confirm(card, network, folder, weights),
        tokenizer=tokenizer,
        network=network,
        limit_tokens=limit_tokens(network, tokenizer),
        weights_bytes=measure_weights_bytes(network),
    )


def _load_tokenizer(card: ModelCard, folder: Path | None) -> PreTrainedTokenizerBase:
    if folder is None or not _has_tokenizer(folder):  # transformers would make one with an empty vocabulary
        raise ModelRefused(f"{card.name} has no tokenizer. Choose a model that comes with one.")
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, config=_load_config(card, folder), trust_remote_code=False, **dict(card.tokenizer_overrides)
        )
    except UNREADABLE as error:
        raise ModelRefused(
            f"The tokenizer of {card.name} cannot be read: it is damaged, or needs code of its own. "
            f"Choose another model."
        ) from error
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:  # some files say "cut at 128 tokens"; what is too long must be refused, not cut
        backend.no_truncation()
        backend.no_padding()
    if Ability.FILL_BLANKS in card.abilities and tokenizer.mask_token is None:
        raise UnsuitableModel(f"{card.name} has no mask token, so it cannot fill blanks. Choose another model.")
    return tokenizer


def _load_config(card: ModelCard, folder: Path) -> PreTrainedConfig:
    given = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if "model_type" not in given:  # some repositories predate the field
        return CONFIG_MAPPING[card.model_type].from_dict({**given, **dict(card.config_overrides)})
    return AutoConfig.from_pretrained(folder, trust_remote_code=False, **dict(card.config_overrides))


def _load_network(card: ModelCard, weights: tuple[Path, ...], dtype: torch.dtype) -> tuple[PreTrainedModel, set[str]]:
    """The network, and the names of weights that the files lack."""
    folder = weights[0].parent
    try:
        network, report = _kind(card)[0].from_pretrained(
            folder,
            config=_load_config(card, folder),
            dtype=dtype,  # else a half-precision checkpoint would run so on a CPU
            trust_remote_code=False,
            use_safetensors=".safetensors" in weights[0].name,
            weights_only=True,
            local_files_only=True,
            output_loading_info=True,
        )
    except UNREADABLE as error:
        if is_out_of_memory(error):
            raise
        raise ModelRefused(
            f"{card.name} cannot be loaded: its files are damaged, or of a kind this explorer does not know. "
            f"Choose another model."
        ) from error
    return network, set(report["missing_keys"])


def _kind(card: ModelCard) -> tuple[type, str]:
    return next(((kind, head) for abilities, kind, head in KINDS if abilities <= card.abilities), (AutoModel, ""))


def _refuse_untrained(card: ModelCard, network: PreTrainedModel, missing: set[str]) -> None:
    """A weight that the file lacks was made at random: harmless in an unused pooler, nonsense anywhere else."""
    is_pooled = Ability.NEXT_SENTENCE in card.abilities
    parameters = {name for name, _ in network.named_parameters(remove_duplicate=False)}  # missing buffers are constants
    untrained = {name for name in missing if name in parameters and (is_pooled or "pooler." not in name)}
    if not untrained:
        return
    head, body = _kind(card)[1], f"{network.base_model_prefix}."
    if head and not any(name.startswith(body) for name in untrained):
        raise UnsuitableModel(
            f"The checkpoint of {card.name} has no trained {head}, so its answers would be random. "
            f"Choose a model that was trained with one."
        )
    raise ModelRefused(f"The checkpoint of {card.name} lacks some of the network's weights. Choose another model.")


def _check_vocabulary(card: ModelCard, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """An id beyond the embeddings ends the CUDA context of the whole process, so it is found here."""
    known = network.get_input_embeddings().weight.shape[0]
    if len(tokenizer) > known:
        raise ModelRefused(
            f"{card.name} does not fit its tokenizer, which has {len(tokenizer):,} tokens where the network knows "
            f"{known:,}. Choose another model."
        )


def _confirm(card: ModelCard, network: PreTrainedModel, folder: Path, weights: tuple[Path, ...]) -> ModelCard:
    """The card with those of its unconfirmed facts that the files have settled."""
    found: dict[str, object] = {"parameters": sum(weight.numel() for weight in network.parameters())}
    if weights:
        found["weights_bytes"] = sum(file.stat().st_size for file in weights if file.suffix != ".json")
        found["weights_format"] = weights[-1].suffix.removeprefix(".")
    if isinstance(card.source, HubRepository):
        found["revision"] = folder.name  # the cache names a snapshot after its commit
    settled = {name: value for name, value in found.items() if name in card.unconfirmed}
    if not settled:
        return card
    left = tuple(name for name in card.unconfirmed if name not in settled)
    if "revision" in settled:
        settled["source"] = dataclasses.replace(card.source, revision=settled.pop("revision"))
    return dataclasses.replace(card, unconfirmed=left, **settled)


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / name).is_file() for name in TOKENIZER_FILES)
