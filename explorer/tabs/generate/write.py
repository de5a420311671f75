"""View: a text as it is written, token by token, and every other text that it might have become."""

import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Literal

import gradio as gr

from explorer import analysis
from explorer.analysis.blanks import check_characters
from explorer.analysis.branches import ROOT, Tree, choose, drawn_since, go_to, grow, token_ids, written_text
from explorer.errors import UnsuitableText
from explorer.figures.explore_links import text_links
from explorer.figures.sentences import caption
from explorer.figures.writing import sheet, step_line, tail_lines
from explorer.models.catalogue import CAUSAL_MODEL
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.generate.controls import SLIDERS, acting, acts, in_words
from explorer.tabs.generate.desk import Desk
from explorer.tabs.generate.first_text import first_options
from explorer.tabs.generate.view import Prompt
from explorer.tabs.kinds import told
from explorer.tabs.messages import QUIET, explain, stopped_box
from explorer.tabs.seeds import MOST_SEED, read_seed
from explorer.tabs.streaming import stream_steps
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/1904.09751"
UPDATE_SECONDS = 0.05  # the eye sees no more, and each update costs the page some milliseconds
LINKED = "a link keeps the settings: neither branches, nor where it was stopped or written on"
NOTHING_NEW = (gr.skip(), gr.skip(), gr.skip())  # where nothing is yielded, Gradio empties all outputs
FIRST_COLOUR = "probability"  # a key of MEASURES in assets/tokens.js
ENTER = """() => {  // other views are of the text itself, and drawn anew as it is typed
  if (document.querySelector(':is([data-tab-id="write"], [data-tab-id="next"])[aria-selected="true"]'))
    document.querySelector('#generate-write').click();
}"""
FORGET_REFUSED = """said => {  // the other views answer by themselves
  const isIn = document.querySelector('[data-tab-id="write"][aria-selected="true"]');
  return isIn && said?.includes('message error') ? '' : said ?? '';
}"""
ON_LOAD = "explorer.writing(element, trigger, props, watch);"


@dataclass(frozen=True)
class Clicked:
    """A button of the sheet, or an alternative to a token.

    Attributes:
        act: What is wanted: to "show" a branch, to "choose" another token, "more" of this one, or what a link that was
            "opened" asks for.
        leaf: Index of the token that the branch to be shown ends with.
        node: Index of the token in whose place another one is chosen.
        token: Id of that one.
    """

    act: Literal["show", "choose", "more", "opened"]
    leaf: int = ROOT
    node: int = ROOT
    token: int = ROOT


def build(registry: Registry, prompt: Prompt, desk: gr.State, first: Tree, write: gr.Button) -> View:
    """Lay out the view, drawn with a finished example, and wire it.

    Args:
        registry: The models on offer.
        prompt: What it goes on from.
        desk: Of the visitor.
        first: The example.
        write: Writes.
    """
    with gr.Tab("Write", id="write") as tab:
        colour = gr.Textbox(FIRST_COLOUR, visible="hidden", elem_id="generate-colour")  # writing.js puts it there
        paper = gr.HTML(
            sheet(first, 0, is_writing=False), html_template="<div></div>", js_on_load=ON_LOAD, padding=False,
            elem_classes="result", elem_id="sheet",
        )  # fmt: skip
        below = gr.HTML(draw_foot(first, first_code()), padding=False)

    def begin(
        desk: Desk,
        model: str,
        text: str,
        strategy: str,
        length: int,
        seed: int,
        *values: float,
        is_opened: bool = False,
    ) -> Iterator[tuple]:
        turn = desk.take()  # first: what is still being written must not grow on what comes next
        if not turn:
            yield NOTHING_NEW
            return
        try:
            check_characters(model)
            check_characters(text)
        except UnsuitableText as error:  # the sheet shows both at once
            yield _finished(desk, turn, message=explain(error))
            return
        before = desk.tree, desk.codes
        desk.turn_to(model, text)
        if is_opened:  # nobody has seen the example's own branch
            desk.tree, desk.codes = Tree(model, text), {}
        yield from _write(registry, desk, strategy, length, seed, values, before=before)

    def go_on(
        event: gr.EventData, desk: Desk, model: str, text: str, strategy: str, length: int, seed: int, *values: float
    ) -> Iterator[tuple]:
        asked = told(event, Clicked)
        if asked.act == "opened":
            yield from begin(desk, model, text, strategy, length, seed, *values, is_opened=True)
            return
        turn = desk.take()
        if not turn:
            yield NOTHING_NEW
            return
        is_shown_only = asked.act == "show"
        try:
            if asked.act == "show":
                desk.tree = go_to(desk.tree, asked.leaf)
            if asked.act == "choose":
                desk.tree = choose(desk.tree, asked.node, asked.token)
        except ValueError:  # clicked on a text that another has replaced since
            is_shown_only = True
        if is_shown_only:
            now = in_words(strategy, dict(zip(SLIDERS, values, strict=True)), read_seed(seed))
            yield _finished(desk, turn, is_other=_how(desk.tree) not in ("", now))
            return
        yield from _write(registry, desk, strategy, length, seed, values)

    inputs = [desk, prompt.model, prompt.text, prompt.strategy, prompt.length, prompt.seed]
    inputs += [prompt.controls[name] for name in SLIDERS]
    outputs = [prompt.message, paper, below]
    # Gradio's default would drop a click while a text is written, which is when an alternative is clicked.
    event = {"inputs": inputs, "outputs": outputs, "trigger_mode": "multiple", **QUIET}
    runs = [write.click(begin, **event), paper.select(go_on, **event)]
    prompt.text.submit(None, None, None, js=ENTER, **QUIET)
    prompt.strategy.select(None, None, None, js="() => explorer.setAnew()", **QUIET)
    prompt.model.change(None, prompt.model, None, js="model => explorer.askedWriter(model)", **QUIET)
    for box in (prompt.text, prompt.model):  # what was refused is another text now
        box.change(None, prompt.message, prompt.message, js=FORGET_REFUSED, **QUIET)
    colour.change(None, colour, None, js="measure => explorer.colourBy(measure)", **QUIET)

    def end(desk: Desk, shown: str) -> tuple:
        if not desk.is_writing:
            return stopped_box(shown), gr.skip(), gr.skip()
        turn = desk.take()
        return _finished(desk, turn, is_stopped=True) if turn else NOTHING_NEW

    return View(tab, linked={"colour": colour}, runs=runs, stop=(end, [desk, prompt.message], outputs))


def draw_foot(tree: Tree, code: str) -> str:
    """Under the text: who wrote it and how, what to take away, and where else the text can be looked at."""
    measured = "probabilities of the model itself, before the controls, over the whole vocabulary"
    foot = caption(
        [
            tree.model,
            _how(tree),
            measured,
            LINKED,
        ],
        PAPER,
    )
    elsewhere = text_links(tree.model, tree.prompt, written_text(tree, tree.here)) if tree.here != ROOT else ""
    return foot + elsewhere + download_links(tree, "steps", code=code)


def _how(tree: Tree) -> str:
    """The settings that the branch in sight was written under."""
    return tree.nodes[tree.here].how if tree.here != ROOT else ""


def _finished(
    desk: Desk, turn: int, *, is_stopped: bool = False, is_other: bool = False, message: object = ""
) -> tuple:
    """All outputs, after which nothing more comes of a turn."""
    desk.end(turn)
    paper = sheet(desk.tree, turn, is_writing=False, is_stopped=is_stopped, is_other=is_other)
    return message, paper, draw_foot(desk.tree, desk.code_in_sight)


def _write(
    registry: Registry,
    desk: Desk,
    strategy: str,
    length: int,
    seed: float | None,
    values: Sequence[float],
    before: tuple[Tree, dict[int, str]] | None = None,
) -> Iterator[tuple]:
    """Go on from the end of the branch in sight, and tell the page what is new from time to time.

    Where nothing could be written after a prompt, the tree before it comes back.
    """
    turn, tree, codes, same = desk.take(), desk.tree, desk.codes, gr.skip()
    if not turn:
        yield NOTHING_NEW
        return
    settings, seed = dict(zip(SLIDERS, values, strict=True)), read_seed(seed)
    written, how = token_ids(tree, tree.here), in_words(strategy, settings, seed)
    lines = sheet(tree, turn, is_writing=True)
    yield "", lines, same
    options = {"prompt": tree.prompt, "strategy": strategy, "max_new_tokens": int(length)}
    drawn = drawn_since(tree, how) if acts(strategy, "seed") else 0
    options |= {"seed": _seed_there(seed, written[: len(written) - drawn]), "written": written}
    options |= ({"drawn": drawn} if drawn else {}) | acting(strategy, settings)
    ask, code = partial(analysis.continue_text, **options, tells_waiting=True), _code(tree.model, options)
    message, told = "", 0.0
    with closing(stream_steps(registry, tree.model, ask)) as steps:
        for message, step in steps:
            if step:
                tree = grow(tree, step, how)
                lines += step_line(tree, tree.here)
            if desk.turn != turn:  # another thread has put its own tree there
                return
            desk.tree, desk.codes = tree, codes | {tree.here: code}
            if message or time.monotonic() - told >= UPDATE_SECONDS:
                yield message, lines, same
                told = time.monotonic()
    if desk.turn == turn and tree.here == ROOT and before is not None:  # refused: the message says why
        desk.tree, desk.codes = before
        yield _finished(desk, turn, message=message)
    elif desk.turn == turn:
        desk.end(turn)
        yield message, lines + "".join(tail_lines(tree)), draw_foot(tree, desk.code_in_sight)


def first_code() -> str:
    """Code that writes the example."""
    return _code(CAUSAL_MODEL, first_options())


def _code(model: str, options: dict[str, object]) -> str:
    return code_of((model, "continue_text", options))


def _seed_there(seed: int, written: tuple[int, ...]) -> int:
    """A seed for each branch: with the same lots after another word, texts would come together again.

    Args:
        seed: As it was asked for.
        written: What stood there before the first token was drawn with it.
    """
    return zlib.crc32(f"{seed} {written}".encode()) % (MOST_SEED + 1) if written else seed
