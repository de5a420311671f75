"""What a job may ask for, how many may wait and be kept, and who leaves when the disk is full."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

from explorer.errors import JobRefused
from explorer.settings import GIB, Settings
from explorer.training.jobs.places import JobPlace
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.shelf import KeptJob, Shelf
from explorer.training.tuning.examples import ExampleSet
from explorer.training.tuning.recipe import LOSSES, METHODS, TASKS, Recipe

MIB = 2**20
NEWCOMERS = 2  # times as long may the line be for who has nothing in it
DAY_SECONDS = 86_400.0
SAFE_SECONDS = DAY_SECONDS  # nothing that ended later leaves by itself for want of room
SPARE_BYTES = 2**29  # left free on the disk when a job begins
LONGEST_TITLE, LONGEST_NAME, LONGEST_PREFIX = 80, 200, 200  # characters
BOUNDS = {  # of a recipe's numbers: least, most
    "epochs": (0.01, 100.0),
    "batch_size": (1, 256),
    "length_tokens": (4, 4096),
    "held_out_share": (0.01, 0.9),
    "evaluations": (1, 100),
    "patience": (0, 100),
    "lora_rank": (1, 256),
    "auxiliary_weight": (0.0, 100.0),
    "seed": (0, 2**31 - 1),
}


def check_spec(spec: JobSpec, limits: Settings) -> None:
    """Refuse what no run can do, before it waits in line.

    Raises:
        JobRefused: What is asked for is beyond a limit; the message says which.
    """
    if not 1 <= len(spec.runs) <= limits.most_runs:
        raise JobRefused(f"A job is made of 1 to {limits.most_runs} runs, not {len(spec.runs)}. Choose fewer.")
    for run in spec.runs:
        _check_recipe(run.recipe)
        if not 0 < len(run.model) <= LONGEST_NAME:
            raise JobRefused(f"Name the model to start from in at most {LONGEST_NAME} characters.")
        if run.examples < 0:
            raise JobRefused("A run learns from 1 example or more; 0 stands for all of them.")


def _check_recipe(recipe: Recipe) -> None:
    for name, offered in (("task", TASKS), ("method", METHODS), ("similarity_loss", LOSSES)):
        if getattr(recipe, name) not in offered:
            raise JobRefused(f"There is no {name} {getattr(recipe, name)[:40]!r}; there are: {', '.join(offered)}.")
    for name, (least, most) in BOUNDS.items():
        value = getattr(recipe, name)
        if not (math.isfinite(value) and least <= value <= most):
            raise JobRefused(f"{name} lies between {least} and {most}, not at {value}.")
    if len(recipe.prefix) > LONGEST_PREFIX:
        raise JobRefused(f"A prefix has at most {LONGEST_PREFIX} characters, not {len(recipe.prefix):,}. Shorten it.")
    if recipe.learning_rate is not None and not 0 < recipe.learning_rate <= 1:
        raise JobRefused("learning_rate lies above 0 and at most at 1; leave it out for one that suits the method.")


def check_examples_size(examples: ExampleSet, limits: Settings) -> None:
    """Refuse more examples than are kept.

    Raises:
        JobRefused: There are none, or too many.
    """
    if not examples.train:
        raise JobRefused("There are no examples to learn from. Paste or choose some.")
    for part, what in ((examples.train, "to learn from"), (examples.held_out, "to measure on")):
        if len(part) > limits.most_examples:
            raise JobRefused(
                f"There are {len(part):,} examples {what}; a job takes at most {limits.most_examples:,}. Take a part."
            )


def check_quotas(kept: Sequence[KeptJob], owner: str, limits: Settings, *, is_new: bool) -> None:
    """Refuse a job that its owner, or all together, have no room for.

    Args:
        kept: All jobs.
        owner: Hash of who asks.
        limits: The settings.
        is_new: Whether it would be one more, and not one that is resumed.

    Raises:
        JobRefused: The message says what to do.
    """
    own = [job for job in kept if job.owner == owner]
    if is_new and len(own) >= limits.most_jobs:
        raise JobRefused(f"You keep {len(own)} jobs, the most that one visitor may keep here. Delete one first.")
    if sum(job.is_busy for job in own) >= limits.most_waiting_jobs:
        raise JobRefused(
            f"{limits.most_waiting_jobs} of your jobs wait or run already, which is the most. Wait for one, or stop it."
        )
    # The line is not for the quickest alone.
    most = limits.most_jobs_in_line * (1 if any(job.is_busy for job in own) else NEWCOMERS)
    if (busy := sum(job.is_busy for job in kept)) >= most:
        raise JobRefused(f"{busy} jobs are in line already. Try again in some minutes.")


def make_room(shelf: Shelf, kept: Sequence[KeptJob], limits: Settings) -> None:
    """Let go of jobs that ended long ago, and, where room is short, of the oldest that are not quite so old.

    The caller holds the lock.

    Raises:
        JobRefused: There is too little room all the same.
    """
    now = shelf.now()
    ended = sorted((job for job in kept if job.standing.ended_at), key=lambda job: job.standing.ended_at)
    kept_seconds = limits.jobs_kept_days * DAY_SECONDS or math.inf
    left = []
    for job in ended:
        if now - job.standing.ended_at > kept_seconds:
            shelf.remove(job.place)
        else:
            left.append(job)
    room = limits.jobs_room_gib * GIB - sum(_size_bytes(job.place) for job in kept if job not in ended)
    sizes = {job.place.id: _size_bytes(job.place) for job in left}
    room -= sum(sizes.values())
    free = shutil.disk_usage(shelf.folder).free
    for job in left:
        if room >= 0 and free >= SPARE_BYTES:
            return
        if now - job.standing.ended_at > SAFE_SECONDS:
            shelf.remove(job.place)
            room += sizes[job.place.id]
            free = shutil.disk_usage(shelf.folder).free
    if room < 0 or free < SPARE_BYTES:
        raise JobRefused(
            "The disk for fine-tuned models is full, and no job on it is old enough to leave. Delete jobs that you no "
            "longer need, or tell the operator (EXPLORER_JOBS_ROOM_GIB)."
        )


def _size_bytes(place: JobPlace) -> int:
    return sum(_file_bytes(file) for file in place.folder.rglob("*"))


def _file_bytes(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:  # it was a part that has gone meanwhile
        return 0
