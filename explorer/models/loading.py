"""From a card to a model in memory: safe formats only, no foreign code, no head that was never trained."""

import dataclasses
import logging
from pathlib import Path
from threading import Lock

import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoModelForSeq2SeqLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils.logging import disable_progress_bar

from explorer.errors import ModelRefused, UnsuitableModel
from explorer.models.backend import LoadedModel
from explorer.models.bundled import build_bundled
from explorer.models.card import Ability, Bundled, HubRepository, ModelCard, PublishedFiles
from explorer.models.config_files import make_config, read_config
from explorer.models.delta import FILE as DELTA
from explorer.models.elmo import ElmoModel, load_elmo
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.models.fast_attention import make_readable
from explorer.models.folders import check_once, discard_published, find_base, find_folder, find_weights
from explorer.models.limits import limit_tokens
from explorer.models.memory import choose_dtype, is_out_of_memory, loaded_bytes, measure_weights_bytes
from explorer.models.model_files import check_small_files
from explorer.models.progress import Progress, Report
from explorer.models.tokenizer_files import check_ids, has_tokenizer, load_tokenizer
from explorer.models.turns import end_with_turns
from explorer.models.unreadable import UNREADABLE

building = Lock()  # transformers changes torch for the whole process, its default dtype too, while it makes a network

KINDS = (  # the first whose abilities a card has decides which heads are loaded
    ({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE}, AutoModelForPreTraining, "masked and next sentence heads"),
    ({Ability.FILL_BLANKS}, AutoModelForMaskedLM, "masked language modelling head"),
    ({Ability.FILL_SPANS}, AutoModelForSeq2SeqLM, "language modelling head"),
    ({Ability.GENERATE}, AutoModelForCausalLM, "language modelling head"),
    ({Ability.DETECT_REPLACED}, AutoModelForPreTraining, "replaced token detection head"),
    ({Ability.PREDICT_BOTH_WAYS}, AutoModelForPreTraining, "softmax"),
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
    check_small_files({file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()}, card.name)
    bundled = isinstance(card.source, Bundled)
    published_elmo = card.model_type == "elmo" and not has_tokenizer(folder)
    if bundled:
        weights = (folder / DELTA,)
        if card.source.delta_sha256:
            check_once(folder / DELTA, card.source.delta_sha256, card.name)
    else:
        weights = () if published_elmo else find_weights(card, folder)
    dtype = choose_dtype(card, device)
    total_bytes = loaded_bytes(weights, dtype) or card.weights_bytes or 0
    progress(Progress(0, total_bytes, "loading"))
    if published_elmo:
        network, tokenizer = _load_published(card, folder)
    else:
        base = find_base(card)
        config = _load_config(card, folder if (folder / "config.json").is_file() else base or folder)
        tokenizer = load_tokenizer(card, folder if has_tokenizer(folder) else base, config)
        if bundled:
            with building:
                network = build_bundled(card.name, folder, base, config, _kind(card)[0]).to(dtype)
        else:
            with building:
                network, missing = _load_network(card, weights, config, dtype)
            _refuse_untrained(card, network, missing)
        check_ids(card, tokenizer, network.get_input_embeddings().weight.shape[0])
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


def _load_published(card: ModelCard, folder: Path) -> tuple[ElmoModel, ElmoTokenizer]:
    """An ELMo; what was downloaded and cannot be read is deleted, for nobody but the operator could do that."""
    try:
        with building:
            return load_elmo(folder)
    except ModelRefused as error:
        if not isinstance(card.source, PublishedFiles):
            raise
        discard_published(card.source)
        raise ModelRefused(
            f"What was downloaded of {card.name} could not be read, and was deleted. Ask again to download it anew; "
            f"if it happens twice, choose another model."
        ) from error


def _load_config(card: ModelCard, folder: Path) -> PreTrainedConfig:
    try:
        given = {**read_config(folder / "config.json", card.name), **dict(card.config_overrides)}
        return make_config(given, card.model_type)
    except UNREADABLE as error:
        raise ModelRefused(f"The config.json of {card.name} cannot be understood. Choose another model.") from error


def _load_network(
    card: ModelCard, weights: tuple[Path, ...], config: PreTrainedConfig, dtype: torch.dtype
) -> tuple[PreTrainedModel, set[str]]:
    """The network, and the names of weights that the files lack."""
    try:
        network, report = _kind(card)[0].from_pretrained(
            weights[0].parent,
            config=config,
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
