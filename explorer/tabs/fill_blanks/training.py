"""View: what training made of such a sentence, objective by objective, and what the model loses on it."""

from collections.abc import Callable, Iterator
from functools import partial

import gradio as gr
from huggingface_hub import constants

from explorer import analysis
from explorer.analysis.blanks import ANY_BLANK
from explorer.analysis.objectives import NOISES, OBJECTIVE_CARDS, SHOWN_WITHOUT, TELLING, found_telling
from explorer.analysis.training_results import Fate, TrainingExample
from explorer.errors import UnsuitableText
from explorer.figures.examples import describe_formula, draw_example
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.presence import is_here
from explorer.models.registry import Registry
from explorer.tabs.code import Said, code_of
from explorer.tabs.fill_blanks.languages import build_languages
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.formulas import LATEX
from explorer.tabs.messages import QUIET, in_place
from explorer.tabs.picker import options_of
from explorer.tabs.seeds import read_seed, tidy_seed
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

NONE_HERE = "No model that was trained like this is on this machine, and this explorer runs without internet. "
NOT_SHOWN = "With internet it shows here what the training makes of the sentence, and what the model loses on it."
SHOWN_BY = "So this is what the training makes of the text, cut by the tokenizer of {left}, without the model’s answer."
FOLLOWING = "Nobody was there."
PASSAGE = (
    "Last winter the old lighthouse keeper rediscovered a forgotten barometer behind the wallpaper of his kitchen. He "
    "polished its brass case, hung it beside the window and watched the needle tremble. Nobody in the village believed "
    "him when he forecast an extraordinary snowstorm for Thursday. By evening the road had disappeared."
)
SHORT_TOKENS = 27  # of fewer, 15 % are at most three
SHORT = "Of so short a text 15 % are {picked}{more}. “Longer text” puts in one that shows more."
WHOLE = "; here {hidden}, as words are hidden whole"
PICKED = frozenset({Fate.MASKED, Fate.RANDOMIZED, Fate.UNCHANGED, Fate.REPLACED})
SHARE_PICKED = frozenset({"masked", "whole_word", "span_masked", "span", "replaced"})
FIRST = next(iter(OBJECTIVE_CARDS))
FIRST_NOISE = next(iter(NOISES))
# A guess at the replaced words is between the visitor and the page: nothing is asked of the server.
ON_LOAD = """
element.addEventListener('click', event => {
  const game = event.target.closest('.detecting');
  const token = event.target.closest('.guess');
  if (token && !game.classList.contains('revealed')) {
    token.setAttribute('aria-pressed', token.getAttribute('aria-pressed') !== 'true');
  }
  if (!event.target.closest('[data-reveal]')) return;
  game.classList.add('revealed');
  const accused = [...game.querySelectorAll('.guess[aria-pressed="true"]')];
  const right = accused.filter(one => one.dataset.replaced === 'true').length;
  const score = game.querySelector('.score');
  score.textContent = !accused.length ? `Replaced: ${score.dataset.replaced}. You accused none.` :
    `You found ${right} of ${score.dataset.replaced}` +
    (accused.length > right ? `, and accused ${accused.length - right} in vain.` : '.');
});
"""


def build(registry: Registry, sentence: Sentence) -> View:
    """Lay out the view and wire what is its own."""
    offered = [(card.label, key) for key, card in OBJECTIVE_CARDS.items() if suited(registry, key)]
    others = [key for _, key in offered if OBJECTIVE_CARDS[key].ability != Ability.FILL_BLANKS]
    able = {name for key in others for name in suited(registry, key)}
    with gr.Tab("How it was trained", id="training") as tab:
        with gr.Row(elem_classes="controls"):
            objective = gr.Dropdown(
                offered,
                value=FIRST,
                label="Objective",
                info=OBJECTIVE_CARDS[FIRST].hint,
                scale=4,
                filterable=False,
                min_width=260,
            )
            seed = gr.Number(0, label="Seed", precision=0, scale=1, min_width=90)
            again = gr.Button("Roll again", size="sm", scale=0, min_width=100)
            telling = gr.Button(f"Roll to {TELLING[FIRST]}", size="sm", scale=0, min_width=130)
            longer = gr.Button("Longer text", size="sm", scale=0, min_width=100)
            back = gr.Button("Back to the text before", size="sm", scale=0, min_width=100, visible=False)
            before = gr.State("")
        with gr.Row(elem_classes="controls"):
            model = gr.Dropdown(
                options_of(registry, [name for name in registry.names() if name in able]), value=None, visible=False,
                label="Model of this objective", info="The chosen model was trained otherwise.",
                elem_classes="model-picker",
            )  # fmt: skip
            noise = gr.Dropdown(
                [(label, key) for key, (label, _) in NOISES.items()], value=FIRST_NOISE, visible=False,
                label="Noise", info=NOISES[FIRST_NOISE][1], filterable=False,
            )  # fmt: skip
            following = gr.Textbox(
                FOLLOWING, visible=False, label="Second sentence", info="Does it follow the sentence?"
            )
        with gr.Row():
            with gr.Column(scale=3, min_width=320):
                example = gr.HTML(js_on_load=ON_LOAD, padding=False, elem_classes="result")
            with gr.Column(scale=2, min_width=240):
                formula = gr.Markdown(describe_formula(FIRST), latex_delimiters=LATEX, elem_classes="formula")
        below = gr.HTML(padding=False)
        linked = build_languages()

    @in_place(registry, outputs=1)
    def find(models: Registry, names: list[str], text: str, objective: str, seed: float) -> tuple:
        if objective not in TELLING:
            raise UnsuitableText(f"Nothing is to be looked for here. Choose one of: {', '.join(TELLING)}.")
        whole = _fill(models, names[-1], text) if ANY_BLANK.search(text) else text
        ask = partial(analysis.find_telling_example, text=whole, objective=objective, seed=read_seed(seed))
        return (found_telling(models.run(names[0], ask), objective).seed,)

    def find_seed(left: str, model: str | None, text: str, objective: str, seed: float) -> Iterator[tuple]:
        name = choose_model(registry, objective, left, model) if objective in TELLING else left
        yield from find([name, left], text, objective, seed)

    looked = [sentence.model, model, sentence.text, objective, seed]
    telling.click(find_seed, looked, [sentence.message, seed], **QUIET)
    longer.click(_lengthen, [sentence.text, before], [sentence.text, before, back], **QUIET)
    back.click(lambda before: (before, gr.Button(visible=False)), before, [sentence.text, back], **QUIET)
    tidy_seed(seed)
    again.click(lambda seed: read_seed(read_seed(seed) + 1), seed, seed, trigger_mode="multiple", **QUIET)
    inputs = [sentence.model, sentence.text, objective, seed, model, noise, following, formula]
    outputs = [objective, seed, again, telling, model, noise, following, formula, example, below]
    own = {"objective": objective, "roll": seed, "trained_model": model, "noise": noise, "next": following}
    return View(tab, _drawer(registry), inputs, outputs, own, linked)


def suited(registry: Registry, objective: str) -> list[str]:
    """Names of the models on offer that can be asked for an objective, in catalogue order."""
    return [name for name in registry.names() if OBJECTIVE_CARDS[objective].suits(registry.card(name))]


def choose_model(registry: Registry, objective: str, left: str, chosen: str | None) -> str:
    """The chosen model if the objective suits it; else the chosen one, or the first that is on this machine."""
    known = registry.known(left)
    wanted = OBJECTIVE_CARDS[objective]
    if wanted.suits(known) if known else wanted.ability == Ability.FILL_BLANKS:  # a visitor's own model fills blanks
        return left
    able = suited(registry, objective)
    return chosen if chosen in able else next((name for name in able if is_here(registry.card(name))), able[0])


def _drawer(registry: Registry) -> Callable[..., Iterator[tuple]]:
    """The handler. It shows the controls of the objective first, so that a model that cannot be had can be changed."""

    @in_place(registry, outputs=2)
    def ask(
        models: Registry, names: list[str], text: str, objective: str, seed: int, noise: str, following: str
    ) -> tuple:
        name, *others = names
        whole = _fill(models, others[0] if others else name, text) if ANY_BLANK.search(text) else text
        options = {"text": whole, "objective": objective, "seed": seed, "noise": noise, "other_text": following}
        card, before = OBJECTIVE_CARDS[objective], ""
        if objective in SHOWN_WITHOUT and not card.suits(models.card(name)):
            example = models.run(name, partial(analysis.show_objective, **options))
            code = _code(example.model, "show_objective", options)
            before = note(NONE_HERE + SHOWN_BY.format(left=name))
        elif objective == "replaced":
            example, code = _with_generator(models, name, others, options)
        else:
            example = models.run(name, partial(analysis.compute_loss, **options))
            code = _code(example.model, "compute_loss", options)
        tokens = sum(token.fate != Fate.SPECIAL for token in example.tokens)
        picked, hidden = round(0.15 * tokens), sum(token.fate in PICKED for token in example.tokens)
        if objective in SHARE_PICKED and tokens < SHORT_TOKENS:
            more = WHOLE.format(hidden=hidden) if hidden > max(picked, 1) else ""
            before += note(SHORT.format(picked=f"{picked} tokens" if picked > 1 else "a single token", more=more))
        filled = "blanks filled by the chosen model" if whole != text else ""
        foot = caption([example.model, card.label, f"seed {seed}" if card.rolls else "", filled], card.paper_url)
        return before + draw_example(example), foot + download_links(example, "objective", code=code)

    def draw(
        left: str,
        text: str,
        objective: str,
        seed: float | None,
        model: str | None,
        noise: str,
        following: str,
        formula: str,
    ) -> Iterator[tuple]:
        name = choose_model(registry, objective, left, model)
        card, is_other = OBJECTIVE_CARDS[objective], name != left
        offered = options_of(registry, suited(registry, objective)) if is_other else []
        picker = gr.Dropdown(visible=False) if not is_other else gr.Dropdown(choices=[], value=None, visible=False)
        if offered:
            picker = gr.Dropdown(choices=offered, visible=True, **({} if name == model else {"value": name}))
        is_same = formula.strip() == describe_formula(objective).strip()
        before = (gr.skip(), gr.skip()) if is_same else ("", "")  # an example of another objective would mislead
        yield (
            gr.skip(),
            gr.Dropdown(info=card.hint),
            gr.Number(visible=card.rolls),
            gr.Button(visible=card.rolls),
            gr.Button(f"Roll to {TELLING.get(objective, '')}", visible=objective in TELLING),
            picker,
            gr.Dropdown(visible=objective == "denoising", info=NOISES[noise][1]),
            gr.Textbox(visible=objective == "next_sentence"),
            describe_formula(objective),
            *before,
        )
        same = [gr.skip()] * 8
        able = [registry.card(one) for one in suited(registry, objective)]
        none_here = is_other and constants.is_offline_mode() and not any(map(is_here, able))
        if none_here and objective not in SHOWN_WITHOUT:
            yield "", *same, note(NONE_HERE + NOT_SHOWN), ""
            return
        if objective == "next_sentence" and not following.strip():
            yield "", *same, note("Write a second sentence above."), ""
            return
        names = [left] if none_here else [name]
        if is_other and not none_here and (objective == "replaced" or ANY_BLANK.search(text)):
            names.append(left)
        generator = registry.card(name).generator if objective == "replaced" else ""
        names += [generator] if generator and registry.known(generator) else []
        for message, *shown in ask(names, text, objective, read_seed(seed), noise, following):
            yield message, *same, *shown

    return draw


def _lengthen(text: str, before: str) -> tuple[str, str, gr.Button]:
    """A passage in the place of a text, which is kept: that may be the visitor's own."""
    kept = before if text.strip() == PASSAGE else text
    return PASSAGE, kept, gr.Button(visible=bool(kept.strip()))


def _fill(models: Registry, name: str, text: str) -> str:
    """A text with its blanks filled: training hides words by itself."""
    fills = models.run(name, partial(analysis.fill_blanks, text=text, top_k=1, count=1))
    if not fills.completions:
        raise UnsuitableText("The blanks could not be filled. Training hides words by itself: write the whole text.")
    return fills.completions[0].text


def _code(model: str, analysis: str, options: dict) -> str:
    """Code that makes an example, by what its objective makes use of."""
    of_some = {"noise": "denoising", "other_text": "next_sentence"}
    used = {name: value for name, value in options.items() if of_some.get(name) in (None, options["objective"])}
    return code_of((model, analysis, used))


def _with_generator(models: Registry, name: str, others: list[str], options: dict) -> tuple[TrainingExample, str]:
    """An example of replaced tokens, drawn by the first of some models that cuts the text as the asked one does.

    And code that makes it.
    """
    drawing = {key: options[key] for key in ("text", "seed")}
    for generator in others:
        drawn = models.run(generator, partial(analysis.draw_replacements, **drawing))
        example = models.run(name, partial(analysis.compute_loss, replacements=drawn, **options))
        if drawn.tokens == tuple(token.token for token in example.tokens):
            break
    used = {key: options[key] for key in ("text", "objective", "seed")}
    asked = (name, "compute_loss", used | {"replacements": Said("result_1")})
    return example, code_of((generator, "draw_replacements", drawing), asked, made="result_2")
