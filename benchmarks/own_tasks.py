"""What each task teaches with our own sets, as the page begins: python benchmarks/own_tasks.py [TASK[/METHOD] ...]

Each task in each way that suits the model which the page offers for it, by the recipe that the page suggests. The sets
are small (16 to 63 examples to measure on), so that a difference of a few examples is chance: the mean of three seeds.
"""

import dataclasses
import sys
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from measuring import describe_machine, print_table

from explorer import open_registry
from explorer.models.registry import Registry
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.results import Outcome
from explorer.training.tuning.suits import MAIN_SCORES, OWN_MODELS, SCORES, find_ways, suggest_recipe

SEEDS = (0, 1, 2)


def learn(registry: Registry, task: str, method: str, seed: int) -> tuple[Outcome, float]:
    """What comes out, and the seconds that all of it took."""
    from explorer.training import fine_tune

    model = OWN_MODELS[task]
    suggested = suggest_recipe(task, method, registry.card(model).abilities)
    recipe = dataclasses.replace(suggested, seed=seed, evaluations=0)
    began = time.perf_counter()
    *_, last = registry.stream(model, partial(fine_tune, examples=own_examples(task), recipe=recipe))
    return last.outcome, time.perf_counter() - began


def show_task(registry: Registry, task: str, only: str = "") -> None:
    card, rows = registry.card(OWN_MODELS[task]), []
    baselines: dict[str, float] = {}
    for method in [only] if only else find_ways(task, card.abilities, card.model_type):
        ends = [learn(registry, task, method, seed) for seed in SEEDS]
        names = ends[0][0].scores
        baselines |= ends[0][0].baselines  # random weights have none "before fine-tuning"
        means = [tell(name, [outcome.scores[name] for outcome, _ in ends]) for name in names]
        rows.append([METHODS[method], *means, f"{np.median([seconds for _, seconds in ends]):.0f}"])
    main = list(names).index(MAIN_SCORES[task])
    for name, value in baselines.items():
        rows.append([name, *["" for _ in range(main)], tell(MAIN_SCORES[task], [value]), *[""] * (len(names) - main)])
    size = f"{len(own_examples(task).train)} examples, measured on {len(own_examples(task).held_out)}"
    print_table(f"{TASKS[task]}: {card.name}, {size}", ["", *names, "seconds"], rows)


def tell(name: str, values: Sequence[float]) -> str:
    """Mean and, of several, the standard deviation."""
    share = 100 if SCORES[name].is_share else 1
    unit = " %" if SCORES[name].is_share else ""
    spread = f" ± {share * np.std(values, ddof=1):.{1 if unit else 2}f}" if len(values) > 1 else ""
    return f"{share * np.mean(values):.{1 if unit else 2}f}{spread}{unit}"


def main() -> None:
    print(describe_machine())
    registry = open_registry()
    for task in sys.argv[1:] or TASKS:
        show_task(registry, *task.split("/"))


if __name__ == "__main__":
    main()
