"""What a visitor chooses before a model is fine-tuned."""

from dataclasses import dataclass
from functools import partial

import gradio as gr

from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs import lenient
from explorer.tabs.fine_tune.data import DataPanel, build_data
from explorer.tabs.fine_tune.offers import offer_methods, offer_model, offer_options, offer_ticks
from explorer.tabs.fine_tune.plan import KINDS, Options
from explorer.tabs.messages import QUIET
from explorer.tabs.picker import ModelPicker, build_picker_of
from explorer.training.jobs.limits import LONGEST_PREFIX
from explorer.training.tuning.recipe import LOSSES, METHODS, TASKS

METHOD_HINTS = {
    "frozen": "The model stays as it is; a new layer on top learns from its features, read once. Seconds.",
    "layers": "The same on a learned mix of all layers, as ELMo is used: it says which layers a task needs.",
    "lora": "The weights stay; beside each matrix of attention and feed-forward layers two small ones learn: a few "
    "percent of the weights, or less.",
    "full": "Every weight learns: usually the best score, and the slowest.",
    "scratch": "Nothing is kept of what the model learned in pre-training: the comparison that shows its worth.",
}
RANK, WEIGHT, LOSS, PREFIX = (list(Options.__dataclass_fields__).index(name) for name in (
    "lora_rank", "auxiliary_weight", "similarity_loss", "prefix"))  # fmt: skip
HOW_MANY = {
    "race": "Two or three, one after another on the same examples.",
    "labels": "One or two, each on 8, 32, 128 … of the examples.",
}
DEFAULT_MODEL = "all-MiniLM-L6-v2"
IF_OTHER = "(task, times) => explorer.isOther('task', task) ? times + 1 : times"


@dataclass(frozen=True)
class Controls:
    """The controls on the page.

    Attributes:
        picker: Of the model.
        told: What is wrong with that.
        task: Holds a key of TASKS.
        other_task: Event after which the visitor has chosen another, and a model that can learn it stands there.
        data: The examples.
        kind: Holds a key of KINDS.
        title: What the visitor calls it; "" = as the examples are called.
        method: Holds a key of METHODS, for one run.
        methods: Hold keys of METHODS, for several.
        options: Of plan.Options, in the order of its fields.
        start: The button.
        message: What is wrong with what was chosen.
    """

    picker: ModelPicker
    told: gr.HTML
    task: gr.Dropdown
    other_task: gr.events.Dependency
    data: DataPanel
    kind: gr.Radio
    title: gr.Textbox
    method: gr.Dropdown
    methods: gr.CheckboxGroup
    options: list[gr.components.Component]
    start: gr.Button
    message: gr.HTML


def build_controls(registry: Registry) -> Controls:
    """Lay out the controls; the choice of what to run decides which choice of methods is in sight."""
    picker = build_picker_of(registry, registry.names(Ability.EMBED), DEFAULT_MODEL)
    told = gr.HTML(padding=False, elem_classes="message-place")
    task = gr.Dropdown(
        [(label, key) for key, label in TASKS.items()], value="classification", label="Task",
        filterable=False, elem_id="tune-task",
    )  # fmt: skip
    kind = gr.Radio([(label, key) for key, label in KINDS.items()], value="one", label="What to run",
                    elem_id="tune-kind")  # fmt: skip
    choices = [(label, key) for key, label in METHODS.items()]
    with gr.Column(elem_classes="tune-methods"):
        method = lenient.Dropdown(
            choices, value="full", label="How much of the model moves", info=METHOD_HINTS["full"],
            filterable=False, elem_id="tune-method",
        )  # fmt: skip
        methods = lenient.CheckboxGroup(
            choices, value=["frozen", "full", "scratch"], label="Which methods", visible=False,
            info=HOW_MANY["race"], elem_id="tune-methods",
        )  # fmt: skip
    data = build_data(task)
    title, *options = _build_options()
    with gr.Column(elem_id="tune-start-box"):
        message = gr.HTML(padding=False, elem_classes="message-place")
        start = gr.Button("Start", variant="primary", elem_id="tune-start")
    hinted = method.change(lambda key: gr.Dropdown(info=METHOD_HINTS.get(key, "")), method, method, **QUIET)
    chosen, before = [picker.name, task], gr.State([])
    other_kind = kind.change(_show_methods, kind, [method, methods], **QUIET)
    # Only a visitor's choice takes ticks away: when a job's form is filled, the boxes may yet hold those before.
    kind.input(partial(_tick_methods, registry), [*chosen, kind, methods, before], [methods, before], **QUIET)
    # A link restores the model with the task; who chooses a task gets a model that can learn it.
    times = gr.Number(0, visible="hidden")
    task.focus(None, task, None, js="task => explorer.entered('task', task)", **QUIET)
    task.input(None, [task, times], times, js=IF_OTHER, **QUIET)
    suiting = [*chosen, options[0]], [picker.name, options[0]]
    other_task = times.change(partial(offer_model, registry), *suiting, trigger_mode="multiple", **QUIET)
    for event in (data.other_task, picker.changed):
        event.then(
            partial(offer_methods, registry),
            [*chosen, kind, method, methods],
            [method, methods, told, message],
            **QUIET,
        )
    rare = [options[RANK], options[WEIGHT], options[LOSS], options[PREFIX]]
    shown = partial(offer_options, registry), [*chosen, kind, method, methods], rare
    for event in (data.other_task, picker.changed, hinted, other_kind):
        event.then(*shown, **QUIET)
    methods.change(*shown, **QUIET)
    return Controls(picker, told, task, other_task, data, kind, title, method, methods, options, start, message)


def _show_methods(kind: str) -> tuple:
    """The choice of one method, or of several."""
    several = {} if kind == "one" else {"info": HOW_MANY[kind]}
    return gr.Dropdown(visible=kind == "one"), gr.CheckboxGroup(visible=kind != "one", **several)


def _tick_methods(registry: Registry, model: str, task: str, kind: str, ticked: list[str], before: list[str]) -> tuple:
    """Those ticked that the kind of run takes, and what was ticked."""
    chosen, before = offer_ticks(registry, model, task, kind, ticked, before)
    return gr.skip() if chosen is None else chosen, before


def _build_options() -> list[gr.components.Component]:
    """The name first, then in the order of the fields of plan.Options."""
    first = Options()
    with gr.Accordion("More options", open=False):
        title = gr.Textbox("", max_length=60, label="Name", info="At most 60 characters; else that of the examples.")
        epochs = gr.Slider(1, 40, first.epochs, step=1, label="Epochs", info="How often every example is seen; "
                           "more often where that makes under 60 steps. A head alone learns to the end.")  # fmt: skip
        batch = gr.Slider(4, 64, first.batch_size, step=4, label="Batch size", info="Examples per step: more is "
                          "steadier and takes more memory.")  # fmt: skip
        # Without bounds, as plan_runs has them: Gradio answers what is beyond its own with a bare error.
        rate = gr.Number(0, step=1e-4, label="Learning rate", info="How far a step goes. 0 = what suits the method.")
        length = gr.Slider(16, 512, first.length_tokens, step=16, label="Length in tokens", info="Longer texts are "
                           "cut: shorter is faster.")  # fmt: skip
        patience = gr.Slider(0, 5, first.patience, step=1, label="Patience", info="Stop after so many measurements "
                             "without a lower held-out loss, and keep the best weights; 0 = never.")  # fmt: skip
        rank = gr.Slider(1, 64, first.lora_rank, step=1, label="Rank of LoRA", visible=False,
                         info="Of its small matrices: more can learn more.")  # fmt: skip
        weight = gr.Slider(0, 1, first.auxiliary_weight, step=0.1, label="λ, weight of the language modelling loss",
                           visible=False, info="Beside the task's, as GPT was fine-tuned; 0 = without.")  # fmt: skip
        losses = [(label, key) for key, label in LOSSES.items()]
        loss = gr.Radio(losses, value=first.similarity_loss, label="Loss", visible=False,
                        info="What makes vectors of like sentences alike. Pairs with scores have no negative: they "
                        "are always learned by the cosine.")  # fmt: skip
        prefix = gr.Textbox(first.prefix, max_length=LONGEST_PREFIX, label="Prefix", visible=False,
                            info="Read before each text, such as “summarize: ” with its space. Empty = as it stands "
                            "there in grey; a space = nothing.")  # fmt: skip
        seed = gr.Number(first.seed, precision=0, label="Seed", info="The same seed gives the same run; another one "
                         "shows how much is chance.")  # fmt: skip
    for box in (rate, seed):  # what is no number counts as 0, and says so
        box.blur(None, box, box, js="typed => Number.isFinite(typed) ? typed : 0", **QUIET)
    return [title, epochs, batch, rate, length, patience, rank, weight, loss, prefix, seed]
