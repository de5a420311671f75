"""The sentence as a row of words: a click blanks a word, another click puts it back."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.words import split_words, toggle_blank
from explorer.figures.sentences import word_buttons
from explorer.tabs.messages import QUIET

ON_LOAD = """
element.addEventListener('click', event => {
  const word = event.target.closest('.word');
  if (word) trigger('select', {index: Number(word.dataset.index)});
});
"""


@dataclass(frozen=True)
class WordStrip:
    """The strip on the page.

    Attributes:
        words: The row of words.
        hidden: What each blank hides, in order.
        changed: Event after which the sentence is another one, however that came about.
    """

    words: gr.HTML
    hidden: gr.State
    changed: gr.events.Dependency


def build_word_strip(text: gr.Textbox, value: str) -> WordStrip:
    """Lay out the strip and wire it to the text box."""
    hidden = gr.State(())
    strip = gr.HTML(
        word_buttons(split_words(value)), js_on_load=ON_LOAD, padding=False,
        elem_classes="word-strip", label="Click a word to blank it",
    )  # fmt: skip

    def click(written: str, hides: tuple[str, ...], event: gr.EventData) -> tuple:
        changed, hides = toggle_blank(written, tuple(hides), int(event._data["index"]))
        return changed, hides, word_buttons(split_words(changed, hides))

    def follow(written: str, hides: tuple[str, ...]) -> tuple:
        words = split_words(written, tuple(hides))
        kept = tuple(word.hidden for word in words if word.is_blank)
        return kept, word_buttons(words)

    strip.select(click, [text, hidden], [text, hidden, strip], trigger_mode="multiple", **QUIET)
    changed = text.change(follow, [text, hidden], [hidden, strip], **QUIET)  # input does not fire for pasted text
    return WordStrip(strip, hidden, changed)


def show_words(text: str) -> tuple[tuple, str]:
    """State and value of the strip for a text that was put in whole, e.g. an example."""
    return (), word_buttons(split_words(text))
