"""A model's config.json, read with bounds on what it asks for, since it may be a stranger's."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.errors import ModelRefused
from explorer.models.model_files import LARGEST_CONFIG_BYTES

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

MOST_PARTS = 512  # layers, or experts per layer; GPT-3 has 96 layers
PARTS = (  # in names of fields: of each, networks make as many modules as it says
    "layer",
    "expert",
    "num_blocks",
    "depth",  # of an encoder of pictures or sounds
    "block_sizes",  # Funnel's
    "block_repeats",
    "inner_group",  # ALBERT's
    "hidden_group",
    "feedforward_networks",  # MobileBERT's
    "image_with_embedding",  # GIT's
)
WIDTHS = ("hidden_size", "intermediate_size", "vocab_size")  # fields such as vocab_size_per_layer_input count no parts
NOT_OURS = {  # of classifiers, of other programs, or which code to run: never read, however large or wrong
    "num_labels",
    "id2label",
    "label2id",
    "auto_map",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_internal",
    "experts_implementation",
    "_experts_implementation",
    "_experts_implementation_internal",
}


def read_config(path: Path, name: str) -> dict[str, Any]:
    """What a config.json says.

    Args:
        path: The file.
        name: The model, for the error message.

    Raises:
        ModelRefused: It is damaged, far too large, or asks for more parts than any model has.
    """
    damaged = f"The config.json of {name} is damaged. Choose another model."
    with path.open("rb") as file:
        content = file.read(LARGEST_CONFIG_BYTES + 1)
    if len(content) > LARGEST_CONFIG_BYTES:
        raise ModelRefused(f"The config.json of {name} is far too large. Choose another model.")
    try:
        config = json.loads(content)
        if not isinstance(config, dict):
            raise ModelRefused(damaged)
        if _most_parts(config) > MOST_PARTS:
            raise ModelRefused(f"{name} says it has more than {MOST_PARTS} layers or experts. Choose another model.")
    except (ValueError, RecursionError) as error:
        raise ModelRefused(damaged) from error
    return config


def make_config(given: dict[str, Any], model_type: str) -> PreTrainedConfig:
    """The configuration as transformers has it, without what is not for an explorer of language models.

    Args:
        given: What read_config returned, changed or not.
        model_type: The architecture where the file names none: some repositories predate the field.

    Raises:
        KeyError: transformers knows no such architecture; or whatever else its classes raise at wrong values.
    """
    from transformers import CONFIG_MAPPING  # slow to import, and the page waits for this file

    kind = given.get("model_type", model_type)
    if kind == "mistral" and "layer_types" in given:  # published before the newer name; AutoConfig does the same
        kind = "ministral"
    return CONFIG_MAPPING[kind].from_dict({**_without(NOT_OURS, given), "model_type": kind})


def _most_parts(config: dict[str, Any]) -> int:
    """The largest number of layers or experts in a configuration and those inside it."""
    inside = [_most_parts(value) for value in config.values() if isinstance(value, dict)]
    counts = [
        value
        for field, value in config.items()
        if any(part in field for part in PARTS) and not any(width in field for width in WIDTHS)
    ]
    lists = [[len(value), *value] for value in counts if isinstance(value, list)]
    return max([count for count in (*counts, *chain(*lists)) if isinstance(count, int)] + inside, default=0)


def _without(fields: set[str], config: dict[str, Any]) -> dict[str, Any]:
    return {
        field: _without(fields, value) if isinstance(value, dict) else value
        for field, value in config.items()
        if field not in fields
    }
