"""The longest input a network takes, which every family writes down in another place."""

from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

TRAINED_TOKENS = 512  # what families without a limit of their own (T5, XLNet, ELMo) were pre-trained with
UNSET_TOKENS = 10**6  # tokenizers write 10^30 for "nobody said"


def limit_tokens(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> int:
    """Longest input of a model, special tokens included.

    Args:
        network: Any family; what its tables of positions hold is never exceeded.
        tokenizer: May say less than the network can, as sentence encoders do.
    """
    config = network.config.get_text_config()
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 0
    limits = [positions - _unused_positions(network)] if positions > 0 else []  # XLNet says -1
    if 0 < tokenizer.model_max_length < UNSET_TOKENS:
        limits.append(tokenizer.model_max_length)
    return min(limits, default=TRAINED_TOKENS)


def _unused_positions(network: PreTrainedModel) -> int:
    """Rows of the position table that no token gets: RoBERTa's kin count from padding_idx + 1, so 514 rows hold 512."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return 0 if module.padding_idx is None else module.padding_idx + 1
    return 0
