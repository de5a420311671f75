"""Networks that begin with the weights of a published encoder: the same layers, put to another use.

Source: Rothe et al. 2020, https://arxiv.org/abs/1907.12461
"""

from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    EncoderDecoderModel,
    PreTrainedConfig,
    PreTrainedModel,
)


def build_on_encoder(config: PreTrainedConfig, weights: Mapping[str, Tensor], *, seed: int = 0) -> PreTrainedModel:
    """A network whose layers hold a BERT encoder's weights; what the encoder lacks is new.

    Args:
        config: BERT with a masked head, a BERT decoder, or an encoder-decoder of two BERTs, which share their layers.
        weights: Of a BertModel, by its own names.
        seed: Of the new weights.

    Returns:
        The network, in float32, on the CPU.
    """
    kind = AutoModelForMaskedLM
    if config.is_encoder_decoder:
        kind = AutoModelForSeq2SeqLM
    elif config.is_decoder:
        kind = AutoModelForCausalLM
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    network = kind.from_config(config)
    torch.set_rng_state(state)
    if isinstance(network, EncoderDecoderModel):
        share_layers(network)
    network.load_state_dict(starting_weights(network, weights), strict=False)
    network.tie_weights()
    return network


def starting_weights(network: PreTrainedModel, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What a network of build_on_encoder has from the encoder, by the network's names.

    Args:
        network: Of build_on_encoder.
        weights: Of a BertModel, by its own names.
    """
    prefix = "encoder." if isinstance(network, EncoderDecoderModel) else "bert."
    return {f"{prefix}{name}": value for name, value in weights.items()}


def share_layers(network: EncoderDecoderModel) -> None:
    """Let the decoder of two BERTs use the encoder's own embeddings and layers; only its attention to it is apart."""
    own = dict(network.encoder.named_modules())
    for name, module in network.decoder.bert.named_modules():
        twin = own.get(name)
        if twin is not None:
            for part, _ in list(module.named_parameters(recurse=False)):
                setattr(module, part, getattr(twin, part))
    network.decoder.tie_weights()
