"""How often XLM-R reads which language: the one part of "How it was trained" that needs no model."""

import gradio as gr

from explorer.analysis.language_sampling import PAPER_URL, sample_languages
from explorer.figures.languages import language_bars
from explorer.figures.sentences import caption
from explorer.tabs.formulas import LATEX
from explorer.tabs.messages import QUIET
from explorer.tabs.taking_away import download_links

XLM_R_ALPHA = 0.3
WHAT = """A language with share $p_i$ of the text is read with probability $q_i \\propto p_i^{\\alpha}$: a small
$\\alpha$ lifts small languages, whose texts are then seen again and again. XLM-R took 0.3, XLM 0.5, mBERT 0.7."""


def build_languages() -> None:
    """Lay out the fold and wire its slider."""
    with gr.Accordion("Many languages: how often XLM-R reads each", open=False):
        gr.Markdown(WHAT, latex_delimiters=LATEX)
        alpha = gr.Slider(0, 1, XLM_R_ALPHA, step=0.05, label="α", info="1 = as in the corpus, 0 = all alike.")
        bars = gr.HTML(_draw(XLM_R_ALPHA), padding=False)
    alpha.change(_draw, alpha, bars, **QUIET)


def _draw(alpha: float) -> str:
    source = ["corpus CC-100", "12 of its 100 languages, shares among these", "Conneau et al. 2020, Table 6"]
    shares = sample_languages(alpha)
    return language_bars(shares) + caption([f"α = {alpha:g}", *source], PAPER_URL) + download_links(shares, "languages")
