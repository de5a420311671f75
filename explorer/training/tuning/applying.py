"""A tuned model's judgement of texts that were neither learnt from nor measured on."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import LocalFolder
from explorer.training.tuning.examples import Example
from explorer.training.tuning.judging import judge_rows
from explorer.training.tuning.results import Judged
from explorer.training.tuning.saving import load_head
from explorer.training.tuning.suits import CAN_BEFORE
from explorer.training.tuning.task import Start
from explorer.training.tuning.tasks import find_kind
from explorer.training.tuning.tuned_card import FACTS, TunedFacts, read_facts


def judge_texts(model: LoadedModel, examples: Sequence[Example]) -> tuple[Judged, ...]:
    """What a tuned model makes of a visitor's own examples.

    Args:
        model: Loaded from a card of read_tuned_card.
        examples: Of its task; what is not known of them is left empty, e.g. LabelledText("Lovely.", label="").

    Returns:
        In the order of the examples.

    Raises:
        UnsuitableModel: It is no tuned model.
        UnsuitableText: There is nothing to judge, or it is of another task.
        ModelRefused: Its files are damaged.
    """
    source = model.card.source
    if not isinstance(source, LocalFolder) or not (Path(source.path) / FACTS).is_file():
        raise UnsuitableModel(
            f"{model.card.name} was not fine-tuned here. Choose a model of your own from the history."
        )
    facts = read_facts(Path(source.path))
    return _judge(model, facts, examples, Path(source.path))


def judge_before(model: LoadedModel, examples: Sequence[Example], *, facts: TunedFacts) -> tuple[Judged, ...]:
    """The same of the model that a tuned one started from, in a task that needs no new head.

    Args:
        model: The base.
        examples: As judge_texts takes them.
        facts: Of the tuned model.

    Raises:
        UnsuitableModel: The task needs a head, which the base does not have.
        UnsuitableText: As judge_texts.
    """
    if facts.recipe.task not in CAN_BEFORE:
        raise UnsuitableModel(f"{model.card.name} has no layer for this task before it is fine-tuned.")
    return _judge(model, facts, examples, None)


def _without_verdict(judged: Judged) -> Judged:
    """The cosine alone: from which one on two sentences are similar, only a score that people gave them tells."""
    return replace(judged, predicted=judged.predicted.rpartition(", ")[2])


def _judge(
    model: LoadedModel, facts: TunedFacts, examples: Sequence[Example], folder: Path | None
) -> tuple[Judged, ...]:
    """By the head that was saved in a folder; None = by one that was not trained."""
    kind = find_kind(facts.recipe.task)
    if not examples or not all(isinstance(one, kind.examples) for one in examples):
        raise UnsuitableText("Write at least one text for the task that the model was fine-tuned for.")
    with model.tokenizer_lock:
        tokenizer = copy.deepcopy(model.tokenizer)
    with torch.inference_mode(False), torch.no_grad():
        start = Start(model.card.name, model.network, tokenizer, model.limit_tokens)
        task = kind.build(start, facts.recipe, facts.labels)
        if folder is not None:
            load_head(task, folder, model.card.name)
        task.head.to(model.network.device)
        verdicts = judge_rows(task, task.rows(examples), None)
        return tuple(
            _without_verdict(one) if facts.recipe.task == "similarity" else one
            for example, verdict in zip(examples, verdicts, strict=True)
            for one in task.measure([example], [verdict]).judged
        )
