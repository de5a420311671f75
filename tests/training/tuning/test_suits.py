"""What the page offers is what the tasks can do, and nothing else."""

import subprocess
import sys
from dataclasses import replace

import pytest

from explorer.errors import UnsuitableModel
from explorer.models.catalogue import CATALOGUE
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe
from explorer.training.tuning.session import Session
from explorer.training.tuning.suits import (
    MAIN_SCORES,
    OWN_MODELS,
    SCORES,
    find_tasks,
    find_ways,
    name_before,
    suggest_recipe,
)
from tests.training.tuning.toy_tasks import (
    asked,
    classed,
    compared,
    make_set,
    paired,
    rewritten,
    tagged,
    tiny_model,
    told,
)

MAKERS = {
    "classification": classed,
    "pairs": paired,
    "tagging": tagged,
    "answers": asked,
    "similarity": compared,
    "masked": told,
    "causal": told,
    "text_to_text": rewritten,
}


def toy(task: str) -> ExampleSet:
    return make_set(task, MAKERS[task], 8, 4)


@pytest.mark.parametrize("objective", ["masked", "causal", "span", "bilm"])
def test_what_is_offered_begins_and_what_is_not_is_refused(objective):
    model = tiny_model(objective)
    for task in TASKS:
        ways = find_ways(task, model.card.abilities, model.card.model_type)
        for method in METHODS:
            recipe = Recipe(task=task, method=method)
            if method in ways:
                assert Session(model, toy(task), recipe).steps > 0
            elif (objective, task) != ("bilm", "answers"):  # over tokens it could, the published ELMo cannot
                with pytest.raises(UnsuitableModel, match=r"[Cc]hoose"):
                    Session(model, toy(task), recipe)


def test_tasks_have_scores_and_models_that_suit():
    cards = {card.name: card for card in CATALOGUE}
    for task in TASKS:
        card = cards[OWN_MODELS[task]]
        assert MAIN_SCORES[task] in SCORES
        assert task in find_tasks(card.abilities, card.model_type)
        assert not card.needs_network
    with pytest.raises(KeyError):
        find_ways("cooking", [], "bert")


def test_a_learned_mix_starts_from_an_even_one_and_is_not_called_the_base():
    assert {name_before(method) for method in METHODS if method != "layers"} == {"before fine-tuning"}
    assert name_before("layers") == "an even mix of its layers"


def test_suggestions_keep_task_and_method():
    for task in TASKS:
        for method in METHODS:
            suggested = suggest_recipe(task, method, ())
            assert (suggested.task, suggested.method) == (task, method)
            is_special = method == "lora" and task in ("tagging", "answers", "similarity")
            assert (suggested.learning_rate is None) or method in ("full", "scratch") or is_special
            same = {name: getattr(suggested, name) for name in ("epochs", "learning_rate", "prefix")}
            assert suggested == replace(Recipe(task=task, method=method), **same), "what the shell's help names"


def test_the_page_need_not_wait_for_torch():
    program = "import sys, explorer.training.tuning.suits; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
