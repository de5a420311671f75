"""The sentence as a row of words: a click blanks a word, another click puts it back; several can become one blank."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.blanks import check_characters
from explorer.analysis.words import blank_words, carry_hidden, split_words, toggle_blank
from explorer.errors import UnsuitableText
from explorer.figures.sentences import word_buttons
from explorer.tabs.kinds import told
from explorer.tabs.messages import QUIET

# A blank that hides no word is marked in the text box, BOX, to be written over. Dragged over with a mouse, or from the
# word clicked before to one clicked with Shift, words become one blank.
ON_LOAD = """
const of = node => node && element.contains(node) ? node.closest('.word') : null;
const at = word => Number(word.dataset.index);
let anchor = null, from = null, to = null;
const writeOver = ({start, end}) => { // the server counts characters, the browser halves of some
  const area = document.querySelector('#BOX textarea');
  const units = count => [...area.value].slice(0, Number(count)).join('').length;
  area.focus();
  area.setSelectionRange(units(start), units(end));
};
const mark = (first, last) => element.querySelectorAll('.word').forEach(word => word.classList.toggle(
  'taken', first !== null && at(word) >= Math.min(first, last) && at(word) <= Math.max(first, last)));
const take = (first, last) => {
  anchor = Math.min(first, last);
  trigger('select', {index: anchor, last: Math.max(first, last)});
};
element.addEventListener('click', event => {
  const join = event.target.closest('.join'), word = of(event.target);
  if (join) take(Number(join.dataset.index), Number(join.dataset.last));
  if (!word) return;
  if (event.shiftKey && anchor !== null && anchor !== at(word)) return take(anchor, at(word));
  anchor = at(word);
  if (word.dataset.start) return writeOver(word.dataset);
  trigger('select', {index: anchor});
});
element.addEventListener('pointerdown', event => {
  const word = event.pointerType !== 'touch' && event.button === 0 ? of(event.target) : null;
  from = to = word ? at(word) : null;
});
element.addEventListener('pointerover', event => {
  const word = of(event.target);
  if (from === null || !word) return;
  to = at(word);
  mark(to === from ? null : from, to);
});
document.addEventListener('pointerup', () => { // what is marked is taken: words may have moved from under the pointer
  const first = from, last = to;
  from = to = null;
  mark(null, null);
  if (first !== last) take(first, last);
});
"""


@dataclass(frozen=True)
class Clicked:
    """A word, or several that are to be one blank.

    Attributes:
        index: Which word of the text, or the first of them.
        last: The last of several.
    """

    index: int
    last: int | None = None


@dataclass(frozen=True)
class Hidden:
    """What the blanks of a text hide.

    Attributes:
        text: The text.
        words: For each of its blanks in order, the word or words it hides, or "".
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
    """Lay out the strip and wire it to the text box, which has an elem_id."""
    hidden = gr.State(Hidden(value))
    strip = gr.HTML(
        word_buttons(split_words(value)), js_on_load=ON_LOAD.replace("BOX", text.elem_id), padding=False,
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
        clicked = told(event, Clicked)
        if clicked.last is None:
            changed, words = toggle_blank(written, now.words, clicked.index)
        else:
            changed, words = blank_words(written, now.words, clicked.index, clicked.last)
        return changed, Hidden(changed, words), word_buttons(split_words(changed, words))

    strip.select(click, [text, hidden], [text, hidden, strip], trigger_mode="multiple", **QUIET)
    changed = text.change(follow, [text, hidden], [hidden, strip], **QUIET)  # input does not fire for pasted text
    return WordStrip(strip, hidden, changed)


def show_words(text: str) -> tuple[Hidden, str]:
    """State and value of the strip for a text that was put in whole, e.g. an example."""
    return Hidden(text), word_buttons(split_words(text))
