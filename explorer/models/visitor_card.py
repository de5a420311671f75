"""A card for a model that a visitor names: an id of the Hub, or a folder beneath the one the operator opened."""

import os
from pathlib import Path

from explorer.errors import ModelRefused, ModelUnavailable, UnsuitableModel
from explorer.models.card import Ability, HubRepository, LocalFolder, ModelCard
from explorer.models.config_files import make_config, read_config
from explorer.models.hub import HubListing, check_id, check_size, fetch_small, list_files
from explorer.models.hub_errors import explained, is_gated_message, is_no_id_message
from explorer.models.model_files import TOKENIZER_FILES, check_small_files, choose_weights
from explorer.models.named_room import claim
from explorer.models.unreadable import UNREADABLE
from explorer.settings import settings

MOST_TOKENS = 2**20  # XLM-V knows 901,629
MOST_BYTES_PER_TOKEN = 256  # of tokenizer.json, merges included; GPT-2's takes 70, Llama 3's 133
SPARE_TOKENIZER_BYTES = 2**21  # tables of characters
SPARE_NUMBERS = 2**25  # poolers and tables of masks that files leave out; a weight takes a byte or more
HEADS = (  # endings of class names, as config.json lists them, and what such a checkpoint can do
    ("ForMaskedLM", frozenset({Ability.FILL_BLANKS})),
    ("ForCausalLM", frozenset({Ability.GENERATE})),
    ("LMHeadModel", frozenset({Ability.GENERATE})),
)
DENOISERS = {"t5", "mt5", "umt5", "longt5", "bart", "mbart"}  # other encoder-decoders translate or summarize
PRETRAINING_HEADS = {  # XForPreTraining means another head in every family
    "bert": frozenset({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE}),
    "electra": frozenset({Ability.DETECT_REPLACED}),
    "albert": frozenset({Ability.FILL_BLANKS}),
}


def visitor_card(given: str, *, is_named: bool = False) -> ModelCard:
    """A card for what a visitor, or the operator, typed, made from the model's config.json and sizes alone.

    Args:
        given: A Hub id ("organisation/name"), or the path of a folder beneath settings().local_models.
        is_named: Whether a visitor typed it, so that its files need room among those of visitors.

    Returns:
        A card pinned to the present commit; its name is the id, or the folder's path below local_models.

    Raises:
        ModelRefused: Not allowed here, unsafe name or format, too large, or it needs code of its own.
        ModelUnavailable: Offline, missing, gated, the Hub does not answer, or there is no room now.
        UnsuitableModel: Its architecture is not one of language models that transformers knows.
    """
    given = given.strip()
    if not given:
        raise ModelRefused("Type the name of a Hub model, for example google-bert/bert-base-uncased.")
    if folder := _find_local(given):
        return _local_card(folder)
    if not settings().hub_models:
        raise ModelRefused(
            "Naming models of the Hub is switched off here (EXPLORER_HUB_MODELS=0). Choose one from the list."
        )
    check_id(given)
    if Path(given).exists():  # many programs would take it for the path, so nobody can mean the Hub's
        raise ModelRefused(is_no_id_message(given))
    return _hub_card(list_files(given, "main"), is_named=is_named)


def _find_local(given: str) -> Path | None:
    """The folder that was meant, if it is one beneath the folder that the operator opened."""
    if not settings().local_models or "\0" in given:
        return None
    root = Path(settings().local_models).resolve()
    folder = (root / given).resolve()  # an absolute path stays itself; links and .. are followed before the comparison
    return folder if folder != root and folder.is_relative_to(root) and os.path.isdir(folder) else None


def _local_card(folder: Path) -> ModelCard:
    name = folder.relative_to(Path(settings().local_models).resolve()).as_posix()
    files = {file.name: file for file in folder.iterdir() if file.is_file()}
    if outside := [file for file in files.values() if not file.resolve().is_relative_to(folder)]:
        raise ModelRefused(f"{outside[0].name} of {name} is a link to somewhere else. Copy the file itself there.")
    weights = _check_files(set(files), name)
    sizes_bytes = {file: path.stat().st_size for file, path in files.items()}
    check_small_files(sizes_bytes, name)
    weights_bytes = sum(sizes_bytes[file] for file in weights)
    check_size(weights_bytes, name)
    config = read_config(files["config.json"], name)
    return _make_card(
        name,
        LocalFolder(path=str(folder)),
        config,
        sizes_bytes,
        weights_bytes=weights_bytes,
        parameters=None,
        licence="unknown",
    )


def _hub_card(listing: HubListing, *, is_named: bool) -> ModelCard:
    id, names = listing.id, listing.names()
    weights = _check_files(names, id)
    sizes_bytes = listing.sizes_bytes()
    check_small_files(sizes_bytes, id)
    weights_bytes = sum(sizes_bytes[file] for file in weights)
    check_size(weights_bytes, id)
    if listing.is_gated and not settings().hub_token:
        raise ModelUnavailable(is_gated_message(id))
    source = HubRepository(id=id, revision=listing.commit, is_named=is_named)
    config = next(file for file in listing.files if file.name == "config.json")
    if is_named:
        claim(source, config.size_bytes, id)
    with explained(id):
        path = fetch_small(id, listing.commit, config)
    return _make_card(
        id,
        source,
        read_config(path, id),
        sizes_bytes,
        weights_bytes=weights_bytes,
        parameters=listing.parameters,
        licence=listing.licence or "unknown",
    )


def _check_files(names: set[str], name: str) -> tuple[str, ...]:
    """The weights among a model's files, or a message about what is missing or unsafe."""
    weights = choose_weights(names, "safetensors", name)
    if "config.json" not in names or not set(TOKENIZER_FILES) & names:
        raise ModelRefused(f"{name} has no config.json or no tokenizer. Choose a model made for transformers.")
    if "adapter_config.json" in names:
        raise ModelRefused(f"{name} is an adapter to another model. Choose the model it was merged into.")
    return weights


def _make_card(
    name: str,
    source: HubRepository | LocalFolder,
    config: dict,
    sizes_bytes: dict[str, int],
    *,
    weights_bytes: int,
    parameters: int | None,
    licence: str,
) -> ModelCard:
    model_type = config.get("model_type")
    if not _is_language_model(model_type):
        if "auto_map" in config:
            raise ModelRefused(f"{name} needs code of its own, which is never run here. Choose another model.")
        raise UnsuitableModel(f"{name} is of a kind ({str(model_type)[:40]!r}) not known here. Choose another model.")
    if "quantization_config" in config:
        raise UnsuitableModel(f"{name} is a quantized copy. Choose the model it was made from.")
    tokens = _check_architecture(name, config, weights_bytes)
    _check_tokenizer_size(name, sizes_bytes, tokens)
    return ModelCard(
        name=name,
        source=source,
        model_type=model_type,
        abilities=_find_abilities(config, set(sizes_bytes)),
        special="Named by a visitor; nothing is known of it but what its own files say.",
        licence=licence,
        paper="unknown",
        paper_url=f"https://huggingface.co/{name}" if isinstance(source, HubRepository) else "",
        parameters=parameters,
        weights_bytes=weights_bytes,
        languages=(),
        unconfirmed=("parameters",) if parameters is None else (),
    )


def _is_language_model(model_type: object) -> bool:
    """Whether transformers knows this architecture, and as one of text."""
    from transformers.models.auto import modeling_auto as auto  # slow to import, and the page waits for this file

    return isinstance(model_type, str) and any(
        model_type in names
        for names in (
            auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
            auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
            auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        )
    )


def _check_architecture(name: str, config: dict, weights_bytes: int) -> int:
    """Refuse a configuration that asks for far more memory than the size of its weights lets expect.

    What a file lacks, transformers makes up: a file of a kilobyte could fill the memory of this machine.

    Returns:
        How many tokens its table of embeddings has room for.
    """
    import torch
    from transformers import AutoModel

    from explorer.models.loading import building

    try:
        known = make_config(config, config["model_type"])
        with building, torch.device("meta"):  # shapes without memory
            network = AutoModel.from_config(known, dtype=torch.float32)  # its own would be that of every analysis
        tokens = network.get_input_embeddings().weight.shape[0]
    except UNREADABLE as error:
        raise ModelRefused(f"The config.json of {name} cannot be understood. Choose another model.") from error
    numbers = sum(tensor.numel() for tensor in (*network.parameters(), *network.buffers()))
    if numbers > weights_bytes + SPARE_NUMBERS:
        raise ModelRefused(f"{name} describes a far larger network than its weights fill. Choose another model.")
    return tokens


def _check_tokenizer_size(name: str, sizes_bytes: dict[str, int], tokens: int) -> None:
    """Refuse a tokenizer that is far too large for the network: it would be read as a whole to find that out."""
    if tokens > MOST_TOKENS:
        raise ModelRefused(f"{name} knows more than {MOST_TOKENS:,} tokens. Choose another model.")
    most_bytes = SPARE_TOKENIZER_BYTES + tokens * MOST_BYTES_PER_TOKEN
    if max(sizes_bytes.get(file, 0) for file in TOKENIZER_FILES) > most_bytes:
        raise ModelRefused(f"The tokenizer of {name} is far larger than its network needs. Choose another model.")


def _find_abilities(config: dict, files: set[str]) -> frozenset[Ability]:
    """What a checkpoint can do, from the class it was saved from; loading checks that the head is really there."""
    abilities = {Ability.EMBED}
    listed = config.get("architectures")
    for architecture in map(str, listed if isinstance(listed, list) else ()):
        if architecture.endswith("ForPreTraining"):
            abilities |= PRETRAINING_HEADS.get(config["model_type"], frozenset())
        if architecture.endswith("ForConditionalGeneration") and config["model_type"] in DENOISERS:
            abilities.add(Ability.FILL_SPANS)
        for ending, heads in HEADS:
            if architecture.endswith(ending):
                abilities |= heads
    if "modules.json" in files:  # written by the sentence-transformers library
        abilities.add(Ability.EMBED_SENTENCES)
    return frozenset(abilities)
