"""Resident memory while a backend with room for two models of 90 MB switches 200 times among six.

    python benchmarks/registry_memory.py [--switches 200]

The models are made from a configuration and written to a temporary folder, so nothing is downloaded; each switch loads
one from there as any local folder, fills eight blanks, and lets another go. The bar: after the first round over the
six, resident memory stays flat within 5 %.
"""

import argparse
import random
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.models.local import LocalBackend
from explorer.settings import GIB, Settings

MIB = 2**20
MODELS = 6
MINILM = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)


def make_folder(folder: Path) -> None:
    """Write a network of MiniLM's size, whose weights do not matter here, and a tokenizer that fits it."""
    BertForMaskedLM(MINILM).save_pretrained(folder)
    words = {"[PAD]": 0, "[UNK]": 1, "[MASK]": 2} | {f"word{id}": id for id in range(3, MINILM.vocab_size)}
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token="[UNK]")),
        unk_token="[UNK]",
        mask_token="[MASK]",
        pad_token="[PAD]",
    ).save_pretrained(folder)


def fill(model: LoadedModel, seed: int) -> float:
    """Eight rows of different lengths, and one number as the result."""
    draw = random.Random(seed)
    rows = [Row(tuple(draw.choices(range(1000, 30_000), k=draw.randint(5, 60))), (2,)) for _ in range(8)]
    return sum(logits.max().item() for logits in masked_logits(model, rows))


def resident_bytes() -> int:
    """Memory of this process that is really in RAM (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def main() -> int:
    """Print resident memory every round, and whether the bar is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--switches", type=int, default=200, help="how often another model is asked for")
    switches = parser.parse_args().switches
    with TemporaryDirectory() as folder:
        make_folder(Path(folder))
        return measure(Path(folder), switches)


def measure(folder: Path, switches: int) -> int:
    """Switch, print, and return the exit status."""
    cards = [
        ModelCard(f"model {n}", LocalFolder(str(folder)), "bert", frozenset({Ability.FILL_BLANKS}), "", "", "", "")
        for n in range(MODELS)
    ]
    backend = LocalBackend(settings=Settings(device="cpu", memory_budget_gib=210 * MIB / GIB))  # room for two
    before_bytes, start = resident_bytes(), time.perf_counter()
    seen = []
    for switch in range(switches):
        backend.run(cards[switch % MODELS], partial(fill, seed=switch))
        if switch % MODELS == MODELS - 1:
            seen.append(resident_bytes())
            print(f"switch {switch + 1:4}: {seen[-1] / MIB:7.1f} MiB resident, {len(backend.status())} models")
    flat = seen[1:]
    change = max(flat) / flat[0] - 1
    weights_bytes = backend.budget().used_bytes // 2
    print(f"before the first model {before_bytes / MIB:.1f} MiB; weights of one model {weights_bytes / MIB:.1f} MiB")
    print(f"from {flat[0] / MIB:.1f} to at most {max(flat) / MIB:.1f} MiB: {change:+.1%} (bar: 5 %)")
    print(f"{(time.perf_counter() - start) / switches * 1000:.0f} ms per switch")
    return 0 if change <= 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
