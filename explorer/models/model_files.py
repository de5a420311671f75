"""Which files of a model are needed, and which formats of weights are safe."""

import re
from collections.abc import Iterable, Mapping

from explorer.errors import ModelRefused

TOKENIZER_FILES = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
)
SMALL_FILES = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "modules.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    *TOKENIZER_FILES,
)
LARGEST_CONFIG_BYTES = 2**20
LARGEST_TOKENIZER_BYTES = 2**26  # Gemma 3's, of 262,144 tokens, takes half of that
LARGEST_INDEX_BYTES = 2**25  # names of tensors, and the shards they are in
LARGEST_SMALL_BYTES = 2**22  # Gemma 3's tokenizer_config.json takes 1.2 MB
STEMS = {"safetensors": "model", "bin": "pytorch_model"}


def weights_names(names: Iterable[str], weights_format: str) -> tuple[str, ...]:
    """The files among names that hold the weights: one file, or an index and its shards; empty = there are none.

    Args:
        names: Names of files; those inside folders are not considered.
        weights_format: "safetensors" or "bin".
    """
    stem, names = STEMS[weights_format], set(names)
    if (single := f"{stem}.{weights_format}") in names:
        return (single,)
    if (index := f"{stem}.{weights_format}.index.json") in names:
        shard = re.compile(rf"{stem}-\d{{5}}-of-\d{{5}}\.{weights_format}")
        return (index, *sorted(name for name in names if shard.fullmatch(name)))
    return ()


def are_all_shards(names: tuple[str, ...]) -> bool:
    """Whether nothing is missing among files of weights.

    Args:
        names: As weights_names returns them.
    """
    if len(names) < 2:  # a single file; an index alone is nothing
        return bool(names) and not names[0].endswith(".index.json")
    shards = int(names[1].rpartition("-of-")[2].partition(".")[0])
    return len(names) == 1 + shards


def choose_weights(names: Iterable[str], weights_format: str, name: str) -> tuple[str, ...]:
    """The weights to load: safetensors wherever there are any, pickled ones only for a card that says so.

    Args:
        names: Names of files.
        weights_format: What the card allows: "safetensors", or "bin" for either.
        name: The model, for the error message.

    Raises:
        ModelRefused: There are no weights in a safe format.
    """
    names = tuple(names)
    safe, pickled = (weights_names(names, kind) for kind in ("safetensors", "bin"))
    if are_all_shards(safe):
        return safe
    if are_all_shards(pickled) and weights_format == "bin":
        return pickled
    if pickled:
        why = "has its weights only in the pickle format (.bin), which can carry harmful code"
    else:
        why = "lacks some of its weights" if safe else "has no weights"
    raise ModelRefused(f"{name} {why}. Choose a model with a model.safetensors file.")


def check_small_files(sizes_bytes: Mapping[str, int], name: str) -> None:
    """Refuse files beside the weights that are far larger than any model's: all of them are read at once.

    Args:
        sizes_bytes: Of the files to read, weights included, by name.
        name: The model, for the error message.

    Raises:
        ModelRefused: One is too large.
    """
    for file, size_bytes in sizes_bytes.items():
        if size_bytes > _largest_bytes(file):
            raise ModelRefused(f"The {file} of {name} is far too large. Choose another model.")


def _largest_bytes(file: str) -> float:
    if file == "config.json":
        return LARGEST_CONFIG_BYTES
    if file in TOKENIZER_FILES:
        return LARGEST_TOKENIZER_BYTES
    if file in SMALL_FILES:
        return LARGEST_SMALL_BYTES
    return LARGEST_INDEX_BYTES if file.endswith(".index.json") else float("inf")
