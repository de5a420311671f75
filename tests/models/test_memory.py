"""Devices, number formats and sizes."""

import os
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertForMaskedLM

from explorer.models import memory
from explorer.models.card import Ability, HubRepository, LocalFolder, ModelCard
from explorer.models.memory import (
    choose_device,
    choose_dtype,
    count_parameters,
    device_memory_bytes,
    expected_weights_bytes,
    is_out_of_memory,
    loaded_bytes,
    measure_weights_bytes,
    prepare_device,
    release_memory,
)
from explorer.models.status import format_bytes

CARD = ModelCard(
    name="tiny",
    source=HubRepository("nobody/tiny", "0" * 40),
    model_type="bert",
    abilities=frozenset({Ability.FILL_BLANKS}),
    special="",
    licence="",
    paper="",
    paper_url="",
)
TINY = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)


@pytest.fixture
def folder(tmp_path):
    BertForMaskedLM(TINY).save_pretrained(tmp_path)
    return tmp_path


def test_the_cpu_is_always_there():
    assert choose_device("cpu") == "cpu"
    assert choose_device("auto") in {"cpu", "cuda", "mps"}


@pytest.mark.parametrize("wanted", ["tpu", "cuda:99", "cpu:1", "cuda:x", "", "mps:0"])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(wanted):
    with pytest.raises(ValueError, match="EXPLORER_DEVICE=.*choose one of: auto, .*cpu"):
        choose_device(wanted)


@pytest.mark.parametrize(
    ("device", "model_type", "dtype"),
    [
        ("cpu", "bert", torch.float32),
        ("mps", "bert", torch.float32),
        ("cuda", "bert", torch.bfloat16),
        ("cuda:1", "deberta-v2", torch.bfloat16),
        ("cuda", "deberta", torch.float32),
        ("cuda", "xlnet", torch.float32),
    ],
)
def test_bfloat16_only_where_it_works(device, model_type, dtype, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert choose_dtype(replace(CARD, model_type=model_type), device) == dtype


def test_attention_that_is_planned_for_each_length_is_off_on_a_gpu():
    before = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        torch.backends.cuda.enable_cudnn_sdp(True)
        prepare_device("cpu")
        assert torch.backends.cuda.cudnn_sdp_enabled()
        prepare_device("cuda:0")
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


def test_float32_on_a_gpu_that_only_emulates_bfloat16(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: including_emulation)
    assert choose_dtype(CARD, "cuda") == torch.float32


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="only POSIX systems tell their memory this way")
def test_the_memory_of_the_cpu_is_that_of_the_machine_or_less_in_a_container(tmp_path, monkeypatch):
    machine_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    unlimited, limited = tmp_path / "unlimited", tmp_path / "limited"
    unlimited.write_text("max\n")
    limited.write_text("1073741824\n")
    monkeypatch.setattr(memory, "CGROUP_LIMITS", (tmp_path / "absent", unlimited))
    assert device_memory_bytes("cpu") == machine_bytes
    monkeypatch.setattr(memory, "CGROUP_LIMITS", (unlimited, limited))
    assert device_memory_bytes("cpu") == 2**30


def test_tied_weights_are_measured_once():
    network = BertForMaskedLM(TINY)
    numbers = sum(parameter.numel() for parameter in network.parameters())  # tied ones once
    buffers_bytes = sum(buffer.nbytes for buffer in network.buffers())
    assert measure_weights_bytes(network) == 4 * numbers + buffers_bytes
    assert measure_weights_bytes(network.to(torch.bfloat16)) == 2 * numbers + buffers_bytes


def test_parameters_are_counted_from_headers_alone(folder):
    network = BertForMaskedLM(TINY)
    assert count_parameters(folder.glob("*.safetensors")) == network.num_parameters()
    save_file({"more": torch.zeros(3, 5)}, folder / "model-2.safetensors")
    assert count_parameters(folder.glob("*.safetensors")) == network.num_parameters() + 15


def test_weights_take_in_memory_what_their_number_format_there_takes(tmp_path):
    """Files of 8 bits would count a quarter of what they take in float32."""
    eight, pickled = tmp_path / "model.safetensors", tmp_path / "pytorch_model.bin"
    save_file({"weight": torch.zeros(10, 30).to(torch.float8_e4m3fn)}, eight)
    (tmp_path / "model.safetensors.index.json").write_text("{}")
    pickled.write_bytes(bytes(1000))
    assert loaded_bytes([tmp_path / "model.safetensors.index.json", eight], torch.float32) == 1200
    assert loaded_bytes([eight], torch.bfloat16) == 600
    assert loaded_bytes([pickled], torch.float32) == 1000 and loaded_bytes([pickled], torch.bfloat16) == 500
    assert loaded_bytes([], torch.float32) == 0


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff" * 64, b"\x02\0\0\0\0\0\0\0{]", b"\x02\0\0\0\0\0\0\0[]"],
    ids=["empty", "cut", "no json", "list"],
)
def test_a_damaged_file_has_no_known_size(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    assert count_parameters(tmp_path.glob("*.safetensors")) is None


def test_what_is_expected_comes_from_the_best_known_fact(folder, monkeypatch):
    assert expected_weights_bytes(CARD, "cpu") is None
    assert expected_weights_bytes(replace(CARD, weights_bytes=300), "cpu") == 300
    assert expected_weights_bytes(replace(CARD, weights_bytes=300, parameters=100), "cpu") == 400
    local = replace(CARD, source=LocalFolder(str(folder)), weights_bytes=300)
    assert expected_weights_bytes(local, "cpu") == 4 * BertForMaskedLM(TINY).num_parameters()
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert expected_weights_bytes(replace(CARD, parameters=100), "cuda") == 200
    assert expected_weights_bytes(replace(CARD, parameters=100, model_type="xlnet"), "cuda") == 400


def test_every_way_of_running_out_of_memory_is_known():
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"))
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**55)
    assert is_out_of_memory(caught.value)
    assert not is_out_of_memory(RuntimeError("The size of tensor a (3) must match the size of tensor b (4)"))
    assert not is_out_of_memory(ValueError("not enough memory"))


def test_freed_weights_go_back_to_the_system():
    if memory._malloc_trim() is None:
        pytest.skip("only glibc keeps what was freed, and can be told to give it back")
    statm = "/proc/self/statm"

    def resident_bytes() -> int:
        with open(statm) as opened:
            return int(opened.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    blocks = [torch.zeros(10_000) for _ in range(5_000)]  # 200 MB in blocks that malloc takes from its heap
    last = torch.zeros(10_000)  # keeps the top of the heap from shrinking by itself
    full_bytes = resident_bytes()
    del blocks
    release_memory("cpu")
    assert full_bytes - resident_bytes() > 150e6
    assert len(last) == 10_000


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 KiB"), (90 * 2**20, "90 MiB"), (int(1.26 * 2**30), "1.3 GiB"), (10 * 2**10, "10 KiB")]
)
def test_sizes_are_readable(count, text):
    assert format_bytes(count) == text
