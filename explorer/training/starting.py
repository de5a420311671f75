"""Where pre-training starts from: published weights, or a folder of an earlier run."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from explorer.errors import ModelRefused, UnknownModel
from explorer.models.catalogue import CATALOGUE
from explorer.models.folders import find_base

STARTS = {"MiniLM": "MiniLM (masked)"}  # name on the command line -> card whose base it is
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def published_weights(start: str) -> tuple[Path, dict[str, Tensor]]:
    """The folder and the weights that a start was published with, by the names of a masked model.

    Raises:
        UnknownModel: There is no such start.
        ModelUnavailable: The package that holds the weights is not installed.
        ModelRefused: The weights are not the published ones.
    """
    if start not in STARTS:
        raise UnknownModel(f"There is no start {start!r}; choose one of: {', '.join(STARTS)}, or a model folder.")
    folder = find_base(next(card for card in CATALOGUE if card.name == STARTS[start]))
    return folder, {f"bert.{name}": value for name, value in load_file(folder / "model.safetensors").items()}


def start_masked(start: str, *, seed: int = 0) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A masked model to train: published layers with a new head, or a saved folder.

    Args:
        start: A key of STARTS, or a folder in the format of save_pretrained.
        seed: Of the new head's weights.

    Returns:
        The network without dropout (no text is seen twice, so there is nothing to regularise), and its tokenizer.

    Raises:
        UnknownModel: There is no such start.
        ModelUnavailable: The package that holds the weights is not installed.
        ModelRefused: The weights are not the published ones, or the folder cannot be read.
    """
    torch.manual_seed(seed)
    if start not in STARTS and Path(start).is_dir():
        try:
            if (kind := AutoConfig.from_pretrained(start).model_type) != "bert":
                raise ValueError(f"a {kind}, whose weights BERT would not find")
            return BertForMaskedLM.from_pretrained(start, **NO_DROPOUT), AutoTokenizer.from_pretrained(start)
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise ModelRefused(
                f"{start} does not hold a whole BERT that save_pretrained wrote. Choose another folder, or one of: "
                f"{', '.join(STARTS)}."
            ) from error
    folder, weights = published_weights(start)
    network = BertForMaskedLM(BertConfig.from_pretrained(folder, **NO_DROPOUT))
    network.load_state_dict(weights, strict=False)
    network.tie_weights()
    return network, AutoTokenizer.from_pretrained(folder)
