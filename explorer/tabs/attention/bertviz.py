"""View: the same weights as bertviz draws them, for short texts."""

import gradio as gr

from explorer.analysis.attention_packing import head_counts
from explorer.errors import UnsuitableText
from explorer.figures.attention_words import heads_note
from explorer.figures.bertviz import bertviz_frame, most_tokens
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.attention.readings import Ask, Readings, tidy_ask
from explorer.tabs.attention.view import Prompt
from explorer.tabs.attention.which import read_which
from explorer.tabs.messages import in_place
from explorer.tabs.views import View

PAPER = "https://aclanthology.org/P19-3007"
ENLARGE = (
    "Press a head to enlarge it, or walk there by arrow keys and press Enter. In a narrow window the drawing scrolls "
    "to the side."
)
CHOICES = [("Head view", "head"), ("Model view", "model")]


def build(registry: Registry, prompt: Prompt, readings: Readings) -> View:
    """Lay out the view."""
    with gr.Tab("bertviz", id="bertviz") as tab:
        kind = gr.Radio(
            CHOICES, value="head", label="Drawing", show_label=False, container=False, elem_id="bertviz-kind"
        )
        frame = gr.HTML(padding=False, elem_classes="result", elem_id="attention-bertviz")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2, ability=Ability.EMBED)
    def draw(models: Registry, model: str, text: str, second: str, new_tokens: int, which: str, kind: str) -> tuple:
        ask = tidy_ask(models, model, Ask(model, text, second, int(new_tokens)))
        reading = readings.all_layers(models, ask)
        longest = max(len(stack.queries) for stack in reading.stacks)
        most = most_tokens(reading)
        if longest > most:
            raise UnsuitableText(
                f"bertviz draws at most {most} tokens of {reading.model}, and this text has {longest:,}. Take a "
                f"shorter text here; the views Head and All heads draw any length."
            )
        at = read_which(which, head_counts(reading))
        foot = caption([reading.model, "drawn by bertviz 1.4.1 (Vig 2019)", "weights at four decimals",
                        "its layers and heads count from 0"], PAPER)  # fmt: skip
        how = note(ENLARGE) if kind == "model" else ""
        return bertviz_frame(reading, kind, at.stack, at.layer or 0, at.head), how + heads_note(reading) + foot

    return View(tab, draw, [*prompt.inputs, prompt.which, kind], [frame, below], {"bertviz": kind})
