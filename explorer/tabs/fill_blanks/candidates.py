"""View: the visitor's own candidates beside the model's choices."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.errors import UnsuitableText
from explorer.figures.bars import candidate_bars
from explorer.figures.sentences import caption
from explorer.models.registry import Registry
from explorer.tabs.fill_blanks.view import Sentence, View
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links


def read_candidates(lines: str) -> list[list[str]]:
    """One list per line, separated by commas or slashes; an empty line leaves its blank without candidates."""
    return [[part.strip() for part in line.replace("/", ",").split(",") if part.strip()] for line in lines.split("\n")]


def build(registry: Registry, sentence: Sentence, first: str) -> View:
    """Lay out the view."""
    with gr.Tab("My candidates", id="candidates") as tab:
        candidates = gr.Textbox(
            first, lines=2, max_lines=6, label="Candidates: one line per blank, separated by commas",
            info="Names of several words are fine. ★ marks yours; the others are the model's own choices.",
        )  # fmt: skip
        chart = gr.Plot(show_label=False, elem_classes="figure")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2)
    def draw(models: Registry, model: str, text: str, top_k: int, candidates: str) -> tuple:
        wanted = read_candidates(candidates)
        if not any(wanted):
            raise UnsuitableText("Write at least one candidate, or several separated by commas, such as: is, are, was.")
        ranking = models.run(
            model, partial(analysis.rank_candidates, text=text, candidates=wanted, top_k=int(top_k))
        )
        foot = caption([ranking.model, ranking.score], "https://arxiv.org/abs/2305.10588")
        return candidate_bars(ranking), foot + download_links(ranking, "candidates")

    inputs = [sentence.model, sentence.text, sentence.top_k, candidates]
    return View(tab, draw, inputs, [chart, below], (candidates,))
