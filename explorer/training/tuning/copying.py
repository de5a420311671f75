"""A copy of a loaded model that training may change; the loaded one, which others use, stays as it is."""

import copy

import torch
from torch import nn
from transformers import EncoderDecoderModel, PreTrainedModel

from explorer.models.backend import LoadedModel
from explorer.models.fast_attention import make_readable
from explorer.models.warm_start import share_layers
from explorer.training.tuning.task import Start


def copy_model(model: LoadedModel, *, from_nothing: bool, seed: int) -> Start:
    """The network, in float32 on the same device, and the tokenizer.

    Args:
        model: Stays as it is.
        from_nothing: Whether the copy has new weights: the same architecture that nobody has trained.
        seed: Of the new weights.
    """
    with model.tokenizer_lock:
        tokenizer = copy.deepcopy(model.tokenizer)
    network = fresh_network(model.network, seed) if from_nothing else copy.deepcopy(model.network)
    network = network.float().to(model.network.device)
    for weight in network.parameters():
        weight.requires_grad_(True)
    return Start(model.card.name, network, tokenizer, model.limit_tokens)


def fresh_network(network: PreTrainedModel, seed: int) -> PreTrainedModel:
    """The same architecture with new weights, the same for the same seed.

    Args:
        network: Stays as it is.
        seed: Of the weights.
    """
    config = copy.deepcopy(network.config)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        fresh = type(network)(config)
    if isinstance(fresh, EncoderDecoderModel):
        share_layers(fresh)
    make_readable(fresh)
    return fresh.to(network.device)


def untie_layers(network: PreTrainedModel) -> None:
    """Give every layer weights of its own, where an encoder and a decoder share them; tables of words stay shared.

    Args:
        network: Changed in place. Its low-rank additions could not be merged into a matrix that two layers share.
    """
    tables = (network.get_input_embeddings(), network.get_output_embeddings())
    kept = {id(weight) for table in tables if table for weight in table.parameters()}
    seen: set[int] = set()
    for module in network.modules():
        for name, weight in list(module.named_parameters(recurse=False)):
            if id(weight) in seen and id(weight) not in kept:
                setattr(module, name, nn.Parameter(weight.detach().clone(), requires_grad=weight.requires_grad))
            seen.add(id(weight))
