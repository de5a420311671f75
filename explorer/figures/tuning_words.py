"""Scores, runs and jobs of fine-tuning in words; everything that a visitor named is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from explorer.analysis.intervals import share_interval
from explorer.figures.style import two_decimals
from explorer.rounding import half_up
from explorer.training.jobs.results import JobSpec, JobStatus
from explorer.training.tuning.recipe import LEARNING_RATES, METHODS, Recipe
from explorer.training.tuning.results import READING, Outcome, Run, TrainingStep
from explorer.training.tuning.suits import LEARNS_ITSELF, SCORES, explain_score

CLEAR_RISE = 1.05  # of a held-out loss over its lowest, beyond which it is no wavering
FAR_LOWER = 10  # times, of a learning rate: below what suits a method
CLEARLY_MORE = 1.2  # epochs than were asked for: a whole number of steps may end a little beyond
PER_TOKEN = {  # task -> how perplexity goes with the held-out loss
    "masked": "It is not e to the held-out loss of the curves: that is a mean over examples, this one over all tokens.",
    "causal": "It is not e to the held-out loss of the curves: that is a mean over examples and counts where each text "
    "ends, this one is over all tokens of the texts alone.",
}
STATES = {
    "waiting": "waiting",
    "running": "running",
    "stopping": "stopping",
    "stopped": "stopped",
    "done": "done",
    "failed": "failed",
}


def score_label(name: str) -> str:
    """What a score is called, e.g. "macro F1"."""
    return SCORES[name].name if name in SCORES else name.replace("_", " ")


def score_term(name: str, task: str) -> str:
    """The same as HTML that says, when it is pointed at, what it measures."""
    return f"<abbr title='{escape(explain_score(name, task))}'>{escape(score_label(name))}</abbr>"


def is_share(name: str) -> bool:
    """Whether a score is a share of 1, written in per cent."""
    return name in SCORES and SCORES[name].is_share


def is_better_lower(name: str) -> bool:
    """Whether less of a score is better."""
    return name in SCORES and not SCORES[name].is_better_higher


def score_words(name: str, value: float) -> str:
    """A value of a score: 87.5 %, or 0.83."""
    return f"{half_up(100 * value, 1)} %" if is_share(name) else two_decimals(value)


def shown_score(name: str, value: float) -> float:
    """A value of a score as score_words rounds it, so that what is said of two agrees with what is shown of them."""
    return float(half_up(100 * value, 1)) / 100 if is_share(name) else round(value, 2)


def main_score(outcome: Outcome) -> tuple[str, float] | None:
    """Name and value of the task's main score; None = there is none."""
    return next(iter(outcome.scores.items()), None)


def best_run(status: JobStatus) -> int | None:
    """Index of the run with the best main score of those that are done, the first such; None = none has a score."""
    return next(iter(best_runs(status)), None)


def best_runs(status: JobStatus) -> list[int]:
    """Indices of all runs that are done and have the best main score: several where they are equally good."""
    found = {index: main for index, outcome in sorted(status.outcomes.items()) if (main := main_score(outcome))}
    if not found:
        return []
    choose = min if is_better_lower(next(iter(found.values()))[0]) else max
    best = choose(value for _, value in found.values())
    return [index for index, (_, value) in found.items() if value == best]


def kind_of(spec: JobSpec) -> str:
    """What a job is: "one" run, a "race" of several, or the same on ever more "labels"."""
    if len(spec.runs) < 2:
        return "one"
    return "labels" if len({run.examples for run in spec.runs}) > 1 else "race"


def run_name(spec: JobSpec, index: int) -> str:
    """What tells a run of a job from its others: the method, the number of examples, the model."""
    run = spec.runs[index]
    parts = [METHODS.get(run.recipe.method, run.recipe.method)]
    if len({one.model for one in spec.runs}) > 1:
        parts.insert(0, run.model)
    if kind_of(spec) == "labels":
        parts.append(examples_words(run))
    return ", ".join(parts)


def examples_words(run: Run) -> str:
    """How many labelled examples a run learns from."""
    return f"{run.examples:,} examples" if run.examples else "all examples"


def score_meaning(name: str, task: str) -> str:
    """What a score measures, with how it goes with the losses that are drawn."""
    beside = PER_TOKEN.get(task, "") if name == "perplexity" else ""
    return f"{explain_score(name, task)} {beside}".strip()


def score_list(scores: Mapping[str, float], task: str) -> str:
    """All scores of a run, each with what it measures, as HTML.

    Args:
        scores: As of Outcome.
        task: A key of TASKS.
    """
    rows = "".join(
        f"<div><dt>{escape(score_label(name))} <b title='{value!r}'>{score_words(name, value)}</b></dt>"
        f"<dd>{escape(score_meaning(name, task))}</dd></div>"
        for name, value in scores.items()
    )
    return f"<dl class='score-list' aria-label='Scores on the held-out examples'>{rows}</dl>" if rows else ""


def duration(seconds: float) -> str:
    """Seconds as people say them: 8 s, 2 min 5 s, 1 h 3 min."""
    whole = max(0, round(seconds))
    if whole < 100:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


_EVERYTHING = (
    "all that its answers are computed with; what the task does not read, such as the network’s own head (a pooler, or "
    "what predicts tokens), stays as it was"
)
TRAINED = {  # method -> which weights could move
    "frozen": "the new head’s alone",
    "layers": "those of the mix and of the new head",
    "lora": "those of the small matrices beside the layers, and of the new head if the task has one",
    "full": _EVERYTHING,
    "scratch": _EVERYTHING,
}


def count_words(count: int) -> str:
    """A number of weights: 1,154 or 22.7 M."""
    return f"{count:,}" if count < 1_000_000 else f"{count / 1e6:.1f} M"


def place_words(step: TrainingStep) -> str:
    """Which step of how many; of features that are read once there are batches."""
    if step.phase == READING:
        return f"{step.step:,} of {step.steps:,} batches"
    return f"step {step.step:,} of {step.steps:,}"


def step_words(step: TrainingStep, *, is_one_of_several: bool = False) -> str:
    """Where a run is: its phase, step, speed and what is left, of this run where there are others."""
    parts = [place_words(step) if step.steps else ""]
    if step.phase != READING:
        parts.append(f"epoch {step.epoch:.1f}")
    if step.examples_per_second:
        parts.append(f"{step.examples_per_second:,.0f} examples/s")
    if step.seconds_left:
        parts.append(f"about {duration(step.seconds_left)} left{' of this run' if is_one_of_several else ''}")
    return f"{step.phase}: " + ", ".join(filter(None, parts))


def rises_again(held_out_losses: Sequence[float]) -> bool:
    """Whether a held-out loss was lowest clearly before the end: the run learns its own examples by heart."""
    return len(held_out_losses) > 2 and held_out_losses[-1] > CLEAR_RISE * min(held_out_losses)


def has_turned(held_out_losses: Sequence[float]) -> bool:
    """Whether a held-out loss, as it is shown, was lower on the way than at the end, be it only a little."""
    return len(held_out_losses) > 1 and two_decimals(held_out_losses[-1]) != two_decimals(min(held_out_losses))


def held_out_losses(steps: Sequence[TrainingStep]) -> list[float]:
    """Those that were measured on the way of a run, in order."""
    return [step.held_out_loss for step in course_of(steps) if step.held_out_loss is not None]


def course_of(steps: Sequence[TrainingStep]) -> list[TrainingStep]:
    """The steps on the way of a run, without what was measured of earlier weights, put back at the end."""
    return [step for step in steps if step.kept_epoch is None]


def outcome_words(outcome: Outcome, recipe: Recipe, steps: Sequence[TrainingStep] = ()) -> str:
    """The main score beside its baselines, the time and how much was trained, as HTML.

    Args:
        outcome: Of a run.
        recipe: What it was trained by.
        steps: Its log; () = not known.
    """
    main = main_score(outcome)
    if main is None:
        return f"trained for {duration(outcome.seconds)}"
    name, value = main
    beside = baseline_words(outcome)
    count = 0 if recipe.task in PER_TOKEN else len(outcome.judged)  # there only examples with a blank are judged
    on = f" on {count:,} held-out examples" if count else " on held-out examples"
    on = range_words(name, value, len(outcome.judged)) + on
    return (
        f"<b>{score_term(name, recipe.task)} <span title='{value!r}'>{score_words(name, value)}</span></b>{on}"
        f"{f' ({beside})' if beside else ''}; <abbr title='{TRAINED[recipe.method]}'>"
        f"{count_words(outcome.trained_parameters)} weights</abbr> trained in "
        f"{duration(outcome.seconds)}{_no_better(outcome, name, value, _what_may_help(recipe, steps))}"
    )


def _no_better(outcome: Outcome, name: str, value: float, help: str) -> str:
    """Which baseline is as good as the model, and what may help; "" = none is."""
    other = rival_of(outcome)
    if other is None:
        return ""
    if value >= 1 and not is_better_lower(name):  # of all such scores the best that there is
        said = f"{escape(other[:1].upper() + other[1:])} is as good"
        return f". {said}: these held-out examples are too easy to tell the two apart"
    return f". That is no better than {escape(other)}: {help} may help"


def rival_of(outcome: Outcome) -> str | None:
    """The best baseline that the main score is no better than; None = it is better than all, or there is none."""
    main = main_score(outcome)
    if main is None:
        return None
    sign = -1 if is_better_lower(main[0]) else 1
    other = max(outcome.baselines, key=lambda one: sign * outcome.baselines[one], default=None)
    return None if other is None or sign * main[1] > sign * outcome.baselines[other] else other


def _what_may_help(recipe: Recipe, steps: Sequence[TrainingStep]) -> str:
    if recipe.method not in LEARNS_ITSELF:
        return "more examples, or letting more of the model move,"
    made = epochs_beyond(recipe, steps)  # fewer than that are not to be had
    if rises_again(held_out_losses(steps)):
        return f"more or other examples{'' if made else ', fewer epochs'} or a smaller learning rate"
    if recipe.peak < LEARNING_RATES[recipe.method] / FAR_LOWER:
        return "a larger learning rate"
    if has_turned(held_out_losses(steps)):
        return "more or other examples"
    return f"more examples or more than {made:.3g} epochs" if made else "more examples or epochs"


def epochs_beyond(recipe: Recipe, steps: Sequence[TrainingStep]) -> float:
    """How many epochs a run takes whose steps would be too few by its recipe; 0 = as many as were asked for.

    Args:
        recipe: What was asked for.
        steps: The run's log.
    """
    last = next((step for step in reversed(steps) if step.step and step.epoch), None)
    planned = last.steps * last.epoch / last.step if last else 0.0
    return planned if planned > CLEARLY_MORE * recipe.epochs else 0.0


def baseline_words(outcome: Outcome) -> str:
    """What the main score is without this model, as HTML; "" = nobody knows."""
    main = main_score(outcome)
    found = outcome.baselines.items() if main else ()
    return ", ".join(f"{escape(other)} {score_words(main[0], score)}" for other, score in found)


def range_words(name: str, value: float, count: int) -> str:
    """The 95 % interval of a share of right answers that so few examples allow; "" of another score."""
    if name != "accuracy" or not count:
        return ""
    low, high = share_interval(value, count)
    return f" (95 % interval {half_up(100 * low, 0)} to {half_up(100 * high, 0)} %)"
