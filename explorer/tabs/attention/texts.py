"""What is read beside the text: the second of a pair, what a decoder reads, or what the model writes first."""

from collections.abc import Iterable

import gradio as gr

from explorer.analysis.blanks import BLANK, FOREIGN_MASK, find_blanks
from explorer.errors import ExplorerError
from explorer.figures.notes import note
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.attention.readings import writes_on
from explorer.tabs.attention.view import Prompt
from explorer.tabs.messages import QUIET
from explorer.tabs.visitors import find_model

PAIR = {"label": "Second text", "info": "Optional: the model reads both as a pair.", "placeholder": ""}
BEHIND = {"label": "Written behind it", "info": "Optional: then the model writes nothing itself.", "placeholder": ""}
DECODER = {"label": "The decoder reads", "info": "Empty: the model writes it itself.", "placeholder": ""}


def second_box(registry: Registry, model: str, value: str) -> gr.Textbox:
    """The box of the second text, as the model uses it."""
    return gr.Textbox(value, lines=1, max_lines=4, elem_id="attention-second", **_second(registry.card(model)))


def has_stacks(card: ModelCard) -> bool:
    """Whether a model has heads of three kinds: its encoder's, its decoder's and those between them."""
    return Ability.FILL_SPANS in card.abilities


def follow_model(
    registry: Registry, prompt: Prompt, stack: gr.Radio, changed: gr.events.Dependency
) -> gr.events.Dependency:
    """Offer what the chosen model can read beside the text, and the kinds of its heads.

    Args:
        registry: The models on offer.
        prompt: Its second text is named by its use; its written tokens are hidden where the model has no use for them.
        stack: Likewise.
        changed: The event of another model.

    Returns:
        The event after which they are offered.
    """

    def offer(model: str) -> tuple:
        try:
            models, name = find_model(registry, model)
            card = models.card(name)
        except ExplorerError:  # the view in sight, which asks the model next, says what is wrong
            return gr.skip(), gr.skip(), gr.skip()
        return gr.Textbox(**_second(card)), gr.Slider(visible=writes_on(card)), gr.Radio(visible=has_stacks(card))

    return changed.then(offer, prompt.model, [prompt.second, prompt.new_tokens, stack], **QUIET)


def what_is_read(card: ModelCard, second_text: str | None) -> str:
    """What an answer is of: the visitor's text, and what was read beside it."""
    if second_text is None:
        return "your text"
    if writes_on(card):
        return "your text and what was written behind it"
    return "your text, and what the decoder reads" if has_stacks(card) else "your two texts, read as a pair"


def blank_note(card: ModelCard, text: str, tokens: Iterable[str] = ()) -> str:
    """What a model makes of blanks that it cannot fill; "" where there is nothing to say.

    Args:
        card: Of the model.
        text: As it was typed.
        tokens: What was read of it; a mask among them stands for the blank.
    """
    if not find_blanks(text, None) or card.abilities & {Ability.FILL_BLANKS, Ability.FILL_SPANS}:
        return ""
    mask = next((token for token in tokens if FOREIGN_MASK.fullmatch(token)), "")
    read = f"{mask}, and does not say what stood there" if mask else "underscores"
    return note(f"{card.name} fills no blanks: it reads {BLANK} as {read}.")


def _second(card: ModelCard) -> dict[str, object]:
    """What the box is for."""
    return BEHIND if writes_on(card) else DECODER if has_stacks(card) else PAIR
