"""View: the visitor's own candidates beside the model's choices."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.blanks import split_at_any_blank
from explorer.analysis.reading import SPACE
from explorer.errors import UnsuitableCandidate
from explorer.figures.bars import candidate_bars
from explorer.figures.notes import candidates_note, folded, note, unknown_note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import KEPT, Sentence
from explorer.tabs.later import later_figure
from explorer.tabs.messages import error_box, in_place, refused_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

LONGER = (
    "A candidate of more pieces is as likely as all of them together, and so less likely: compare those of like "
    "length, or the numbers per piece in the CSV."
)
JUDGED = "As logarithms, and what of a candidate of several pieces"
MERGED = "“{}”: to {} the same tokens as another of yours, which stands for it here."
MOST_MERGED = 3  # told
MOST_REFUSED = 3  # told
NO_CANDIDATES = "Write at least one candidate above, or several separated by commas, such as: is, are, was."


def read_candidates(lines: str) -> list[list[str]]:
    """One list per line; an empty line leaves its blank without candidates.

    Candidates are parted by commas; in a line without any by semicolons, or else by slashes, as in "is/are".
    """
    marks = [next((mark for mark in ",;" if mark in line), "/") for line in lines.rstrip().split("\n")]
    parts = [line.split(mark) for line, mark in zip(lines.rstrip().split("\n"), marks, strict=True)]
    return [[part.strip() for part in line if part.strip()] for line in parts]


def without(candidate: str | None, wanted: list[list[str]]) -> list[list[str]]:
    """The candidates less one that cannot be ranked, in whichever blanks it stands."""
    return [[one for one in line if one != candidate] for line in wanted]


def told(refused: list[str]) -> str:
    """Why candidates cannot be ranked: of the first few of them, and how many more there are."""
    more = len(refused) - MOST_REFUSED
    boxes = [*map(error_box, refused[:MOST_REFUSED]), *([error_box(f"{more} more cannot be ranked.")] * (more > 0))]
    return "".join(boxes)


def build(registry: Registry, sentence: Sentence, first: str) -> View:
    """Lay out the view."""
    with gr.Tab("My candidates", id="candidates") as tab:
        candidates = gr.Textbox(
            first, lines=2, max_lines=6, label="Candidates: one line per blank, separated by commas (or is/are)",
            info="Names of several words are fine. ★ marks yours; the others are the model's own choices.",
        )  # fmt: skip
        refused = refused_place()
        chart = later_figure()
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=3, ability=Ability.FILL_BLANKS)
    def draw(models: Registry, model: str, text: str, top_k: int, candidates: str) -> tuple:
        wanted = read_candidates(candidates)
        if not any(wanted):
            return error_box(NO_CANDIDATES, is_idle=True), *KEPT
        blanks = len(split_at_any_blank(text)) - 1
        wanted += [[]] * (blanks - len(wanted))  # lines that are not there are empty
        lacking: list[str] = []  # said below their box: the sentence is well, and so may the other candidates be
        while True:
            options = {"text": text, "candidates": wanted, "top_k": int(top_k)}
            try:
                ranking = models.run(model, partial(analysis.rank_candidates, **options))
                break
            except UnsuitableCandidate as error:
                left = without(error.candidate, wanted)
                lacking.append(str(error))
                if left == wanted or not any(left):
                    return told(lacking), *KEPT
                wanted = left
        lengths = {len(candidate.tokens) for ranked in ranking.blanks for candidate in ranked}
        foot = candidates_note(ranking) + (note(LONGER) if len(lengths) > 1 else "") + folded(JUDGED, ranking.score)
        own = (candidate for ranked in ranking.blanks for candidate in ranked if candidate.is_own)
        kept = {candidate.text.removeprefix(SPACE) for candidate in own}
        merged = dict.fromkeys(candidate for line in wanted for candidate in line if candidate not in kept)
        foot += "".join(note(MERGED.format(candidate, ranking.model)) for candidate in list(merged)[:MOST_MERGED])
        foot += unknown_note(candidate.text for ranked in ranking.blanks for candidate in ranked)
        foot += caption([ranking.model, "probabilities, other blanks left open"], "https://arxiv.org/abs/2305.10588")
        code = code_of((ranking.model, "rank_candidates", options))
        links = download_links(ranking, "candidates", (ranking.text, ranking.model), code=code)
        return "", gr.Plot(candidate_bars(ranking), visible=True), told(lacking) + foot + links

    inputs = [sentence.model, sentence.text, sentence.top_k, candidates]
    return View(tab, draw, inputs, [refused, chart, below], {"candidates": candidates})
