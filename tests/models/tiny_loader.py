"""What the tests of backends share: tiny real networks behind a loader that can be watched, held and made to fail."""

import time
import weakref
from dataclasses import replace
from threading import Event, Lock

from transformers import BertConfig, BertForMaskedLM

from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.local import LocalBackend
from explorer.models.memory import measure_weights_bytes
from explorer.models.progress import Progress
from explorer.settings import GIB, Settings

TINY = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
PARAMETERS = BertForMaskedLM(TINY).num_parameters()
BYTES = measure_weights_bytes(BertForMaskedLM(TINY))
CARD = ModelCard(
    name="A",
    source=LocalFolder("nowhere"),
    model_type="bert",
    abilities=frozenset({Ability.FILL_BLANKS}),
    special="",
    licence="",
    paper="",
    paper_url="",
    parameters=PARAMETERS,
)
A, B, C = (replace(CARD, name=name) for name in "ABC")


class Loader:
    """Makes tiny networks, remembers which, and can be held, or made to fail."""

    def __init__(self) -> None:
        self.names = []
        self.networks = []
        self.gate = Event()
        self.gate.set()
        self.failures = []
        self._lock = Lock()

    def __call__(self, card: ModelCard, *, device: str, progress) -> LoadedModel:
        with self._lock:
            self.names.append(card.name)
        progress(Progress(BYTES // 2, BYTES, "downloading"))
        assert self.gate.wait(timeout=30)
        if self.failures:
            raise self.failures.pop(0)
        progress(Progress(0, BYTES, "loading"))
        network = BertForMaskedLM(TINY).eval().to(device)
        self.networks.append(weakref.ref(network))
        return LoadedModel(card, None, network, limit_tokens=64, weights_bytes=measure_weights_bytes(network))

    @property
    def alive(self) -> int:
        """How many of its networks still exist, without any help of the garbage collector."""
        return sum(network() is not None for network in self.networks)


def backend_of(loader, models: float = 2, clock=time.monotonic, cards=(), **limits) -> LocalBackend:
    """A backend on the CPU with room for that many tiny models."""
    limits = {"device": "cpu", "idle_minutes": 0.0, "longest_wait_seconds": 10.0} | limits
    return LocalBackend(
        loader, settings=Settings(memory_budget_gib=models * BYTES / GIB, **limits), clock=clock, cards=cards
    )


def name_of(model: LoadedModel) -> str:
    return model.card.name


def wait_until(condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.002)
