"""Models that this project trained, put together from what it ships of them."""

from pathlib import Path

from safetensors.torch import load_file
from transformers import AutoModel, PreTrainedConfig, PreTrainedModel

import explorer.models.elmo_language_model  # noqa: F401  tells transformers that ELMo has a softmax
from explorer.errors import ModelRefused
from explorer.models.delta import apply_delta
from explorer.models.warm_start import build_on_encoder, starting_weights


def build_bundled(
    name: str, folder: Path, base: Path | None, config: PreTrainedConfig, kind: type = AutoModel
) -> PreTrainedModel:
    """A network of bundled weights, in float32, on the CPU.

    Args:
        name: Of the model, for the error message.
        folder: Holds delta.safetensors.
        base: Folder of the published encoder that the delta is added to; None for a model trained from nothing.
        config: Of the network.
        kind: Auto class of the network where there is no base.

    Raises:
        ModelRefused: The weights are damaged, or some are missing.
    """
    if base is None:
        network, known = kind.from_config(config), set()
    else:
        weights = load_file(base / "model.safetensors")
        network = build_on_encoder(config, weights)
        known = set(starting_weights(network, weights))
    lacking = {name for name, _ in network.named_parameters()} - known - apply_delta(network, folder)
    if any("pooler." not in name for name in lacking):
        raise ModelRefused(f"The bundled weights of {name} are not whole; get a fresh copy of the project.")
    return network
