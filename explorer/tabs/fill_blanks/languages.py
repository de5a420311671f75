"""How often XLM-R reads which language: the one part of "How it was trained" that needs no model."""

import gradio as gr

from explorer.analysis.cc100 import CC100_GIB
from explorer.analysis.language_sampling import PAPER_URL, XLM_R_ALPHA, sample_languages
from explorer.figures.languages import language_bars
from explorer.figures.sentences import caption
from explorer.tabs.code import code_of
from explorer.tabs.formulas import LATEX
from explorer.tabs.messages import QUIET
from explorer.tabs.taking_away import download_links

WHAT = """A language with share $p_i$ of the text is read with probability $q_i \\propto p_i^{\\alpha}$: a small
$\\alpha$ lifts small languages, whose texts are then seen again and again. XLM-R took 0.3, XLM 0.5, mBERT 0.7."""
SAMPLING = "from explorer.analysis.language_sampling import sample_languages"
FIRST = ("English", "Russian", "Vietnamese", "German", "Japanese", "Arabic", "Hindi", "Tamil", "Swahili", "Yiddish")


def build_languages() -> dict[str, gr.components.Component]:
    """Lay out the fold and wire its controls; returns what a link restores of it, by its names.

    What stands in a closed fold is not on the page yet, and reports no change: page.js opens it for a link that names
    one of them, and then it is drawn.
    """
    with gr.Accordion("Many languages: how often XLM-R reads each", open=False, elem_id="fold-languages") as fold:
        gr.Markdown(WHAT, latex_delimiters=LATEX)
        with gr.Row(elem_classes="controls"):
            alpha = gr.Slider(0, 1, XLM_R_ALPHA, step=0.05, label="α", info="1 = as in the corpus, 0 = all alike.")
            chosen = gr.Dropdown(
                list(CC100_GIB), value=list(FIRST), multiselect=True, label="Languages shown",
                info=f"Any of its {len(CC100_GIB)}; all of them are counted, shown or not.",
            )  # fmt: skip
        bars = gr.HTML(draw_languages(XLM_R_ALPHA, list(FIRST)), padding=False)
    events = [fold.expand, alpha.change, chosen.change]
    gr.on(events, draw_languages, [alpha, chosen], bars, **QUIET)
    return {"alpha": alpha, "languages": chosen}


def draw_languages(alpha: float, chosen: list[str]) -> str:
    """The bars of some languages, from the one with most text to the one with least, and what all have together."""
    shares = sample_languages(alpha)
    shown = set(chosen)
    source = [f"corpus CC-100: {len(shares)} languages, {sum(CC100_GIB.values()):,.0f} GiB", "p by size, in GiB"]
    line = caption([f"α = {alpha:g}", *source, "Conneau et al. 2020, Table 6"], PAPER_URL)
    code = code_of(imports=[SAMPLING], made=f"sample_languages({alpha!r})")
    return language_bars(shares, shown) + line + download_links(shares, "languages", code=code)
