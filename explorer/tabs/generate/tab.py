"""Layout and wiring of the tab that writes."""

import gradio as gr

from explorer.analysis.decoding_strategies import STRATEGIES
from explorer.figures.notes import length_note
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.formulas import WHY_TITLE, build_question, build_why
from explorer.tabs.gallery import build_gallery, build_look, look_line, seen_in
from explorer.tabs.generate import beams, layers, next_token, options, score, write
from explorer.tabs.generate.controls import SLIDERS, acts, build_controls, show_controls
from explorer.tabs.generate.desk import Desk
from explorer.tabs.generate.first_text import FIRST_LENGTH, FirstText, read_first_text
from explorer.tabs.generate.gallery import Start, read_gallery, values_of
from explorer.tabs.generate.length import LengthCount
from explorer.tabs.generate.view import Prompt
from explorer.tabs.links import LinkedTab
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import build_picker
from explorer.tabs.seeds import read_seed, tidy_seed
from explorer.tabs.views import View, linked_fields, wire

QUESTION = "What does a model write next when it reads from left to right, and what might it have written instead?"
WHY = """A **causal language model** (GPT and its kin) gives every token of its vocabulary a probability to come next,
from the tokens before it alone; a text is written by taking one, and asking again:

$$p(x_1 \\dots x_n) = \\prod_{i=1}^{n} p(x_i \\mid x_1 \\dots x_{i-1})$$

What is taken is not the model's choice but the **strategy's**. The likeliest token each time ends in loops; drawing
from the whole vocabulary sooner or later draws from its long tail of nonsense. Temperature $T$ divides the scores $z$:
$p_i = e^{z_i / T} / \\sum_j e^{z_j / T}$; top-k and top-p cut the tail away, and what is left is drawn from.
Surprisal is $-\\log_2 p(x_i)$, entropy $-\\sum_v p(v) \\log_2 p(v)$, both in bits. Beam search
and Choose add up $\\ln p$ instead, in nats, 1.44 bits each.
[Radford et al. 2019](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf),
[Fan et al. 2018](https://arxiv.org/abs/1805.04833), [Holtzman et al. 2020](https://arxiv.org/abs/1904.09751)"""
PRESS_WRITE = "() => explorer.pressWrite()"
MOST_NEW_TOKENS = 200


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    first, gallery = read_first_text(), read_gallery()
    start = gallery[0]
    with gr.Tab("Generate", id="generate") as tab:
        desk = gr.State(Desk(first.tree, codes={first.tree.here: write.first_code()}))
        build_question(QUESTION)
        with gr.Row(elem_classes=["halves", "generating"]):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                picker = build_picker(registry, Ability.GENERATE, first.tree.model)
                text = gr.Textbox(
                    start.text, lines=1, max_lines=8, label="Prompt", elem_id="generate-text",
                    info="The model goes on from here. Enter starts it, Escape stops it.",
                )  # fmt: skip
                count = gr.HTML(length_note(first.length), padding=False, elem_id="generate-count")
                with gr.Row(elem_classes="buttons"):
                    button = gr.Button("Write", variant="primary", size="sm", elem_id="generate-write", min_width=90)
                    again = gr.Button("New seed", size="sm", elem_id="generate-again", min_width=90)
                    stop = gr.Button("Stop", size="sm", elem_id="generate-stop", elem_classes="stop-work", min_width=70)
                message = gr.HTML(padding=False, elem_classes="message-place")
                with gr.Column(elem_classes="settings"):  # on a phone they stand below the text
                    strategy = gr.Dropdown(
                        [(s.label, s.key) for s in STRATEGIES.values()], value=start.strategy, label="Strategy",
                        info=STRATEGIES[start.strategy].hint, filterable=False, elem_id="generate-strategy",
                    )  # fmt: skip
                    controls = build_controls(start.strategy, start.settings, folded=False)
                    with gr.Accordion("More options", open=False):
                        with gr.Row(elem_classes="controls"):
                            new_tokens = gr.Slider(
                                1,
                                MOST_NEW_TOKENS,
                                FIRST_LENGTH,
                                step=1,
                                label="Length",
                                info="Most new tokens.",
                                scale=2,
                            )
                            seed = gr.Number(
                                0, label="Seed", precision=0, scale=1, min_width=100,
                                info="0 to 999,999. Same seed, same text.", elem_id="generate-seed",
                            )  # fmt: skip
                        controls |= build_controls(start.strategy, start.settings, folded=True)
            with gr.Column(scale=2, min_width=320, elem_classes=["result-side", "follows"]):
                prompt = Prompt(picker.name, text, strategy, controls, new_tokens, seed, message)
                told = build_look(start.look_for)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    views = _build_views(registry, prompt, desk, first, button)
        examples = build_gallery(gallery)
        build_why(WHY, WHY_TITLE)

    sliders = [controls[name] for name in SLIDERS]
    chosen = strategy.change(
        lambda key: [
            gr.Dropdown(info=STRATEGIES[key].hint),
            gr.Button(interactive=acts(key, "seed")),
            *show_controls(key),
        ],
        strategy,
        [strategy, again, *sliders],
        **QUIET,
    )
    with tab:  # Gradio numbers tabs by their place: a State beside them, rather than within one, shifts their labels
        shown = gr.Radio([view.tab.id for view in views], value=views[0].tab.id, visible="hidden")
        lengths = LengthCount(registry, prompt, count)
        answered = wire(prompt.message, views, shown, [*lengths.follow(picker.changed), chosen], stop)
        lengths.catch_up(answered)
    tidy_seed(seed)
    again.click(lambda seed: read_seed(read_seed(seed) + 1), seed, seed, **QUIET).then(
        None, None, None, js=PRESS_WRITE, **QUIET
    )
    own = linked_fields(views)
    beams_in_sight = own["beam_width"]
    controls["beams"].input(None, controls["beams"], beams_in_sight, js="beams => beams", **QUIET)
    for press, example in examples:
        filled = [told, text, strategy, *sliders, sub_tabs, shown, beams_in_sight]
        press.click(lambda example=example: _choose(example), None, filled, **QUIET).then(
            None, None, None, js=PRESS_WRITE, **QUIET
        )
    fields = {"text": text, "model": picker.name, "strategy": strategy, **controls, "length": new_tokens, "seed": seed}
    terse = (*(name for name in fields if name not in ("text", "model")), "show", *own)
    looks = tuple((_fills(example, views), look_line(example.look_for)) for example in gallery)
    return LinkedTab(tab, fields | {"show": shown} | own, terse, (sub_tabs, "show"), look=(told, looks))


def _build_views(registry: Registry, prompt: Prompt, desk: gr.State, first: FirstText, button: gr.Button) -> list[View]:
    """The views in page order. To add one, write its file and list it here."""
    writing = write.build(registry, prompt, desk, first.tree, button)
    return [
        writing,
        next_token.build(registry, prompt, desk, writing.runs),
        beams.build(registry, prompt),
        layers.build(registry, prompt),
        score.build(registry, prompt),
        options.build(registry, prompt),
    ]


def _fills(start: Start, views: list[View]) -> dict[str, object]:
    """What an example puts into fields, by their names in the address."""
    settings = dict(zip(SLIDERS, values_of(start), strict=True))
    seen = seen_in("write", start.look_for, (view.tab for view in views))
    return {"text": start.text, "strategy": start.strategy, **settings, "show": seen}


def _choose(start: Start) -> tuple:
    settings = (start.strategy, *values_of(start))
    beams = start.settings.get("beams", gr.skip())
    return look_line(start.look_for), start.text, *settings, gr.Tabs(selected="write"), "write", beams
