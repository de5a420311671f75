"""What the views of the tab share: each is one question about the same sentence and model."""

from dataclasses import dataclass

import gradio as gr

from explorer.tabs.messages import error_box


@dataclass(frozen=True)
class Sentence:
    """The components every view reads.

    Attributes:
        model: Name of the chosen model.
        text: The sentence with blanks.
        top_k: Choices per blank.
        count: Completions.
        strategy: A key of STRATEGIES.
        message: Where errors and progress are shown.
    """

    model: gr.Dropdown
    text: gr.Textbox
    top_k: gr.Slider
    count: gr.Slider
    strategy: gr.Radio
    message: gr.HTML


KEPT = (gr.skip(), gr.skip())  # chart and what stands below, of an answer that is dimmed beside a refusal


def chosen_blank(which: float | None, count: int) -> int:
    """The blank that is looked at, counted from 1; 0 where there is no such one. Where there is but one, it is that.

    Args:
        which: As its box has it.
        count: How many the text has.
    """
    place = 1 if count == 1 else int(which or 0)
    return place if 1 <= place <= count else 0


def counted_box(count: int) -> str:
    """What to say below the number of a blank that a text does not have.

    Args:
        count: How many it has.
    """
    return error_box(f"The text has {count} blanks, counted from 1: choose one of them.")
