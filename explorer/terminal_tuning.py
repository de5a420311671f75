"""Fine-tuning as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.training.tuning.results import Outcome, TrainingStep

MOST_MISTAKES = 5


def describe_step(step: TrainingStep) -> str:
    """What was measured at a step, to stand behind its loss; "" = nothing."""
    if step.held_out_loss is None:
        return ""
    score = "" if step.score is None else f", score {step.score:.3f}"
    return f" · held-out {step.held_out_loss:.3f}{score}"


def describe_outcome(outcome: Outcome) -> str:
    """Scores beside what needs no model, then mistakes, mix and movements, then what to know."""
    rows = [["held-out", "value"]]
    rows += [[name.replace("_", " "), f"{value:.4f}"] for name, value in outcome.scores.items()]
    rows += [[f"({name})", f"{value:.4f}"] for name, value in outcome.baselines.items()]
    parts = [columns(rows, right=[1])]
    mistakes = [one for one in outcome.judged if one.is_right is False][:MOST_MISTAKES]
    if mistakes and outcome.labels:
        rows = [["right", "said", "sure", "text"]]
        rows += [[one.gold, one.predicted, percent(one.probability), one.text[:80]] for one in mistakes]
        parts.append("Most confident mistakes\n" + columns(rows, right=[2]))
    for one in outcome.before_and_after:
        parts.append(f"{one.text}\n  before: {one.before}\n  after:  {one.after}")
    if outcome.mix:
        parts.append("Mix of the layers: " + " · ".join(f"{layer} {percent(w)}" for layer, w in enumerate(outcome.mix)))
    if any(movement.relative for movement in outcome.movements if movement.part != "head"):
        moved = " · ".join(f"{one.part} {percent(one.relative)}" for one in outcome.movements)
        parts.append(f"How far the weights moved: {moved}")
    about = f"{outcome.trained_parameters:,} weights moved in {outcome.seconds:.0f} s of training."
    saved = f"Saved in {outcome.folder}" if outcome.folder else ""
    return "\n\n".join([*parts, "\n".join(part for part in (*outcome.notes, about, saved) if part)])
