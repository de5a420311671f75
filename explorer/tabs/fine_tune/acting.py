"""What happens when something is pressed, chosen or a second has passed: jobs are asked for, and looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import gradio as gr

from explorer.errors import ExplorerError, UnsuitableText
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.controls import Controls
from explorer.tabs.fine_tune.data import read_examples
from explorer.tabs.fine_tune.first_tuned import FirstTuned
from explorer.tabs.fine_tune.form import asked_in, bind, compare, fill_form, keep_form, name_for_others, plan_asked
from explorer.tabs.fine_tune.history import VIEW as HISTORY
from explorer.tabs.fine_tune.job import TO_JOB, JobPanel, behind_mark
from explorer.tabs.fine_tune.looking import BEST, Looked, look_at
from explorer.tabs.fine_tune.offers import offer_methods
from explorer.tabs.fine_tune.parts import Part, draw_parts, known_keys
from explorer.tabs.fine_tune.plan import Options
from explorer.tabs.fine_tune.try_it import Trying, ask_tuned, train_example
from explorer.tabs.links import names_other
from explorer.tabs.messages import QUIET, add_stop, explain
from explorer.tabs.owner import with_owner
from explorer.tabs.visitors import forget_job
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.recipe import TASKS

POLL_SECONDS = 2.0
TO_RUN = "(asked, run, behind) => [asked + 1, behind.includes(`data-run='${run}'`) ? behind : %s]"
PRESSED = "document.querySelector('#tune-otherwise').classList.toggle('pressed', %s);"
UNPRESSED = """said => {  // what was refused is said beside the button; else the old job stays dimmed
  const end = () => { %s };
  if (said) return end();
  new MutationObserver((changes, observer) => (observer.disconnect(), end()))
    .observe(document.querySelector('#tune-job'), {childList: true, characterData: true, subtree: true});
  (%s)();
}"""
CONFIRM = "Delete this job, with its curves and its model? It cannot be had back."


@dataclass(frozen=True)
class Act:
    """All that the wiring needs.

    Attributes:
        tab: The tab.
        controls: Of the left side.
        panel: Of the job in sight.
        trying: The view "Try it".
        owner: Holds the visitor's token.
        job: Holds the id of the job in sight; "" = the example.
        kept: Holds the id of the job beside which the form is another one and stays so, as a link may have it.
        shown: Holds the id of the view in sight.
        views: The sub-tabs.
        parts: All of them, in page order.
        own: Inputs of parts; a change of one redraws.
        linked: What a link to a job, or to a form, names.
    """

    tab: gr.Tab
    controls: Controls
    panel: JobPanel
    trying: Trying
    owner: gr.components.Component
    job: gr.Textbox
    kept: gr.Textbox
    shown: gr.Radio
    views: list[gr.Tab]
    parts: list[Part]
    own: list[gr.components.Component]
    linked: dict[str, gr.components.Component]


def wire_acts(registry: Registry, store: JobStore, example: FirstTuned, first: Looked, act: Act) -> gr.Timer:
    """Wire everything; returns the clock, which runs while the tab is in sight.

    Args:
        registry: The models on offer.
        store: Of all jobs.
        example: The job that the tab opens on.
        first: What is looked at there.
        act: What is on the page.
    """
    clock, seen = gr.Timer(POLL_SECONDS, active=False), gr.State(known_keys(act.parts, first, act.views[0].id))
    ask, ticks = gr.Number(0, visible="hidden"), gr.Number(0, visible="hidden")
    looking = [act.owner, act.job, act.panel.run]
    followers = {view for part in act.parts if (view := part.view) not in ("", HISTORY)}
    subjects = gr.State(dict.fromkeys(followers, first.subject))  # of views
    given = [component for part in act.parts for component in part.inputs]
    outputs = [subjects, act.panel.behind, seen, *(component for part in act.parts for component in part.outputs)]

    def refresh(owner: str, job: str, run: int | None, shown: str, subjects: dict, seen: dict, *given: object) -> tuple:
        looked = look_at(store, example, owner or "", job or "", run)
        subjects = {view: looked.subject if view == shown else one for view, one in subjects.items()}
        behind = [view for view, one in subjects.items() if one != looked.subject]
        return subjects, behind_mark(behind, run), *draw_parts(act.parts, looked, shown, seen, list(given))

    # One event redraws, and one at a time: plotly loses the lines of a figure that is drawn twice at once.
    wanted = [*looking, act.shown, subjects, seen, *given]
    gr.on([ask.change, ticks.change], refresh, wanted, outputs, trigger_mode="always_last", **QUIET)
    redraw = {"fn": None, "inputs": ask, "outputs": ask, "js": "asked => asked + 1", **QUIET}
    for view in act.views:
        view.select(None, None, act.shown, js=f"() => {json.dumps(view.id)}", **QUIET)
    turn = TO_RUN % json.dumps(behind_mark(sorted(followers), None))
    others = {"inputs": [ask, act.panel.run, act.panel.behind], "outputs": [ask, act.panel.behind], "js": turn}
    act.panel.run.input(**redraw | others)
    act.job.change(None, None, act.panel.message, js="() => ''", **QUIET)  # it was of another
    for listen in (act.job.change, act.shown.change, *(one.change for one in act.own)):
        listen(**redraw)
    if_seen = "ticks => (document.hidden ? ticks : ticks + 1)"  # a page in the background asks nothing
    clock.tick(**redraw | {"inputs": ticks, "outputs": ticks, "js": if_seen})

    controls = act.controls
    chosen = [controls.picker.name, controls.task, controls.kind, controls.method, controls.methods]
    untouched = [one.value for one in chosen]

    def come_back(request: gr.Request, token: str, job: str, *chosen: object) -> tuple:
        """Who comes without the link of a job, and with no other choice, sees the newest of their own."""
        has_chosen = job or list(chosen) != untouched or names_other(request, act.tab.id, act.linked, "model")
        try:
            own = store.jobs(token)
        except ExplorerError:  # no token that the page has made
            return gr.skip(), gr.Timer(active=True), gr.skip()
        own = () if has_chosen else own
        return token, gr.Timer(active=True), own[0].id if own else gr.skip()

    opened = [act.owner, act.job, *chosen]
    known = act.tab.select(come_back, opened, [act.owner, clock, act.job], js=with_owner(len(opened)), **QUIET)
    known.then(**redraw)

    def start(owner: str, *values: object) -> tuple:
        try:
            job = _submit(registry, store, owner, *values)
            return "", job, BEST, bind(job, values[1], values[-len(controls.data.inputs) :]), ""
        except Exception as error:
            return explain(error), *[gr.skip()] * 4

    bound = gr.State(bind("", first.the_run.recipe.task, [one.value for one in controls.data.inputs]))
    started = controls.start.click(
        start, [act.owner, *chosen, controls.title, *controls.options, *controls.data.inputs],
        [controls.message, act.job, act.panel.run, bound, act.panel.otherwise], **QUIET,
        js=f"(...given) => {{ {PRESSED % 'true'} return given; }}",
    )  # fmt: skip
    _wire_form(registry, store, example, act, known, bound, chosen)
    to_job = UNPRESSED % (PRESSED % "false", TO_JOB)
    started.then(**redraw).then(None, controls.message, None, js=to_job, **QUIET)
    for button, change in ((act.panel.stop, store.stop), (act.panel.resume, store.resume)):
        button.click(_changing(change), [act.owner, act.job], act.panel.message, **QUIET).then(**redraw)
    act.panel.delete.click(
        _deleting(registry, store), [act.owner, act.job], [act.panel.message, act.job, act.panel.run], **QUIET,
        js=f"(owner, job) => [confirm({json.dumps(CONFIRM)}) ? owner : '', job]",
    ).then(**redraw)  # fmt: skip

    def judge(owner: str, job: str, run: int | None, text: str, second: str) -> Iterator[tuple]:
        looked = look_at(store, example, owner or "", job or "", run)
        yield from ask_tuned(registry, looked, text or "", second or "")

    trying = act.trying

    def train(owner: str) -> tuple:
        try:
            return "", train_example(store, example, owner), BEST
        except Exception as error:
            return explain(error), gr.skip(), gr.skip()

    trained = [trying.message, act.job, act.panel.run]
    boxes = [trying.text, trying.second]
    begun = trying.train.click(train, act.owner, trained, js=with_owner(1), **QUIET)
    begun.then(**redraw)
    asked = [
        listen(judge, [*looking, *boxes], [trying.message, trying.answer], **QUIET)
        for listen in (trying.button.click, trying.text.submit, trying.second.submit)
    ]
    for box in boxes:  # what was refused is another text now
        box.change(None, trying.message, trying.message, js="said => explorer.refusedTry(said)", **QUIET)
    add_stop(trying.message, asked)
    return clock


def _wire_form(
    registry: Registry,
    store: JobStore,
    example: FirstTuned,
    act: Act,
    known: gr.events.Dependency,
    bound: gr.State,
    chosen: list[gr.components.Component],
) -> None:
    """The form follows the job that is opened; a line above the job says what of the form is otherwise since."""
    controls, data = act.controls, act.controls.data
    # They arrive one by one: what follows a choice, such as its methods, is there before the choice changes.
    filled = [*chosen, controls.title, *controls.options, *data.restored][::-1]
    aside = data.inputs[3]

    def fill(owner: str, job: str, bound: dict[str, str], aside: float, kept: str, task: str, source: str) -> tuple:
        nothing = [gr.skip()] * len(filled)
        if not job or job == bound["job"]:
            return (gr.skip() if job else bound | {"job": "", "lost": ""}), *nothing
        looked = look_at(store, example, owner or "", job)
        if looked.problem:
            return bound | {"job": job, "lost": ""}, *nothing
        bound, values = fill_form(registry, store, controls, looked, owner, aside)
        if kept == job:  # as the link has it, which holds no examples
            values = keep_form(values, len(data.restored), looked.status.spec, task, source)
        return bound, *reversed(values)

    opened = [act.owner, act.job, bound, aside, act.kept, controls.task, data.inputs[0]]
    narrowed = [controls.method, controls.methods, controls.told, controls.message]
    for event in (act.job.change, known.then):
        arrived = event(fill, opened, [bound, *filled], js=with_owner(len(opened)), **QUIET)
        arrived.then(partial(offer_methods, registry), chosen, narrowed, **QUIET)

    def tell(job: str, bound: dict[str, str], *values: object) -> tuple:
        if job != bound["job"]:  # the form is just being filled
            return gr.skip(), gr.skip()
        asked = asked_in(registry, *values[: len(chosen) + len(controls.options)])
        spec = look_at(store, example, "", job).status.spec
        said, is_other = compare(registry, spec, asked, values[-len(data.inputs) :], bound)
        return said, (job if is_other else "") if job else gr.skip()  # without one, a link may be just arriving

    def rename(job: str, title: str) -> str | dict:
        named = name_for_others(look_at(store, example, "", job or "").status.spec, title or "")
        return gr.skip() if named == title else named  # the visitor may be typing in it by now

    for event in (controls.other_task.then, data.inputs[0].input):
        event(rename, [act.job, controls.title], controls.title, **QUIET)
    given = [*chosen, *controls.options, *data.inputs]
    changes = [one.change for one in (bound, *given)]
    times = gr.Number(0, visible="hidden")
    # What was refused is another form now. An event of its own tells, for the reason that views.wire gives.
    gr.on(changes, None, times, [controls.message, times], js="times => ['', times + 1]", **QUIET)
    times.change(tell, [act.job, bound, *given], [act.panel.otherwise, act.kept], trigger_mode="always_last", **QUIET)


def _changing(change: Callable[[str, str], None]) -> Callable[[str, str], str]:
    def handler(owner: str, job: str) -> str:
        try:
            change(owner, job)
        except Exception as error:
            return explain(error)
        return ""

    return handler


def _deleting(registry: Registry, store: JobStore) -> Callable[[str, str], tuple]:
    def handler(owner: str, job: str) -> tuple:
        if not owner:  # thought better of it
            return gr.skip(), gr.skip(), gr.skip()
        try:
            store.delete(owner, job)
            forget_job(registry, job)
        except Exception as error:
            return explain(error), gr.skip(), gr.skip()
        return "", "", BEST

    return handler


def _submit(
    registry: Registry,
    store: JobStore,
    owner: str,
    model: str,
    task: str,
    kind: str,
    method: str,
    methods: list[str],
    title: str,
    *values: object,
) -> str:
    """The id of the new job.

    Raises:
        ExplorerError: Something about it is not as it should be.
    """
    count = len(Options.__dataclass_fields__)
    asked, data = asked_in(registry, model, task, kind, method, methods, *values[:count]), values[count:]
    if task not in TASKS:
        raise UnsuitableText(f"There is no task {task!r}. Choose one of those on offer.")
    examples = read_examples(task, *data)
    runs = plan_asked(registry, asked, len(examples.train))
    return store.submit(owner, JobSpec(title.strip() or examples.name, runs, examples.name), examples)
