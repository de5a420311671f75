"""A Ray Serve cluster of this machine, with models that need no files."""

import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import ray
import torch
from ray import cloudpickle, serve
from transformers import BertForMaskedLM

from explorer.errors import ModelUnavailable
from explorer.models.backend import LoadedModel
from explorer.models.card import ModelCard
from explorer.models.memory import measure_weights_bytes
from explorer.models.progress import Progress
from explorer.models.ray_serve import RayServeBackend, deploy
from explorer.settings import GIB, Settings
from tests.models.tiny_loader import BYTES, TINY, A

ROOT = Path(__file__).parents[2]
MOST_SECONDS = 60
MISSING, SLOW = (replace(A, name=name) for name in ("missing", "slow"))


def make_model(card: ModelCard, *, device: str, progress) -> LoadedModel:
    if card.name == "missing":
        raise ModelUnavailable("It cannot be had.")
    deadline = time.monotonic() + MOST_SECONDS
    while card.name == "slow":  # until the report says that nobody waits
        assert time.monotonic() < deadline, "the report did not say that nobody waits"
        progress(Progress(1, 2, "downloading"))
        time.sleep(0.05)
    torch.manual_seed(0)
    network = BertForMaskedLM(TINY).eval().to(device)
    return LoadedModel(card, None, network, limit_tokens=10, weights_bytes=measure_weights_bytes(network))


@contextmanager
def cluster(*modules: str, replicas: int = 1):
    """A backend on a cluster of its own.

    Args:
        modules: Names of the test files whose functions are sent: the replicas cannot import them.
        replicas: How many processes hold models.
    """
    for name in (__name__, *modules):
        cloudpickle.register_pickle_by_value(sys.modules[name])
    ray.init(
        num_cpus=8,  # bookkeeping only
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}},
    )
    limits = Settings(device="cpu", memory_budget_gib=2.5 * BYTES / GIB, longest_wait_seconds=5.0, idle_minutes=0.0)
    deploy("models", replicas=replicas, load=make_model, limits=limits)
    try:
        yield RayServeBackend("models")
    finally:
        serve.shutdown()
        ray.shutdown()
