"""What a model makes of rows, and in which number format it computes."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache

import torch
from torch import Tensor

from explorer.models.memory import BREAKS_IN_BFLOAT16
from explorer.training.tuning.batches import judging_batches, row_lengths
from explorer.training.tuning.task import Row, Task, Verdict

FULL_PRECISION = BREAKS_IN_BFLOAT16 | {"elmo"}  # an LSTM gains nothing by it


def compute_fast(device: torch.device, model_type: str) -> AbstractContextManager:
    """Let matrices be multiplied in bfloat16 inside, where the device has units for it; weights stay float32.

    Args:
        device: Of the network.
        model_type: As transformers names it.
    """
    is_fast = device.type == "cuda" or (device.type == "cpu" and _has_bfloat16_units())
    return torch.autocast(device.type, torch.bfloat16, enabled=is_fast and model_type not in FULL_PRECISION)


def judge_rows(task: Task, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
    """What the model makes of rows, in their order, without dropout.

    Args:
        task: Its network and head are left in eval mode.
        rows: Of the task.
        kept: What task.features said of each; None = ask the network.
    """
    task.network.eval()
    task.head.eval()
    verdicts: list[Verdict | None] = [None] * len(rows)
    device = next(task.network.parameters()).device
    for batch in judging_batches(row_lengths(rows)):
        of_batch = None if kept is None else [kept[index] for index in batch]
        with torch.no_grad(), compute_fast(device, task.network.config.model_type):
            found = task.judge([rows[index] for index in batch], of_batch)
        for index, verdict in zip(batch, found, strict=True):
            verdicts[index] = verdict
    return verdicts


@cache
def _has_bfloat16_units() -> bool:
    """Whether this processor multiplies bfloat16 by itself; where it must pretend, float32 is faster."""
    from torch import cpu

    asked = [getattr(cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")]
    return any(ask() for ask in asked if ask)
