"""The model card that goes with a tuned model, as Markdown; importable without torch.

Source: Mitchell et al. 2019, https://arxiv.org/abs/1810.03993; the front matter is the Hub's,
https://huggingface.co/docs/hub/model-cards
"""

import json

from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.results import Outcome
from explorer.training.tuning.tuned_card import TunedFacts

MOST_LABELS = 50


def write_readme(facts: TunedFacts, outcome: Outcome, *, has_head: bool, asked: str = "") -> str:
    """The card.

    Args:
        facts: What is known of the model.
        outcome: What fine-tuning gave.
        has_head: Whether the task added a head, which stands in a file of its own.
        asked: As asking.asking_words tells it.
    """
    recipe = facts.recipe
    needed = "torch, transformers and peft" if recipe.method == "lora" else "torch and transformers"
    epochs = f"Epochs {outcome.epochs:.3g}" if outcome.epochs else "A head fitted at once"
    scores = "\n".join(f"| {_cell(name)} | {value:.4f} |" for name, value in outcome.scores.items())
    baselines = "\n".join(f"| {_cell(name)} | {value:.4f} |" for name, value in outcome.baselines.items())
    labels = ", ".join(_code(label) for label in facts.labels[:MOST_LABELS])
    more = f" and {len(facts.labels) - MOST_LABELS} more" if len(facts.labels) > MOST_LABELS else ""
    among = ", those of the new head among them" if has_head else ""
    added = "`head.safetensors` is what the task added; " if has_head else ""
    if recipe.method == "lora":
        added += (
            "`adapter/` holds the low-rank matrices alone, as peft reads them: they are to be added to the base, for "
            "`model.safetensors` has them in it; "
        )
    parts = [
        _front_matter(facts),
        f"# {_line(facts.base)}, fine-tuned: {TASKS[recipe.task].lower()}",
        f"{METHODS[recipe.method]}: {outcome.trained_parameters:,} weights were trained{among}; the "
        f"network has {facts.parameters:,}. It learned from {facts.train_examples:,} examples of "
        f"{_code(facts.examples_name)}, and was measured on {facts.held_out_examples:,} that it did not learn from.",
        f"| score | held-out |\n| --- | --- |\n{scores}" if scores else "",
        f"| without this model | {_cell(next(iter(outcome.scores), 'score'))} |\n| --- | --- |\n{baselines}"
        if baselines
        else "",
        f"Labels, in the order of the head's rows: {labels}{more}." if labels else "",
        f"## How it is asked\n\n{asked}" if asked else "",
        "## How it was made\n\n"
        f"{epochs} · batch size {recipe.batch_size} · learning rate {recipe.peak:g} · at most "
        f"{recipe.length_tokens} tokens · seed {recipe.seed} · {outcome.seconds:.0f} seconds of training. "
        f"`recipe.py`, where it is there, makes it again from `examples.csv` with {needed} alone"
        f"{'' if facts.base_id else '; `base`, where it is there, is the model that it starts from'}. It computes in "
        "full precision, this run in bfloat16 where the machine could: after some steps the two round apart, and a "
        "few examples may come out otherwise.",
        "## Limits\n\nIt knows what its base knows, with the biases of the base's texts, and what a small set of "
        "examples adds. Measure it on texts of your own before you rely on it."
        + "".join(f"\n\n{_line(note)}" for note in outcome.notes),
        f"## Files\n\n`model.safetensors` is the whole network with its own heads; {added}`tuned.json` says what is "
        "known of it.",
        f"Base model: {_line(facts.base)} ({_line(facts.paper)}, {facts.paper_url}), licence {_line(facts.licence)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(facts: TunedFacts) -> str:
    lines = ["---", "library_name: transformers", "tags: [fine-tuned, language-model-explorer]"]
    if facts.base_id:
        lines.append(f"base_model: {json.dumps(facts.base_id)}")
    if all(len(language) == 2 for language in facts.languages) and facts.languages:
        lines.append(f"language: {json.dumps(list(facts.languages))}")
    lines.append(f"license: {json.dumps(facts.licence.lower())}")
    return "\n".join([*lines, "---"])


def _line(text: str) -> str:
    """Somebody's words on one line, with no mark-up of theirs."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|")


def _cell(text: str) -> str:
    return _line(text.replace("_", " "))


def _code(text: str) -> str:
    return f"`{' '.join(text.split()).replace('`', chr(39)).replace('|', ' ')}`"
