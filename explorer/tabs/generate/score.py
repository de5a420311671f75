"""View: how expected a text is, token by token, to one model or to two side by side."""

from collections.abc import Iterator
from functools import partial

import gradio as gr

from explorer import analysis
from explorer.analysis.score_comparison import compare_scores
from explorer.figures.notes import itself_note
from explorer.figures.scores import comparison_table, protocol_note, score_table, scored_texts
from explorer.figures.sentences import caption
from explorer.models.card import Ability, ModelCard
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.generate.view import Prompt
from explorer.tabs.messages import in_place
from explorer.tabs.picker import beside_options, offer_own
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

ABILITIES = (Ability.GENERATE, Ability.FILL_BLANKS, Ability.PREDICT_BOTH_WAYS)
HIDES = [("one token at a time", "one_masked"), ("a token and the rest of its word", "word_masked")]
SOURCE = "https://arxiv.org/abs/1910.14659"
BOTH = {  # of code_of
    "imports": ["from explorer.analysis.score_comparison import compare_scores"],
    "made": "compare_scores(result_1, result_2)",
}


def scoring_models(registry: Registry) -> list[str]:
    """Names of the models that say how likely a text is."""
    return list(dict.fromkeys(name for ability in ABILITIES for name in registry.names(ability)))


def scores_texts(card: ModelCard) -> bool:
    """Whether a model says how likely a text is."""
    return any(ability in card.abilities for ability in ABILITIES)


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view."""
    names = scoring_models(registry)

    def offer() -> list[tuple[str, str]]:
        return [("No other model", ""), *beside_options(registry, names)]

    with gr.Tab("Score", id="score") as tab:
        with gr.Row(elem_classes="controls"):
            other = gr.Dropdown(
                offer(), value=DEFAULT_MODEL if DEFAULT_MODEL in names else "", label="Beside it", scale=2,
                info="The text in the box is scored by this model, too.", allow_custom_value=True,
                elem_classes="beside-model",
            )  # fmt: skip
            offer_own(other, offer, scores_texts)
            hides = gr.Radio(HIDES, value="one_masked", label="A masked model hides", scale=3)
        texts = gr.HTML(padding=False, elem_classes="result", elem_id="scored-texts")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2)
    def draw_all(models: Registry, names: list[str], text: str, hides: str) -> tuple:
        scores, asked = [], []
        for name in dict.fromkeys(names):
            protocol = hides if Ability.FILL_BLANKS in models.card(name).abilities else ""
            options = {"text": text, "protocol": protocol}
            scores.append(models.run(name, partial(analysis.score_text, **options)))
            asked.append((name, "score_text", options))
        compared = compare_scores(*scores) if len(scores) == 2 else None
        table = comparison_table(compared) if compared else score_table(scores[0])
        foot = caption([score.model for score in scores] + ["surprisal: −log₂ p of each token, in bits"], SOURCE)
        links = download_links(compared or scores[0], "score", code=code_of(*asked, **(BOTH if compared else {})))
        return scored_texts(scores) + table, itself_note(names) + protocol_note(scores) + foot + links

    def draw(model: str, text: str, other: str, hides: str) -> Iterator[tuple]:
        yield from draw_all([model, other] if other else [model], text, hides)

    inputs = [prompt.model, prompt.text, other, hides]
    return View(tab, draw, inputs, [texts, below], {"score_with": other, "hides": hides})
