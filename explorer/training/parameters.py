"""Which weights are trained, and how fast."""

from transformers import PreTrainedModel


def parameter_groups(
    network: PreTrainedModel, learning_rate: float, head_learning_rate: float, *, weight_decay: float = 0.01
) -> list[dict]:
    """Matrices of the layers with weight decay; norms, biases, embeddings and the head without.

    Args:
        network: Its weights that require gradients are trained.
        learning_rate: Of the matrices of the layers.
        head_learning_rate: Of all the rest.
        weight_decay: Of the matrices of the layers.

    Returns:
        Groups in the form of torch.optim.
    """
    tables = {id(table.weight) for table in (network.get_input_embeddings(), network.get_output_embeddings()) if table}
    body = {id(weight) for weight in network.base_model.parameters()}
    matrices, rest = [], []
    for name, weight in network.named_parameters():
        if weight.requires_grad:
            of_layers = weight.ndim == 2 and id(weight) in body - tables and "embeddings" not in name
            (matrices if of_layers else rest).append(weight)
    return [
        {"params": matrices, "lr": learning_rate, "weight_decay": weight_decay},
        {"params": rest, "lr": head_learning_rate, "weight_decay": 0.0},
    ]


def freeze_embeddings(network: PreTrainedModel) -> None:
    """Leave the tables of words and positions as they are: what training adds to a published model stays small."""
    for name, module in network.named_modules():
        if name.endswith(("word_embeddings", "position_embeddings")):
            module.weight.requires_grad_(False)
