"""A network and its tokenizer on disk, in the format of save_pretrained."""

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
