"""`explorer pretrain causal` against the Hugging Face Trainer: the same network, rows, batch and number format.

Also the share of the machine's own matrix rate that training reaches.

    python benchmarks/pretraining_speed.py [--steps 6] [--rounds 3] [--batch-tokens 4096] [--json]
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

import torch
from measuring import describe_machine, print_table, ratio_of, take_turns
from transformers import PreTrainedModel, PreTrainedTokenizerBase, Trainer, TrainingArguments
from transformers.trainer_callback import PrinterCallback
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from explorer.models.memory import choose_device
from explorer.settings import settings
from explorer.training.causal import CausalObjective
from explorer.training.corpus import TokenizedText
from explorer.training.minis import dress_tokenizer, new_network, train_tokenizer
from explorer.training.pretraining import Plan, pretrain
from explorer.training.starting import start_network
from explorer.training.windows import WindowSampler

LENGTH_TOKENS = 128
MATRIX_SIZE = 2048


def starts() -> Iterator[tuple[str, tuple[PreTrainedModel, PreTrainedTokenizerBase]]]:
    """What `explorer pretrain causal` starts from: published weights, and nothing."""
    with TemporaryDirectory() as cache:
        start = start_network("causal", "MiniLM", cache=Path(cache))
        yield "MiniLM", (start.network, start.tokenizer)
    random = Random(0)
    words = ("".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(200_000))
    tokenizer = dress_tokenizer(train_tokenizer(words), "causal")
    yield "nothing", (new_network("causal", tokenizer), tokenizer)


def make_text(vocab_size: int, tokens: int) -> TokenizedText:
    """Random ids: speed does not depend on what they say."""
    ids = torch.randint(1000, vocab_size, (tokens,), generator=torch.Generator().manual_seed(0)).numpy()
    return TokenizedText(ids, torch.tensor([tokens]).numpy(), torch.ones(tokens, dtype=torch.bool).numpy())


def train_ours(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: TokenizedText, options: argparse.Namespace
) -> float:
    """Tokens per second of explorer.training, from the second step on."""
    task = CausalObjective(network, tokenizer)
    sampler = WindowSampler([text], [1.0], before=task.edges[0], after=task.edges[1])
    moments: list[float] = []
    plan = Plan(
        tokens=options.batch_tokens * options.steps,
        batch_tokens=options.batch_tokens,
        lengths_tokens=(LENGTH_TOKENS,),
    )
    with TemporaryDirectory() as folder:
        pretrain(task, sampler, plan, Path(folder), lambda step: moments.append(time.perf_counter()))
    return options.batch_tokens * (len(moments) - 1) / (moments[-1] - moments[0])


def train_theirs(network: PreTrainedModel, text: TokenizedText, device: str, options: argparse.Namespace) -> float:
    """Tokens per second of Trainer, from the second step on."""
    rows = options.batch_tokens // LENGTH_TOKENS
    ids = torch.from_numpy(text.ids[: rows * options.steps * LENGTH_TOKENS]).long().view(-1, LENGTH_TOKENS)
    moments: list[float] = []
    with TemporaryDirectory() as folder:
        trainer = Trainer(
            network,
            TrainingArguments(
                folder,
                per_device_train_batch_size=rows,
                max_steps=options.steps,
                learning_rate=6e-4,
                bf16=True,
                use_cpu=device == "cpu",
                optim="adamw_torch_fused",
                save_strategy="no",
                logging_strategy="no",
                report_to=[],
                disable_tqdm=True,
            ),
            train_dataset=[{"input_ids": row, "labels": row} for row in ids],
        )
        trainer.remove_callback(PrinterCallback)
        done = trainer.training_step

        def timed(*arguments: object, **named: object) -> torch.Tensor:
            moments.append(time.perf_counter())
            return done(*arguments, **named)

        trainer.training_step = timed
        trainer.train()
    return options.batch_tokens * (len(moments) - 1) / (moments[-1] - moments[0])


def matrix_rate(device: str) -> float:
    """Floating point operations per second of a large bfloat16 product."""
    left, right = (torch.randn(MATRIX_SIZE, MATRIX_SIZE, device=device, dtype=torch.bfloat16) for _ in range(2))
    seconds = []
    for _ in range(8):
        start = time.perf_counter()
        (left @ right)[0, 0].item()
        seconds.append(time.perf_counter() - start)
    return 2 * MATRIX_SIZE**3 / median(seconds)


def operations_per_token(network: PreTrainedModel) -> float:
    """Floating point operations of a training step, per token: products with weights, and attention.

    Two per weight forward; two backward for the inputs, and two for the weight itself if it is trained.

    Source: Kaplan et al. 2020, section 2.1, https://arxiv.org/abs/2001.08361
    """
    config = network.config
    table = network.get_output_embeddings().weight
    tables = {id(table), id(network.get_input_embeddings().weight)}
    layers = sum(w.numel() for w in network.parameters() if w.ndim == 2 and id(w) not in tables and w.requires_grad)
    attention = 6 * 2 * LENGTH_TOKENS * config.hidden_size * config.num_hidden_layers
    return 6 * layers + (6 if table.requires_grad else 4) * table.numel() + attention


def compare(
    name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, options: argparse.Namespace
) -> tuple[str, ...]:
    """One line of the table."""
    text = make_text(len(tokenizer), 2 * options.batch_tokens * options.steps)
    device = network.device.type
    ours: list[float] = []
    theirs: list[float] = []
    take_turns(
        {
            "ours": lambda turn: ours.append(train_ours(network, tokenizer, text, options)),
            "Trainer": lambda turn: theirs.append(train_theirs(network, text, device, options)),
        },
        options.rounds,
        warm_up=0,
    )
    ratio = ratio_of([1 / rate for rate in theirs], [1 / rate for rate in ours])
    share = median(ours) * operations_per_token(network) / matrix_rate(device)
    return name, f"{median(ours):,.0f}", f"{median(theirs):,.0f}", str(ratio), f"{share:.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    disable_progress_bar()
    set_verbosity_error()
    device = choose_device(settings().device)
    results = [compare(name, network.to(device), tokenizer, options) for name, (network, tokenizer) in starts()]
    machine = describe_machine() | {"device": device}
    columns = ("start", "ours (tokens/s)", "Trainer (tokens/s)", "times as fast", "share of the matrix rate")
    if options.json:
        print(json.dumps(machine | {"results": [dict(zip(columns, row, strict=True)) for row in results]}, indent=2))
        return
    print("\n".join(f"{key}: {value}" for key, value in machine.items()))
    print_table("Causal language modelling, bfloat16, rows of 128 tokens", columns, results)


if __name__ == "__main__":
    main()
