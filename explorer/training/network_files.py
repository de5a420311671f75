"""A network and its tokenizer on disk, in the format of save_pretrained."""

import json
from pathlib import Path

from transformers import EncoderDecoderModel, PreTrainedModel, PreTrainedTokenizerBase


def save_network(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write both.

    Args:
        network: With its own heads.
        tokenizer: The published ELMo's needs no file.
        folder: Is made; raises what transformers raises where it cannot be written.
    """
    weights = network.state_dict()
    if isinstance(network, EncoderDecoderModel):  # save_pretrained takes shared layers for a mistake
        weights = {name: weight.clone() for name, weight in weights.items()}
    network.save_pretrained(folder, state_dict=weights)
    if hasattr(tokenizer, "save_pretrained"):
        tokenizer.save_pretrained(folder)


def save_tokenizer(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write a tokenizer without the white space between its entries, which is half of the file.

    Args:
        tokenizer: A fast one.
        folder: Is made; raises what transformers raises where it cannot be written.
    """
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(entries, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
