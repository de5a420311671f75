"""The published files of an ELMo: its settings (options.json) and its weights (weights.hdf5), as bilm-tf writes them.

    char_embed                       [261, character_dim]      without the row for "no word", which is zeros
    CNN/W_cnn_K, b_cnn_K             [1, width, character_dim, count], [count]
    CNN_high_K/W_carry, b_carry      [in, out], [out]          and W_transform, b_transform
    CNN_proj/W_proj, b_proj          [filters, projection_dim], [projection_dim]
    RNN_D/RNN/MultiRNNCell/CellL/LSTMCell/
        W_0, B                       [projection_dim + projection_dim, 4 * dim], [4 * dim]
        W_P_0                        [dim, projection_dim]

with direction D = 0 (forward), 1 (backward). The gates stand in TensorFlow's order, input, new, forget, output; torch's
is input, forget, new, output. TensorFlow adds 1 to the forget gate's bias when it runs; here the 1 is in the bias.

Source: https://github.com/allenai/bilm-tf
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.elmo_layers import ACTIVATIONS
from explorer.models.elmo_tokenizer import CHARACTERS
from explorer.settings import GIB, settings

AGAIN = "Delete it and fetch the model again."
MOST_LAYERS = 64  # a guard against options that are not meant: published models have 2


def find_file(folder: Path, ending: str) -> Path | None:
    """The only file of a folder whose name ends so, or None.

    Raises:
        ModelRefused: There are several.
    """
    found = sorted(path for path in folder.glob(f"*{ending}") if path.is_file())
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ModelRefused(f"{folder.name} holds several files *{ending} ({names}); keep one model per folder.")
    return found[0] if found else None


def read_options(path: Path) -> dict[str, Any]:
    """The settings of the network, under the names that ElmoConfig gives them.

    Raises:
        ModelRefused: They are not the settings of a character-based ELMo that this code can build.
    """
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = options["lstm"], options["char_cnn"]
        found = {
            "max_characters": int(cnn["max_characters_per_token"]),
            "character_dim": int(cnn["embedding"]["dim"]),
            "filters": [[int(width), int(count)] for width, count in cnn["filters"]],
            "n_highways": int(cnn.get("n_highway") or 0),
            "activation": str(cnn["activation"]),
            "projection_dim": int(lstm["projection_dim"]),
            "lstm_dim": int(lstm["dim"]),
            "num_hidden_layers": int(lstm.get("n_layers", 1)),
            "cell_clip": float(lstm["cell_clip"]) if lstm.get("cell_clip") else None,
            "projection_clip": float(lstm["proj_clip"]) if lstm.get("proj_clip") else None,
            "use_skip_connections": bool(lstm["use_skip_connections"]),
        }
        # 261 is what a training run writes before its author adds the id 0, as bilm-tf's notes ask
        n_characters = int(cnn["n_characters"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ModelRefused(
            f"{path.name} does not hold the options of a character-based ELMo: {reason}. {AGAIN}"
        ) from error
    widths, counts = [width for width, _ in found["filters"]], [count for _, count in found["filters"]]
    sizes = [*widths, *counts, found["character_dim"], found["projection_dim"], found["num_hidden_layers"]]
    faults = [
        (n_characters not in (CHARACTERS - 1, CHARACTERS), f"an alphabet of {n_characters} instead of {CHARACTERS}"),
        (found["activation"] not in ACTIVATIONS, f"the unknown activation {found['activation']!r}"),
        (not widths, "no filters"),
        (min(sizes) < 1, "a size below 1"),
        (max(found["num_hidden_layers"], found["n_highways"]) > MOST_LAYERS, f"more than {MOST_LAYERS} layers"),
        (found["max_characters"] < max(3, *widths, 0), "words shorter than its filters and marks"),
        (found["projection_dim"] >= found["lstm_dim"], "a projection that is not smaller than the LSTM"),
    ]
    for present, fault in faults:
        if present:
            raise ModelRefused(f"The explorer cannot build the ELMo of {path.name}: it has {fault}.")
    return found


def expected_shapes(options: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Name and shape of every dataset that the weights file of these options holds."""
    character, projection, dim = (options[name] for name in ("character_dim", "projection_dim", "lstm_dim"))
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (CHARACTERS - 1, character)}
    for k, (width, count) in enumerate(options["filters"]):
        shapes |= {f"CNN/W_cnn_{k}": (1, width, character, count), f"CNN/b_cnn_{k}": (count,)}
    filters = sum(count for _, count in options["filters"])
    for k in range(options["n_highways"]):
        for part in ("carry", "transform"):
            shapes |= {f"CNN_high_{k}/W_{part}": (filters, filters), f"CNN_high_{k}/b_{part}": (filters,)}
    if filters != projection:
        shapes |= {"CNN_proj/W_proj": (filters, projection), "CNN_proj/b_proj": (projection,)}
    for cell in _cells(options):
        shapes |= {
            f"{cell}/W_0": (2 * projection, 4 * dim),
            f"{cell}/B": (4 * dim,),
            f"{cell}/W_P_0": (dim, projection),
        }
    return shapes


def read_weights(path: Path, options: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights, under the names that ElmoModel gives them, float32.

    Args:
        path: The file weights.hdf5.
        options: What read_options returned.

    Raises:
        ModelUnavailable: The package h5py is not installed.
        ModelRefused: The file is damaged, does not fit the options, or is larger than the operator allows.
    """
    try:
        import h5py
    except ImportError as error:
        raise ModelUnavailable(
            "ELMo's published weights are an HDF5 file, which needs the package h5py: pip install h5py, then try again "
            "(it is needed only once per model)."
        ) from error
    shapes = expected_shapes(options)
    size_gib = sum(int(np.prod(shape)) for shape in shapes.values()) * 4 / GIB
    if size_gib > settings().largest_model_gib:
        raise ModelRefused(
            f"{path.name} belongs to a model of {size_gib:.1f} GiB; the limit is {settings().largest_model_gib:g} GiB."
        )
    try:
        with h5py.File(path, "r") as file:
            datasets = {}
            # visititems follows no links, so that a file cannot name other files of this machine
            file.visititems(
                lambda name, item: datasets.__setitem__(name, item) if isinstance(item, h5py.Dataset) else None
            )
            for name, shape in shapes.items():
                if name not in datasets:
                    raise ModelRefused(
                        f"{path.name} lacks the weights {name}; are the two files of the same model? {AGAIN}"
                    )
                dataset = datasets[name]
                if dataset.shape != shape or dataset.dtype.kind != "f":
                    raise ModelRefused(
                        f"{name} in {path.name} is {dataset.dtype} {list(dataset.shape or ())}, the options say float "
                        f"{list(shape)}; are the two files of the same model? {AGAIN}"
                    )
                if dataset.is_virtual or dataset.external:
                    raise ModelRefused(f"{name} in {path.name} points to another file, which is not allowed.")
            arrays = {name: np.asarray(datasets[name][...], dtype=np.float32) for name in shapes}
    except (OSError, RuntimeError, KeyError) as error:  # how h5py reports a file that is cut short or overwritten
        raise ModelRefused(f"{path.name} is cut short, or no HDF5 file. {AGAIN}") from error
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in _renamed(arrays, options)}


def _cells(options: Mapping[str, Any]) -> list[str]:
    layers = range(options["num_hidden_layers"])
    return [f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell" for direction in (0, 1) for layer in layers]


def _renamed(arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """The weights as torch wants them: [out, in], gates in torch's order."""
    yield "words.embedding.weight", np.pad(arrays["char_embed"], ((1, 0), (0, 0)))
    for k in range(len(options["filters"])):
        yield f"words.convolutions.{k}.weight", arrays[f"CNN/W_cnn_{k}"][0].transpose(2, 1, 0)
        yield f"words.convolutions.{k}.bias", arrays[f"CNN/b_cnn_{k}"]
    for k in range(options["n_highways"]):
        for part in ("carry", "transform"):
            yield f"words.highways.{k}.{part}.weight", arrays[f"CNN_high_{k}/W_{part}"].T
            yield f"words.highways.{k}.{part}.bias", arrays[f"CNN_high_{k}/b_{part}"]
    if "CNN_proj/W_proj" in arrays:
        yield "words.projection.weight", arrays["CNN_proj/W_proj"].T
        yield "words.projection.bias", arrays["CNN_proj/b_proj"]
    projection, dim = options["projection_dim"], options["lstm_dim"]
    layers = [f"{side}_layers.{k}" for side in ("forward", "backward") for k in range(options["num_hidden_layers"])]
    for layer, cell in zip(layers, _cells(options), strict=True):
        both = gates_for_torch(arrays[f"{cell}/W_0"]).T  # [4 * dim, input and state]
        bias = gates_for_torch(arrays[f"{cell}/B"])
        bias[dim : 2 * dim] += 1.0
        yield f"{layer}.weight_ih_l0", both[:, :projection]
        yield f"{layer}.weight_hh_l0", both[:, projection:]
        yield f"{layer}.bias_ih_l0", bias
        yield f"{layer}.bias_hh_l0", np.zeros_like(bias)
        yield f"{layer}.weight_hr_l0", arrays[f"{cell}/W_P_0"].T


def gates_for_torch(weights: Float[np.ndarray, "*in gates"]) -> Float[np.ndarray, "*in gates"]:
    """Input, new, forget, output to input, forget, new, output, along the last axis."""
    i, new, forget, o = np.split(weights, 4, axis=-1)
    return np.concatenate([i, forget, new, o], axis=-1)
