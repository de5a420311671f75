"""How much of a network moves: which weights are trained, how fast, and from what."""

from dataclasses import dataclass

from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from transformers.pytorch_utils import Conv1D

from explorer.errors import UnsuitableModel
from explorer.training.tuning.copying import untie_layers
from explorer.training.tuning.mixing import LayerMix
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe
from explorer.training.tuning.task import Task

WEIGHT_DECAY = 0.01  # of matrices, as BERT's; tables, norms and biases have none
MIX_FACTOR = 10.0  # a mix has a handful of weights and must go far in few steps
LORA_DROPOUT = 0.05
OWN_HEADS = {"cls", "lm_head", "pooler", "generator_predictions", "discriminator_predictions"}  # of networks


@dataclass(frozen=True)
class Method:
    """What suits a method.

    Attributes:
        moves_network: Whether any weight of the network is trained; if not, what it says is computed once.
        least_epochs: Over features that were computed once an epoch costs next to nothing.
        least_steps: A handful of examples is seen more often than the recipe says, or nothing would be learnt.

    Source: Mosbach et al. 2021 (small sets need more steps, not other rates), https://arxiv.org/abs/2006.04884
    """

    moves_network: bool
    least_epochs: float = 0.0
    least_steps: int = 1


WAYS = {  # as METHODS lists them
    "frozen": Method(False, least_epochs=10.0, least_steps=300),
    "layers": Method(False, least_epochs=10.0, least_steps=300),
    "lora": Method(True, least_steps=60),
    "full": Method(True, least_steps=60),
    "scratch": Method(True, least_steps=60),
}


def find_way(recipe: Recipe) -> Method:
    """What suits a recipe's method.

    Raises:
        UnsuitableModel: There is no such method.
    """
    if recipe.method not in WAYS:
        raise UnsuitableModel(f"There is no method {recipe.method!r}; choose one of: {', '.join(METHODS)}.")
    return WAYS[recipe.method]


def arrange(task: Task, recipe: Recipe, name: str) -> PeftModel | None:
    """Decide which weights move.

    Args:
        task: Its network is changed in place.
        recipe: Says how.
        name: Of the model, for messages.

    Returns:
        The adapter over the network, with the method "lora".

    Raises:
        UnsuitableModel: The task or the network cannot be had in this way.
    """
    way = find_way(recipe)
    if not way.moves_network:
        if not task.keeps_features:
            raise UnsuitableModel(
                f'"{METHODS[recipe.method]}" cannot do "{TASKS[recipe.task]}" with {name}, where the network itself '
                f'must learn: choose "{METHODS["lora"]}" or "{METHODS["full"]}".'
            )
        task.network.requires_grad_(False)
    if recipe.method == "lora":
        return _add_adapter(task, recipe, name)
    return None


def parameter_groups(task: Task, recipe: Recipe) -> list[dict]:
    """What moves, in the form of torch.optim: matrices of layers, the rest of the network, the head, a mix."""
    rate = recipe.peak
    tables = {id(module.weight) for module in task.network.modules() if isinstance(module, nn.Embedding)}
    network = [weight for weight in task.network.parameters() if weight.requires_grad]
    matrices = [weight for weight in network if weight.ndim > 1 and id(weight) not in tables]
    others = [weight for weight in network if weight.ndim < 2 or id(weight) in tables]
    mixes = {id(one) for mix in task.head.modules() if isinstance(mix, LayerMix) for one in mix.parameters()}
    heads = list(task.head.parameters())
    groups = [
        {"params": matrices, "lr": rate, "weight_decay": WEIGHT_DECAY},
        {"params": others, "lr": rate, "weight_decay": 0.0},
        {"params": [one for one in heads if id(one) not in mixes], "lr": rate, "weight_decay": 0.0},
        {"params": [one for one in heads if id(one) in mixes], "lr": rate * MIX_FACTOR, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


def trained_weights(task: Task) -> dict[str, nn.Parameter]:
    """What moves, by name."""
    named = [(f"network.{name}", weight) for name, weight in task.network.named_parameters()]
    named += [(f"head.{name}", weight) for name, weight in task.head.named_parameters()]
    return {name: weight for name, weight in named if weight.requires_grad}


def _add_adapter(task: Task, recipe: Recipe, name: str) -> PeftModel:
    """Low-rank matrices beside every matrix of the layers; the rest rests.

    Source: Hu et al. 2022, https://arxiv.org/abs/2106.09685
    """
    untie_layers(task.network)
    output = task.network.get_output_embeddings()
    targets = [
        path
        for path, module in task.network.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and module is not output and not OWN_HEADS & set(path.split("."))
    ]
    if not targets:
        raise UnsuitableModel(
            f"{name} has no matrices that LoRA could add to (its layers are LSTMs): choose "
            f'"{METHODS["full"]}" or "{METHODS["frozen"]}".'
        )
    of_gpt2 = any(isinstance(module, Conv1D) for module in task.network.modules())
    config = LoraConfig(
        r=recipe.lora_rank,
        lora_alpha=2 * recipe.lora_rank,
        lora_dropout=LORA_DROPOUT,
        target_modules=targets,
        fan_in_fan_out=of_gpt2,
    )
    return get_peft_model(task.network, config)
