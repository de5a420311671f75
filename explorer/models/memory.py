"""Devices: which one, in what number format, how much memory it has, and giving memory back."""

import ctypes
import gc
import json
import os
import sys
from collections.abc import Iterable
from functools import cache
from math import prod
from pathlib import Path

import torch
from torch import nn

from explorer.models.card import LocalFolder, ModelCard

BREAKS_IN_BFLOAT16 = {"deberta", "xlnet"}  # a RuntimeError about mixed dtypes, seen with transformers 5.23
CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # v2, v1
LARGEST_HEADER_BYTES = 2**25  # of a safetensors file: about 250,000 tensors
CPU_SAYS = ("not enough memory", "can't allocate memory", "MPS backend out of memory")


def choose_device(wanted: str) -> str:
    """The device that models run on.

    Args:
        wanted: "auto" (CUDA, else MPS, else CPU), "cpu", "cuda", "cuda:<index>" or "mps".

    Raises:
        ValueError: This machine has no such device.
    """
    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    present = [*(["cuda", *cuda] if cuda else []), *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]
    if wanted == "auto":
        return present[0]
    if wanted not in present:
        raise ValueError(f"EXPLORER_DEVICE={wanted!r} is not here; choose one of: auto, {', '.join(present)}.")
    return wanted


def prepare_device(device: str) -> None:
    """Set what PyTorch does on a device to what suits texts of all lengths, asked by many threads.

    cuDNN's attention is planned anew for each length in each thread, at some 40 ms each time (an H100, torch 2.11): the
    first text that a visitor's thread writes came at 20 tokens/s instead of 300. The other kernels need no plan.

    Args:
        device: As choose_device returns it.
    """
    if device.startswith("cuda"):
        torch.backends.cuda.enable_cudnn_sdp(False)


def choose_dtype(card: ModelCard, device: str) -> torch.dtype:
    """The number format a model runs in: bfloat16 where the device computes in it and the family bears it.

    Args:
        card: The model.
        device: As choose_device returns it.
    """
    if not device.startswith("cuda") or card.model_type in BREAKS_IN_BFLOAT16:
        return torch.float32
    return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float32


def device_memory_bytes(device: str) -> int:
    """How much memory a device has, in bytes; for the CPU what the machine or the container has, whichever is less.

    Args:
        device: As choose_device returns it.
    """
    if device.startswith("cuda"):
        return torch.cuda.get_device_properties(torch.device(device)).total_memory
    if device.startswith("mps"):
        return torch.mps.recommended_max_memory()
    limits = [int(text) for path in CGROUP_LIMITS if path.exists() and (text := path.read_text().strip()).isdecimal()]
    return min([_physical_memory_bytes(), *limits])


def _physical_memory_bytes() -> int:
    if sys.platform != "win32":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    kibibytes = ctypes.c_ulonglong()
    ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kibibytes))
    return kibibytes.value * 2**10


def expected_weights_bytes(card: ModelCard, device: str) -> int | None:
    """Memory the weights will take once loaded, as far as it is known before that; None = unknown.

    Args:
        card: The model; a local folder without a parameter count is looked up in its safetensors headers.
        device: As choose_device returns it; it decides the bytes per parameter.
    """
    parameters = card.parameters
    if parameters is None and isinstance(card.source, LocalFolder):
        parameters = count_parameters(Path(card.source.path).glob("*.safetensors"))
    if parameters is not None:
        return parameters * choose_dtype(card, device).itemsize
    return card.weights_bytes


def loaded_bytes(files: Iterable[Path], dtype: torch.dtype) -> int:
    """Memory that weights will take in a number format, which is not that of their files: some have 8 bits, others 32.

    Args:
        files: Of the weights, and their index if there is one.
        dtype: What they are loaded as.
    """
    files = [file for file in files if file.suffix != ".json"]
    if parameters := count_parameters(file for file in files if file.suffix == ".safetensors"):
        return parameters * dtype.itemsize
    return sum(file.stat().st_size for file in files) * dtype.itemsize // torch.float32.itemsize


def count_parameters(files: Iterable[Path]) -> int | None:
    """Number of weights in safetensors files, read from their headers alone; None = unknown.

    Args:
        files: All in this format.

    Source: the format, https://huggingface.co/docs/safetensors (8 bytes of header length, then JSON)
    """
    try:
        return sum(map(_parameters_of_file, files)) or None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # not what it claims to be: loading it says so to the visitor


def _parameters_of_file(file: Path) -> int:
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        if length > min(file.stat().st_size, LARGEST_HEADER_BYTES):
            raise ValueError(f"{file} is cut off, or no such file")
        header = json.loads(opened.read(length))
    return sum(prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


def measure_weights_bytes(network: nn.Module) -> int:
    """Memory that parameters and buffers really take, in bytes; tied weights count once.

    Args:
        network: On its device.
    """
    storages = [tensor.untyped_storage() for tensor in (*network.parameters(), *network.buffers())]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that a device, or the machine, ran out of memory.

    Args:
        error: CUDA has its own class; the CPU and MPS allocators raise a RuntimeError that only its text tells apart.
    """
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in CPU_SAYS)


def release_memory(device: str, *, collect_garbage: bool = True) -> None:
    """Give memory that nothing refers to any more back to the device and the operating system.

    Args:
        device: As choose_device returns it.
        collect_garbage: Look for reference cycles first, as errors leave them. With transformers imported that stops
            every thread for most of a second, and a network that is let go usually needs none of it.
    """
    if collect_garbage:
        gc.collect()
    if device.startswith("cuda"):
        with torch.cuda.device(torch.device(device)):
            torch.cuda.empty_cache()
    elif device.startswith("mps"):
        torch.mps.empty_cache()
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> object | None:
    """The C library's malloc_trim: without it glibc keeps freed weights, and resident memory only ever grows."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
