"""What all the scripts share: the examples, the network, what of it moves, batches and steps."""

import argparse
import csv
import math
import sys
from pathlib import Path

import torch
from torch import nn
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer

RECIPE: dict = {}
HERE = Path(__file__).parent
RATES = {"frozen": 1e-3, "layers": 1e-3, "lora": 1e-3, "full": 1e-4, "scratch": 1e-4}  # where the recipe has none
LEAST_EPOCHS = {"frozen": 10, "layers": 10}
LEAST_STEPS = {"frozen": 300, "layers": 300, "lora": 60, "full": 60, "scratch": 60}
WEIGHT_DECAY, WARM_UP_SHARE, SORTED_BATCHES, MIX_FACTOR = 0.01, 0.1, 50, 10.0
OWN_HEADS = {"cls", "lm_head", "pooler", "generator_predictions", "discriminator_predictions"}  # LoRA lets them be


class Task(nn.Module):
    """A network and what a task adds to it. A row of the examples becomes an item: its ids ("readings"), its target."""

    auto_class: type = AutoModel
    score_name = "accuracy"

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__()
        self.network, self.tokenizer, self.labels = network, tokenizer, []
        self.head: nn.Module = nn.ModuleList()
        config = network.config.get_text_config()
        positions = getattr(config, "max_position_embeddings", None) or 0
        tables = [part for name, part in network.named_modules() if name.endswith("position_embeddings")]
        paddings = [getattr(table, "padding_idx", None) for table in tables]  # RoBERTa's kin count from behind it
        positions -= max((padding + 1 for padding in paddings if padding is not None), default=0)
        limits = [limit for limit in (positions, tokenizer.model_max_length) if 0 < limit < 1_000_000]
        self.limit = min([RECIPE["length_tokens"], *limits])  # special tokens included

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return next(self.network.parameters()).device

    @property
    def moves(self) -> bool:
        """Whether the network itself learns."""
        return RECIPE["method"] not in ("frozen", "layers")

    def read(self, row: dict) -> dict:
        """An item of a row."""
        raise NotImplementedError

    def loss(self, items: list[dict]) -> torch.Tensor:
        """What is to become smaller."""
        raise NotImplementedError

    def score(self, items: list[dict]) -> float:
        """How good it is, on held-out items."""
        raise NotImplementedError

    def fit(self, items: list[dict]) -> bool:
        """Fit the head at once; whether that can be done."""
        return False

    def encode(self, text: str, second_text: str = "") -> dict:
        """Ids, and the types of tokens where the network is told them, of a text or a pair."""
        encoded = self.tokenizer(
            text, *([second_text] if second_text else []), truncation="longest_first", max_length=self.limit
        )
        return {"readings": [encoded["input_ids"]], "types": encoded.get("token_type_ids") if second_text else None}


def read_examples(path: Path) -> dict[str, list[dict]]:
    """The rows of each part."""
    csv.field_size_limit(sys.maxsize)  # a text may be long
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    parts = {part: [row for row in rows if row["part"] == part] for part in ("train", "held_out")}
    if not parts["train"] or not parts["held_out"]:
        raise SystemExit(f'{path} needs rows of both parts, "train" and "held_out".')
    return parts


def load(auto_class: type, base: str) -> tuple[nn.Module, object]:
    """The network, with new weights if the recipe says so, and its tokenizer."""
    config = AutoConfig.from_pretrained(base)
    if config.model_type == "encoder-decoder":  # AutoModel knows none of two joined networks
        auto_class = AutoModelForSeq2SeqLM
    if RECIPE["method"] == "scratch":
        torch.manual_seed(RECIPE["seed"])
        network = auto_class.from_config(config)
    else:
        network = auto_class.from_pretrained(base, dtype=torch.float32)
    return network, AutoTokenizer.from_pretrained(base)


def arrange(network: nn.Module):
    """Decide what of the network moves; with LoRA returns the adapter over it."""
    if RECIPE["method"] in ("frozen", "layers"):
        network.requires_grad_(False)
    if RECIPE["method"] != "lora":
        return None
    from peft import LoraConfig, get_peft_model

    kinds = {name: type(part).__name__ for name, part in network.named_modules() if not OWN_HEADS & {*name.split(".")}}
    return get_peft_model(
        network,
        LoraConfig(
            r=RECIPE["lora_rank"],
            lora_alpha=2 * RECIPE["lora_rank"],
            lora_dropout=0.05,
            target_modules=[name for name, kind in kinds.items() if kind in ("Linear", "Conv1D")],
            fan_in_fan_out="Conv1D" in kinds.values(),  # GPT-2 keeps its matrices the other way round
        ),
    )


def pad(rows: list[list[int]], filler: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids as one tensor, filled on the right, and which of them are there."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows], device=device)
    there = torch.arange(longest, device=device) < torch.tensor([len(row) for row in rows], device=device)[:, None]
    return ids, there.long()


def in_batches(items: list, size: int = 32) -> list[list]:
    """In their order."""
    return [items[first : first + size] for first in range(0, len(items), size)]


def epoch_batches(lengths: list[int], epoch: int) -> list[list[int]]:
    """Indices of items of similar length together, in random order."""
    generator, size = torch.Generator().manual_seed(RECIPE["seed"] * 100_003 + epoch), RECIPE["batch_size"]
    order, batches = torch.randperm(len(lengths), generator=generator).tolist(), []
    for group in in_batches(order, SORTED_BATCHES * size):
        batches += in_batches(sorted(group, key=lambda index: lengths[index]), size)
    return [batches[index] for index in torch.randperm(len(batches), generator=generator).tolist()]


def make_optimizer(task: Task) -> torch.optim.Optimizer:
    """AdamW; only the matrices of the network's layers decay, and a mix of layers learns faster."""
    rate = RECIPE["learning_rate"] or RATES[RECIPE["method"]]
    tables = {id(part.weight) for part in task.network.modules() if isinstance(part, nn.Embedding)}
    decayed, others, mixed = [], [], []
    for name, weight in task.named_parameters():
        if weight.requires_grad:
            in_layers = name.startswith("network.") and weight.ndim > 1 and id(weight) not in tables
            (decayed if in_layers else mixed if name.startswith("head.mix.") else others).append(weight)
    groups = [
        {"params": decayed, "lr": rate, "weight_decay": WEIGHT_DECAY},
        {"params": others, "lr": rate, "weight_decay": 0.0},
        {"params": mixed, "lr": rate * MIX_FACTOR, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([group for group in groups if group["params"]])


def train(task: Task, items: list[dict], held_out: list[dict]) -> None:
    """Linear warm-up and decay; with "patience" it stops early and goes back to the best weights."""
    method, patience = RECIPE["method"], RECIPE["patience"]
    optimizer = make_optimizer(task)
    moving = [weight for group in optimizer.param_groups for weight in group["params"]]
    per_epoch = math.ceil(len(items) / RECIPE["batch_size"])
    steps = max(LEAST_STEPS[method], math.ceil(max(RECIPE["epochs"], LEAST_EPOCHS.get(method, 0)) * per_epoch))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / (WARM_UP_SHARE * steps), 1.0, (1 - step / steps) / (1 - WARM_UP_SHARE)),
    )
    measured_at = {round(steps * (part + 1) / RECIPE["evaluations"]) for part in range(RECIPE["evaluations"])}
    lengths = [max(map(len, item["readings"])) for item in items]
    best, kept, worse = math.inf, [], 0
    for step in range(steps):
        epoch, number = divmod(step, per_epoch)
        if number == 0:
            batches = epoch_batches(lengths, epoch)
        task.network.train(task.moves)
        task.head.train()
        torch.manual_seed(RECIPE["seed"] * 1_000_003 + step + 1)
        loss = task.loss([items[index] for index in batches[number]])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(moving, 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step + 1} of {steps}: loss {loss.item():.4f}", flush=True)
        if patience and step + 1 in measured_at:
            now = mean_loss(task, held_out)
            if now < best:
                best, kept, worse = now, [weight.detach().clone() for weight in moving], 0
            else:
                worse += 1
            if worse >= patience:
                break
    with torch.no_grad():
        for weight, value in zip(moving, kept, strict=False):
            weight.copy_(value)


@torch.no_grad()
def mean_loss(task: Task, items: list[dict]) -> float:
    """On held-out items."""
    task.eval()
    torch.manual_seed(RECIPE["seed"])
    return sum(float(task.loss(some)) * len(some) for some in in_batches(items)) / len(items)


def save(task: Task, adapter, folder: Path) -> None:
    """The network, its tokenizer, and the head where the task has one."""
    if adapter is not None:
        adapter.merge_and_unload()
    task.network.save_pretrained(folder)
    task.tokenizer.save_pretrained(folder)
    if head := task.head.state_dict():
        torch.save({"head": head, "labels": task.labels}, folder / "head.pt")


def main(task_class: type[Task]) -> None:
    """Read, train, measure, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = HERE if RECIPE["method"] == "scratch" else HERE / "base"
    base = str(beside) if beside.is_dir() else RECIPE["base"]
    parser.add_argument("--examples", type=Path, default=HERE / "examples.csv")
    parser.add_argument("--base", default=base, help="Folder, or id of the Hub.")
    parser.add_argument("--save", type=Path, help="Folder for what was trained.")
    given = parser.parse_args()
    if not given.base:
        parser.error("say with --base where the model is that this one started from; it is not in the folder base")
    parts = read_examples(given.examples)
    network, tokenizer = load(task_class.auto_class, given.base)
    torch.manual_seed(RECIPE["seed"] * 1_000_003)
    task = task_class(network, tokenizer, [*parts["train"], *parts["held_out"]])
    adapter = arrange(task.network)
    task.to("cuda" if torch.cuda.is_available() else "cpu")
    items, held_out = ([task.read(row) for row in parts[part]] for part in ("train", "held_out"))
    if RECIPE["method"] != "frozen" or not task.fit(items):
        train(task, items, held_out)
    task.eval()
    with torch.no_grad():
        print(f"{task.score_name} {task.score(held_out):.4f}")
    if given.save:
        save(task, adapter, given.save)
