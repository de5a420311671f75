"""Layout and wiring of the tab that fine-tunes a model."""

import gradio as gr

from explorer.models.registry import Registry
from explorer.tabs.fine_tune import curves, history, mistakes, moved, try_it
from explorer.tabs.fine_tune.acting import Act, wire_acts
from explorer.tabs.fine_tune.controls import build_controls
from explorer.tabs.fine_tune.first_tuned import read_first_tuned
from explorer.tabs.fine_tune.job import build_panel
from explorer.tabs.fine_tune.looking import look_at
from explorer.tabs.fine_tune.tried_texts import link_texts
from explorer.tabs.formulas import build_question, build_why
from explorer.tabs.gallery import build_look
from explorer.tabs.links import LinkedTab
from explorer.tabs.owner import build_owner
from explorer.training.jobs.supervising import open_jobs

OPTION_NAMES = (  # in an address, as plan.Options orders them
    "epochs", "batch", "rate", "length", "patience", "rank", "lambda", "loss", "prefix", "seed",
)  # fmt: skip
QUESTION = "What does a pre-trained model learn from a few labelled examples, and what changes inside it?"
WHY = """**Fine-tuning** goes on training a pre-trained model on examples of one task: a small new layer, the *head*,
turns its vectors into answers, and the loss of these answers moves the weights
([Howard and Ruder 2018](https://arxiv.org/abs/1801.06146), [Devlin et al. 2019](https://arxiv.org/abs/1810.04805)).
With head $g_\\phi$ on the model's vector $h_\\theta(x)$, and $N$ labelled examples,

$$\\mathcal{L}(\\theta, \\phi) = -\\frac{1}{N} \\sum_i \\ln p_{\\theta, \\phi}(y_i \\mid x_i), \\qquad
p_{\\theta, \\phi}(y \\mid x) = \\text{softmax}\\left(g_\\phi(h_\\theta(x))\\right)_y$$

*How much moves* is which of $\\theta$ may change. **Frozen features**: none, only $\\phi$. **A learned mix of
layers**: none, but $h = \\gamma \\sum_j s_j h_j$ with learned weights $s = \\text{softmax}(w)$, as
[ELMo](https://arxiv.org/abs/1802.05365) is used. **[LoRA](https://arxiv.org/abs/2106.09685)**: to each chosen matrix
$W$ a product of two small ones is added, $W + \\frac{\\alpha}{r} BA$ of rank $r$. **Everything**: all of $\\theta$;
from random weights the same without what pre-training gave. For causal models
[GPT](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf) adds its language
modelling loss on the same texts: $\\mathcal{L} + \\lambda \\mathcal{L}_\\text{LM}$.

**What it does not show.** One run is one draw: with few examples another seed may move the score by several points
([Mosbach et al. 2021](https://arxiv.org/abs/2006.04884)). A score on a small held-out part is uncertain itself: on 100
examples an accuracy of 85 % has a 95 % interval from about 77 % to 91 %. And a model that is right may be so for
reasons that hold in these examples only."""


def build(registry: Registry) -> LinkedTab:
    """Lay out the tab and wire it; returns what a link restores, too."""
    store, example = open_jobs(), read_first_tuned()
    first = look_at(store, example, "", "")
    with gr.Tab("Fine-tune", id="fine-tune") as tab:
        build_question(QUESTION)
        with gr.Row(elem_classes=["halves", "of-job"]):
            with gr.Column(scale=1, min_width=320, elem_classes="controls-side"):
                controls = build_controls(registry)
            with gr.Column(scale=2, min_width=320, elem_classes="result-side"):
                told = build_look("")
                job = gr.Textbox("", visible="hidden", elem_id="tune-job-id")
                panel = build_panel(store, first)
                with gr.Tabs(elem_classes="views") as sub_tabs:
                    curve_tab, curve_part = curves.build(first)
                    mistake_tab, mistake_part, order = mistakes.build(first)
                    trying = try_it.build(first)
                    moved_tab, moved_part = moved.build(first)
                    history_tab, history_parts, ticked = history.build(job, panel.run)
        build_why(WHY)
    views = [curve_tab, mistake_tab, trying.tab, moved_tab, history_tab]
    parts = [*panel.parts, curve_part, mistake_part, *trying.parts, moved_part, *history_parts]
    with tab:
        owner = build_owner()
        shown = gr.Radio([view.id for view in views], value=views[0].id, visible="hidden")
        kept = gr.Textbox("", visible="hidden")
        linked = {  # in the order in which a link fills them: who hears of the job must know the form
            "form": kept, "model": controls.picker.name, "task": controls.task, "run": controls.kind,
            "method": controls.method, "methods": controls.methods, "title": controls.title,
            **dict(zip(OPTION_NAMES, controls.options, strict=True)), "examples": controls.data.inputs[0],
            "aside": controls.data.inputs[3], "job": job,
        }  # fmt: skip
        act = Act(tab, controls, panel, trying, owner, job, kept, shown, views, parts, [order, ticked], linked)
        clock = wire_acts(registry, store, example, first, act)
        texts = link_texts(trying, job)
    fields = linked | {"which": panel.run, "show": shown, "order": order, "ticked": ticked, **texts}
    terse = tuple(name for name in fields if name != "model")
    return LinkedTab(tab, fields, terse, (sub_tabs, "show"), clock=clock, look=(told, ()))
