"""The endpoints about fine-tuning: start a job, look at it, stop, resume and delete it; see endpoints.py.

A job belongs to whoever has its token. A caller makes one (16 random characters or more) and gives it with every call;
the same limits hold as on the page.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from explorer.analysis.exporting import to_json
from explorer.errors import JobRefused, UnsuitableText
from explorer.models.catalogue import VECTOR_MODEL
from explorer.models.presence import check_can_be_had
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.tabs.visitors import find_model, forget_job
from explorer.training.jobs.naming import tuned_name
from explorer.training.jobs.results import JobSpec, JobStatus
from explorer.training.jobs.supervising import open_jobs
from explorer.training.tuning.checks import refuse_problems
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.making import with_held_out
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.reading import guess_columns, make_examples, read_table
from explorer.training.tuning.recipe import TASKS, Recipe
from explorer.training.tuning.results import Run
from explorer.training.tuning.sampling import split_examples
from explorer.training.tuning.suits import fit_recipe

Answer = dict[str, Any]
Rows = list[dict[str, Any]] | str | None
PLAIN = Recipe()
CALLERS = "The caller's examples"


def tuning_endpoints(registry: Registry) -> tuple[Callable[..., Answer], ...]:
    """The functions to be called by name, with keyword parameters; each returns how a job stands, as JSON.

    A job learns from rows (objects, or a table as text: csv, tsv, jsonl); where none are given, from our own set of its
    task ("similarity" has two: scored asks for the pairs with scores rather than the triplets). Several methods make a
    race; several sizes a learning curve of each. The models of its runs, once they are done, are asked by their names
    at every other endpoint. Options are fields of a Recipe; epochs, learning rate and prefix are those that suit model,
    task and method where they are not given, or null.
    """

    def start_fine_tuning(
        owner: str,
        task: str = "classification",
        model: str = VECTOR_MODEL,
        methods: list[str] | None = None,
        sizes: list[int] | None = None,
        examples: Rows = None,
        held_out: Rows = None,
        columns: dict[str, str] | None = None,
        title: str = "",
        options: dict[str, Any] | None = None,
        scored: bool = False,
    ) -> Answer:
        """Put a job of fine-tuning in line.

        Options are fields of a Recipe. Where they are not given, epochs, learning_rate and prefix suit model, task and
        method: 3 epochs, or 20 for tags, 8 for answers and whatever an encoder-decoder writes; at a peak of 1e-3 where
        the weights rest, else 1e-4, 3e-4 where epochs are 8 or 20, 2e-3 for lora on tags and answers, for full
        similarity 2e-5 and with lora 3e-4; "classify: " before classes that are written.
        """
        if task not in TASKS:
            raise UnsuitableText(f"There is no task {str(task)[:40]!r}; there are: {', '.join(TASKS)}.")
        wanted = _checked(options or {})
        models, name = find_model(registry, model)
        card = models.card(name)
        check_can_be_had(card)
        recipes = [fit_recipe(task, str(method), card.abilities, wanted) for method in methods or [PLAIN.method]]
        found = _examples(task, examples, held_out, columns, scored=scored)
        # All runs are measured on the same: neither the share nor the seed hangs on the method.
        found = split_examples(found, recipes[0].held_out_share, seed=recipes[0].seed)
        runs = tuple(Run(recipe, size, name) for size in sizes or [0] for recipe in recipes)
        store = open_jobs()
        return _answer(store.job(owner, store.submit(owner, JobSpec(str(title), runs, found.name), found)))

    def list_jobs(owner: str) -> list[Answer]:
        return [_answer(status) for status in open_jobs().jobs(owner)]

    def find_job(owner: str, job: str, since: int = 0) -> Answer:
        store = open_jobs()
        return _answer(store.job(owner, job)) | {"steps": to_json(store.steps(owner, job, since))}

    def stop_job(owner: str, job: str) -> Answer:
        open_jobs().stop(owner, job)
        return _answer(open_jobs().job(owner, job))

    def resume_job(owner: str, job: str) -> Answer:
        open_jobs().resume(owner, job)
        return _answer(open_jobs().job(owner, job))

    def delete_job(owner: str, job: str) -> Answer:
        open_jobs().delete(owner, job)
        forget_job(registry, job)
        return {"id": job, "state": "deleted"}

    return start_fine_tuning, list_jobs, find_job, stop_job, resume_job, delete_job


def _answer(status: JobStatus) -> Answer:
    """How a job stands, with the names of the models that it has made."""
    models = {run: tuned_name(status.id, status.spec, run) for run in status.outcomes}
    return to_json(status) | {"models": to_json(models)}


def _checked(options: Answer) -> Answer:
    """What the caller wants otherwise than what suits: fields of Recipe, as they came.

    Raises:
        JobRefused: An option is unknown, or of another type.
    """
    known = {field.name: type(field.default) for field in fields(Recipe)} | {"learning_rate": float}
    for name, value in options.items():
        if name not in known or name in {"task", "method"}:
            offered = ", ".join(name for name in known if name not in {"task", "method"})
            raise JobRefused(f"There is no option {str(name)[:40]!r}; there are: {offered}.")
        kind = known[name]
        is_of_kind = isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)
        if not is_of_kind and value is not None:
            raise JobRefused(f"{name} is {'a text' if kind is str else 'a number'}, not {value!r:.40}.")
    return options


def _examples(task: str, rows: Rows, held_out: Rows, columns: dict[str, str] | None, *, scored: bool) -> ExampleSet:
    if rows and scored:
        raise UnsuitableText("scored asks for our own pairs: leave it out where examples are given.")
    if not rows:
        if held_out:
            raise UnsuitableText("Give examples to learn from with those to measure on.")
        return own_examples(task, scored=scored)
    found = _read(task, rows, columns, CALLERS)
    if held_out:
        found = with_held_out(found, _read(task, held_out, columns, f"{CALLERS} to measure on"))
    refuse_problems(found)
    return found


def _read(task: str, rows: Rows, columns: dict[str, str] | None, name: str) -> ExampleSet:
    text = rows if isinstance(rows, str) else "\n".join(json.dumps(row) for row in rows)
    if len(text) > settings().largest_request_mib * 2**20:
        raise UnsuitableText(f"{name} are more than {settings().largest_request_mib:g} MiB. Give fewer.")
    table = read_table(text, name, task=task)
    return make_examples(table, task, columns or guess_columns(table, task), name)
