"""View: what a tuned model takes for what, and its single answers, sorted by how sure it is of them."""

from __future__ import annotations

import gradio as gr

from explorer.figures.class_balance import tags_note
from explorer.figures.confusion import (
    ORDERS,
    confusion_map,
    confusion_table,
    confusion_words,
    hardest_table,
    mistakes_table,
)
from explorer.figures.notes import note
from explorer.figures.tuning_words import score_list
from explorer.tabs.fine_tune.looking import Looked
from explorer.tabs.fine_tune.parts import Part
from explorer.tabs.fine_tune.taking import run_links
from explorer.tabs.later import later_figure
from explorer.training.tuning.recipe import LIKE
from explorer.training.tuning.suits import MAIN_SCORES

VIEW = "mistakes"
NOT_DONE = "What the model takes for what is counted when the run is done."
OF_PAIRS = (
    "The correlation asks whether pairs that people score higher get a higher cosine, wherever the two lie. Below, "
    f"{LIKE} is the border: from there on a score or a cosine counts as “similar”, under it as “different”, and ✗ "
    "marks where the two differ. How sure: the cosine where it is similar, 1 less the cosine where not."
)
OF_BLANKS = (
    "The scores are of all tokens, many of them short and easy. Below, one word of each text is left out: the longest "
    "that is one token, its first word aside; that is seldom an easy one."
)
NOTHING = "This task has no single answers to be right or wrong; its scores say how well it does."


def build(first: Looked) -> tuple[gr.Tab, Part, gr.components.Component]:
    """Lay out the view; returns its order of examples, too, which a link restores."""
    start = next(iter(ORDERS))
    said, _, numbers, table, foot = draw(first, start)  # plotly draws nothing where it is not in sight
    with gr.Tab("Confusion and mistakes", id=VIEW, elem_id=f"tune-view-{VIEW}") as tab:
        words = gr.HTML(said, padding=False, elem_classes="result", elem_id="tune-confusion-words")
        with gr.Column(elem_classes="with-figure"):
            figure = later_figure("tune-confusion")
            below = gr.HTML(numbers, padding=False)
        order = gr.Radio(
            [(label, key) for key, label in ORDERS.items()], value=start, label="Which examples", show_label=False,
            container=False, elem_id="tune-order",
        )  # fmt: skip
        examples = gr.HTML(table, padding=False, elem_classes="result", elem_id="tune-mistakes")
        links = gr.HTML(foot, padding=False)

    def update(looked: Looked, order: str) -> tuple:
        said, plot, *rest = draw(looked, order)
        return said, gr.Plot(plot, visible=plot is not None), *rest, gr.Radio(visible=has_answers(looked))

    part = Part(
        VIEW, VIEW, [words, figure, below, examples, links, order], update,
        lambda looked, order: (looked.status.id, looked.run, looked.outcome is not None, order), [order],
    )  # fmt: skip
    return tab, part, order


def has_answers(looked: Looked) -> bool:
    """Whether there are examples that a model can be right or wrong about."""
    return looked.outcome is not None and any(one.is_right is not None for one in looked.outcome.judged)


def draw(looked: Looked, order: str) -> tuple:
    """Words, map (None = there is none), its numbers, the single examples, and what can be taken away."""
    outcome = looked.outcome
    if outcome is None:
        return note(NOT_DONE), None, "", "", ""
    notes = score_list(outcome.scores, looked.the_run.recipe.task) + "".join(map(note, outcome.notes))
    has_map = bool(outcome.labels and outcome.confusion)
    if not outcome.judged:
        table = note(NOTHING)
    elif has_answers(looked):
        notes += note(OF_PAIRS) if "spearman" in outcome.scores else ""
        notes += note(OF_BLANKS) if looked.the_run.recipe.task == "masked" else ""
        notes += tags_note(label[2:] for label in outcome.labels) if looked.the_run.recipe.task == "tagging" else ""
        by_cosine = MAIN_SCORES["similarity"] in outcome.scores
        table = mistakes_table(outcome.judged, order if order in ORDERS else "wrong", by_cosine=by_cosine)
    else:
        table = hardest_table(outcome.judged)
    counted = "words" if looked.the_run.recipe.task == "tagging" else "examples"
    total = f" of {sum(map(sum, outcome.confusion)):,} words" * (counted == "words")  # examples are counted anyway
    picture = f"Confusion matrix{total}" if has_map else ""
    links = run_links(looked, ("confusion", "judged"), "mistakes", picture)
    if not has_map:
        return notes, None, "", table, links
    return (
        confusion_words(outcome, counted) + notes,
        confusion_map(outcome),
        confusion_table(outcome),
        table,
        links,
    )
