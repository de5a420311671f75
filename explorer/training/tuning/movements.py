"""How far each layer went from where it started: fine-tuning by gradient descent stays close.

Source: Dodge et al. 2020, https://arxiv.org/abs/2002.06305; Radiya-Dixit and Wang 2020,
https://arxiv.org/abs/2004.14129 (fine-tuned weights are close to the pre-trained ones)
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from explorer.training.tuning.results import Movement

LAYER = re.compile(r"(?:^|\.)(?:layers?|h|block|forward_layers|backward_layers)\.(\d+)\.")


@torch.no_grad()
def measure_movements(
    started: nn.Module, network: nn.Module, head_started: Mapping[str, Tensor], head: nn.Module
) -> tuple[Movement, ...]:
    """Of every part, from the input embeddings up; the head last.

    Args:
        started: The network as it was; the same classes as network.
        network: As it is now.
        head_started: Weights of the task's head as they were.
        head: As it is now.
    """
    before = dict(started.named_parameters())
    parts: dict[str, list[tuple[Tensor, Tensor]]] = defaultdict(list)
    for name, weight in network.named_parameters():
        if name in before:
            parts[_part_of(name)].append((before[name], weight))
    if any(True for _ in head.parameters()):
        parts["head"] = [(head_started[name], weight) for name, weight in head.named_parameters()]
    return tuple(_movement(part, parts[part]) for part in sorted(parts, key=_place))


def _part_of(name: str) -> str:
    if found := LAYER.search(name):
        side = "decoder " if name.startswith("decoder.") else ""
        return f"{side}layer {int(found[1]) + 1}"
    if any(word in name for word in ("ln_f.", "final_layer_norm.")):
        return "final norm"
    of_embeddings = any(word in name for word in ("embed", "wte", "wpe", "words.", "shared."))
    return "embeddings" if of_embeddings else "the network's own head"


def _place(part: str) -> tuple[int, int]:
    kinds = ("embeddings", "layer", "decoder layer", "final norm", "the network's own head", "head")
    kind = part.rstrip("0123456789 ") if part[-1].isdigit() else part
    return kinds.index(kind), int(re.sub(r"\D", "", part) or 0)


def _movement(part: str, pairs: Iterable[tuple[Tensor, Tensor]]) -> Movement:
    pairs = list(pairs)
    moved = sum(float((after.float() - before.float()).square().sum()) for before, after in pairs)
    norm = sum(float(before.float().square().sum()) for before, _ in pairs)
    return Movement(part, (moved / max(norm, 1e-12)) ** 0.5, sum(after.numel() for _, after in pairs))
