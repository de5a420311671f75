"""The sentence as a row of words: a click blanks a word, another click puts it back."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.blanks import check_characters
from explorer.analysis.words import carry_hidden, split_words, toggle_blank
from explorer.errors import UnsuitableText
from explorer.figures.sentences import word_buttons
from explorer.tabs.kinds import told
from explorer.tabs.messages import QUIET

ON_LOAD = """
element.addEventListener('click', event => {
  const word = event.target.closest('.word');
  if (word) trigger('select', {index: Number(word.dataset.index)});
});
"""


@dataclass(frozen=True)
class Clicked:
    """A word.

    Attributes:
        index: Which word of the text.
    """

    index: int


@dataclass(frozen=True)
class Hidden:
    """What the blanks of a text hide.

    Attributes:
        text: The text.
        words: For each of its blanks in order, the word it hides, or "".
    """

    text: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class WordStrip:
    """The strip on the page.

    Attributes:
        words: The row of words.
        hidden: What the blanks of the text hide.
        changed: Event after which the sentence is another one, however that came about.
    """

    words: gr.HTML
    hidden: gr.State
    changed: gr.events.Dependency


def build_word_strip(text: gr.Textbox, value: str) -> WordStrip:
    """Lay out the strip and wire it to the text box."""
    hidden = gr.State(Hidden(value))
    strip = gr.HTML(
        word_buttons(split_words(value)), js_on_load=ON_LOAD, padding=False,
        elem_classes="word-strip", label="Click a word to blank it",
    )  # fmt: skip

    def follow(written: str, before: Hidden) -> tuple[Hidden, str]:
        try:
            check_characters(written)
        except UnsuitableText:  # the view in sight says why; what is hidden comes back with a text that can be read
            return before, word_buttons(())
        words = carry_hidden(before.text, before.words, written)
        return Hidden(written, words), word_buttons(split_words(written, words))

    def click(written: str, before: Hidden, event: gr.EventData) -> tuple[str, Hidden, str]:
        now, shown = follow(written, before)
        if now.text != written:
            return gr.skip(), now, shown
        changed, words = toggle_blank(written, now.words, told(event, Clicked).index)
        return changed, Hidden(changed, words), word_buttons(split_words(changed, words))

    strip.select(click, [text, hidden], [text, hidden, strip], trigger_mode="multiple", **QUIET)
    changed = text.change(follow, [text, hidden], [hidden, strip], **QUIET)  # input does not fire for pasted text
    return WordStrip(strip, hidden, changed)


def show_words(text: str) -> tuple[Hidden, str]:
    """State and value of the strip for a text that was put in whole, e.g. an example."""
    return Hidden(text), word_buttons(split_words(text))
