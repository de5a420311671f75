"""Fine-tuning beside the Hugging Face Trainer, and MiniLM on sentences and questions: python benchmarks/fine_tuning.py

Both train the same model on the same examples with the same hyper-parameters, one after the other in each round, so
that a busy moment of the machine hits both. The Trainer is as its documentation has it: batches in random order, padded
to their longest text.

    python benchmarks/fine_tuning.py methods     frozen, layers, LoRA, full and scratch on 1,000 sentences
    python benchmarks/fine_tuning.py questions   2,000 questions of TREC
    python benchmarks/fine_tuning.py trainer     against the Trainer, three seeds
    python benchmarks/fine_tuning.py labels      accuracy against the number of labelled examples
"""

import csv
import dataclasses
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from corpora import EVAL
from measuring import describe_machine, print_table, ratio_of

from explorer import open_registry
from explorer.models.registry import Registry
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.recipe import METHODS, Recipe
from explorer.training.tuning.results import TrainingStep
from explorer.training.tuning.sampling import choose_examples

MODEL = "all-MiniLM-L6-v2"
TEST_EXAMPLES = 1_000
SEEDS = (0, 1, 2)
RECIPE = Recipe(task="classification", epochs=3, batch_size=16, evaluations=0)


def read(name: str, train: int, test: int = TEST_EXAMPLES) -> ExampleSet:
    file = EVAL / "classification" / f"{name}.tsv"
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    examples = [LabelledText(row["text"], row["label"]) for row in rows[: train + test]]
    return ExampleSet(name, "classification", tuple(examples[:train]), tuple(examples[train:]))


def tune(registry: Registry, examples: ExampleSet, recipe: Recipe) -> tuple[TrainingStep, float, float]:
    """The last step, the seconds that all of it took, and the examples learnt from in a second."""
    from explorer.training import fine_tune

    began, rate = time.perf_counter(), 0.0
    for step in registry.stream(MODEL, partial(fine_tune, examples=examples, recipe=recipe)):
        rate = step.examples_per_second or rate
    return step, time.perf_counter() - began, rate


def compare_methods(registry: Registry, name: str, train: int, methods: Sequence[str]) -> None:
    examples, rows = read(name, train), []
    rows.append(
        ["logistic regression on sentence-transformers", f"{100 * judge_sentence_vectors(examples):.1f}", "", ""]
    )
    registry.load(MODEL)
    for method in methods:
        step, seconds, rate = tune(registry, examples, dataclasses.replace(RECIPE, method=method))
        outcome = step.outcome
        speed = f"{rate:.0f}" if rate else ""
        rows.append([METHODS[method], f"{100 * outcome.scores['accuracy']:.1f}", f"{seconds:.0f}", speed])
    rows += [[name, f"{100 * value:.1f}", "", ""] for name, value in outcome.baselines.items()]
    title = f"{MODEL} on {train:,} of {name}, measured on {TEST_EXAMPLES:,} others"
    print_table(title, ["method", "accuracy, %", "seconds, test included", "examples/s"], rows)


def judge_sentence_vectors(examples: ExampleSet) -> float:
    """Accuracy of scikit-learn's logistic regression on what the sentence-transformers library gives."""
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    from explorer.models.folders import find_folder
    from explorer.models.progress import ignore

    encoder = SentenceTransformer(str(find_folder(open_registry().card(MODEL), ignore)), device="cpu")
    train, test = (encoder.encode([one.text for one in part]) for part in (examples.train, examples.held_out))
    fitted = LogisticRegression(max_iter=1000).fit(train, [one.label for one in examples.train])
    return float(fitted.score(test, [one.label for one in examples.held_out]))


def compare_with_trainer(registry: Registry) -> None:
    """The same seeds and hyper-parameters; the rate counts the training alone on both sides."""
    examples = read("sentence_polarity", 1_000)
    ours, theirs, rates = [], [], ([], [])
    for seed in SEEDS:
        step, _, rate = tune(registry, examples, dataclasses.replace(RECIPE, seed=seed, learning_rate=5e-5))
        ours.append(step.outcome.scores["accuracy"])
        rates[0].append(rate)
        accuracy, rate = run_trainer(registry, examples, seed, learning_rate=5e-5)
        theirs.append(accuracy)
        rates[1].append(rate)
        print(
            f"seed {seed}: {ours[-1]:.3f} at {rates[0][-1]:.1f}/s; Trainer {accuracy:.3f} at {rate:.1f}/s", flush=True
        )
    rows = [
        ["explorer fine-tune", _spread(ours), f"{np.median(rates[0]):.1f}"],
        ["Trainer", _spread(theirs), f"{np.median(rates[1]):.1f}"],
        ["ratio", "", str(ratio_of(rates[0], rates[1]))],
    ]
    print_table("1,000 of sentence_polarity, 3 epochs of 16, three seeds", ["", "accuracy, %", "examples/s"], rows)


def _spread(accuracies: Sequence[float]) -> str:
    return f"{100 * np.mean(accuracies):.1f} ± {100 * np.std(accuracies, ddof=1):.1f}"


def run_trainer(registry: Registry, examples: ExampleSet, seed: int, *, learning_rate: float) -> tuple[float, float]:
    """Accuracy and examples per second of the Trainer, on a mean-pooled head as ours."""
    import torch
    from torch import nn
    from transformers import AutoModel, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments, set_seed

    from explorer.models.folders import find_folder
    from explorer.models.progress import ignore

    folder = find_folder(registry.card(MODEL), ignore)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    set_seed(seed)

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = AutoModel.from_pretrained(folder, dtype=torch.float32)
            self.dropout = nn.Dropout(0.1)
            self.linear = nn.Linear(self.body.config.hidden_size, len(labels))
            nn.init.normal_(self.linear.weight, std=0.02)
            nn.init.zeros_(self.linear.bias)

        def forward(self, input_ids, attention_mask, labels=None):
            states = self.body(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weights = attention_mask[:, :, None].float()
            logits = self.linear(self.dropout((states * weights).sum(1) / weights.sum(1)))
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    labels = sorted({one.label for one in examples.train})

    def encode(part: Sequence[LabelledText]) -> list[dict]:
        return [
            {**tokenizer(one.text, truncation=True, max_length=128, return_token_type_ids=False),
             "labels": labels.index(one.label)}
            for one in part
        ]  # fmt: skip

    with tempfile.TemporaryDirectory() as place:
        arguments = TrainingArguments(
            output_dir=str(Path(place)),
            per_device_train_batch_size=RECIPE.batch_size,
            per_device_eval_batch_size=32,
            num_train_epochs=RECIPE.epochs,
            learning_rate=learning_rate,
            weight_decay=0.01,
            warmup_steps=0.1,  # a share of the steps, where it is below 1
            lr_scheduler_type="linear",
            max_grad_norm=1.0,
            seed=seed,
            save_strategy="no",
            eval_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            dataloader_pin_memory=False,
        )
        trainer = Trainer(
            Classifier(),
            arguments,
            train_dataset=encode(examples.train),
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=lambda judged: {"accuracy": float((judged[0].argmax(1) == judged[1]).mean())},
        )
        rate = trainer.train().metrics["train_samples_per_second"]
        return trainer.evaluate(encode(examples.held_out))["eval_accuracy"], rate


def draw_labels(registry: Registry) -> None:
    """What pre-training is worth: accuracy against labels, from trained and from random weights."""
    everything, rows = read("sentence_polarity", 2_048, 500), []
    for count in (8, 32, 128, 512, 2_048):
        examples, row = choose_examples(everything, count, seed=0), [f"{count:,}"]
        for method in ("frozen", "full", "scratch"):
            step, _, _ = tune(registry, examples, dataclasses.replace(RECIPE, method=method))
            row.append(f"{100 * step.outcome.scores['accuracy']:.1f}")
        rows.append(row)
        print(row, flush=True)
    print_table("Accuracy on 500 of sentence_polarity, %", ["labelled examples", "frozen", "full", "scratch"], rows)


PARTS = {
    "methods": lambda registry: compare_methods(registry, "sentence_polarity", 1_000, tuple(METHODS)),
    "questions": lambda registry: compare_methods(registry, "questions", 2_000, ("frozen", "lora", "full")),
    "trainer": compare_with_trainer,
    "labels": draw_labels,
}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    if wrong := [name for name in chosen if name not in PARTS]:
        raise SystemExit(f"There is no part {wrong[0]!r}; choose from: {', '.join(PARTS)}.")
    if not (EVAL / "classification").is_dir():
        print(
            f"There are no examples in {EVAL}: set EXPLORER_EVAL_DATA to the folder of the evaluation data. Left out."
        )
        return
    print_table("Machine", ["what", "is"], list(describe_machine().items()))
    registry = open_registry()
    for name in chosen:
        PARTS[name](registry)


if __name__ == "__main__":
    main()
