"""The tab that fine-tunes: which runs a job is made of, what is drawn anew, whose jobs are seen, what is downloaded."""

import io
import json
import re
import zipfile
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from explorer.errors import UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.fine_tune import curves, history, mistakes, moved
from explorer.tabs.fine_tune.download import pack_model
from explorer.tabs.fine_tune.first_tuned import FILE, FirstTuned, read_first_tuned
from explorer.tabs.fine_tune.first_tuned import store as as_json
from explorer.tabs.fine_tune.job import run_choices
from explorer.tabs.fine_tune.looking import BEST, Looked, look_at, need_tuned, telling_run
from explorer.tabs.fine_tune.offers import offer_methods, offer_model, offer_options
from explorer.tabs.fine_tune.parts import Part, draw_parts
from explorer.tabs.fine_tune.plan import Options, plan_runs
from explorer.tabs.fine_tune.taking import figure_link
from explorer.tabs.fine_tune.try_it import BOXES, _first_texts, example_of, train_example
from explorer.tabs.fine_tune.try_it import FIRST as TRIED
from explorer.tabs.neighbours.which_vector import build_which, read_vector
from explorer.training.jobs.results import LoggedStep
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.recipe import TASKS, Recipe
from explorer.training.tuning.suits import OWN_MODELS, suggest_recipe
from tests.figures.tuned_jobs import EVIL, OUTCOME, STEPS, make_job, make_log
from tests.training.jobs.jobs_made import ANNE, BOB, EXAMPLES, spec_of

MINILM, ELMO = (next(card for card in CATALOGUE if card.name == name) for name in ("all-MiniLM-L6-v2", "ELMo mini"))


def look(status, run=0, jobs=()):
    return Looked(status, run, jobs, lambda job: make_log(status), is_example=False, is_own=True)


def test_a_race_has_a_run_of_each_method_and_fewer_labels_ever_more_of_each():
    options = Options(epochs=2, learning_rate=0, seed=7)
    [run] = plan_runs("one", MINILM, "classification", ["lora", "full"], options, 100)
    assert (run.model, run.examples, run.recipe) == ("all-MiniLM-L6-v2", 0, Recipe(method="lora", epochs=2.0, seed=7))
    race = plan_runs("race", MINILM, "pairs", ["frozen", "full", "scratch"], options, 100)
    assert [run.recipe.method for run in race] == ["frozen", "full", "scratch"]
    labels = plan_runs("labels", MINILM, "classification", ["full", "scratch"], options, 200)
    assert [(run.examples, run.recipe.method) for run in labels] == [
        (count, method) for count in (8, 32, 128, 200) for method in ("full", "scratch")
    ]
    assert plan_runs("one", MINILM, "classification", ["full"], replace(options, learning_rate=0.01), 9)[
        0
    ].recipe.learning_rate == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("kind", "methods", "examples", "says"),
    [
        ("race", ["full"], 99, "two methods"),
        ("race", ["full", "lora", "frozen", "layers"], 99, "3 methods at most"),
        ("labels", ["full", "lora", "frozen"], 99, "2 methods at most"),
        ("labels", ["full"], 8, "from 9 on"),
        ("one", [], 99, "Choose a method"),
        ("one", ["magic"], 99, "on offer"),
    ],
)
def test_what_cannot_be_run_says_what_to_choose(kind, methods, examples, says):
    with pytest.raises(UnsuitableText, match=says):
        plan_runs(kind, MINILM, "classification", methods, Options(), examples)


def test_only_what_is_in_sight_and_new_is_drawn():
    drawn = []

    def part(name, view, inputs=()):
        def draw(looked, *own):
            drawn.append(name)
            return (f"{name}{looked.status.state}", *own)

        return Part(name, view, [None] * (1 + len(inputs)), draw, lambda looked, *own: (looked.age, own), list(inputs))

    parts = [part("box", ""), part("curves", "curves"), part("mistakes", "mistakes", ["order"])]
    looked = look(make_job("full", state="running"))
    seen, *outputs = draw_parts(parts, looked, "curves", {}, ["wrong"])
    assert drawn == ["box", "curves"] and outputs[:2] == ["boxrunning", "curvesrunning"]
    again, *outputs = draw_parts(parts, looked, "curves", seen, ["all"])
    assert again == gr.skip() and all(one == gr.skip() for one in outputs), "nothing is new in sight"
    seen, *_ = draw_parts(parts, looked, "mistakes", seen, ["all"])
    draw_parts(parts, look(make_job("full")), "curves", seen, ["all"])
    assert drawn == ["box", "curves", "mistakes", "box", "curves"]


def test_the_example_is_really_stored_and_read_back():
    first = read_first_tuned()
    assert FILE.exists() and json.loads(json.dumps(as_json(first)))["status"]["id"] == first.status.id
    outcome = first.status.outcomes[0]
    assert outcome.scores["accuracy"] > outcome.baselines["most frequent class"]
    assert outcome.confusion and outcome.movements and len(first.steps) > 20
    assert any(logged.step.held_out_loss is not None for logged in first.steps)


def test_whoever_has_the_link_sees_a_job_and_only_its_owner_may_change_it(tmp_path):
    store, first = JobStore(tmp_path), read_first_tuned()
    job = store.submit(ANNE, spec_of("hers"), EXAMPLES)
    assert look_at(store, first, ANNE, job).is_own
    shown = look_at(store, first, BOB, job, 5)
    assert (shown.status.id, shown.is_own, shown.run, shown.jobs) == (job, False, 0, ())
    lost = look_at(store, first, BOB, "0123456789ab")
    assert lost.is_example and "no such job" in lost.problem
    nobody = look_at(store, first, "", "")
    assert nobody.is_example and not nobody.problem and nobody.outcome
    for looked, says in ((nobody, "does not come with the page"), (shown, "once its run is done")):
        with pytest.raises(UnsuitableText, match=says):
            need_tuned(looked)


def test_the_example_is_trained_anew_for_whoever_wants_to_try_it(tmp_path):
    store, first = JobStore(tmp_path), read_first_tuned()
    spec = store.shown(train_example(store, first, ANNE)).spec
    assert spec.runs == first.status.spec.runs and spec.title == spec.examples_name == first.status.spec.examples_name


def test_views_draw_every_state_of_a_job_and_escape_what_was_typed():
    states = [make_job("full", "lora", state=state) for state in ("waiting", "running", "stopped", "failed", "done")]
    for status in states:
        looked = look(status, jobs=(status,))
        htmls = [*curves.draw(looked), *mistakes.draw(looked, "wrong"), *moved.draw(looked)]
        htmls += history._listed(looked, status.id) + history._compared(looked, status.id)
        assert not [html for html in htmls if isinstance(html, str) and EVIL in html]
    cut = replace(OUTCOME, notes=("3 texts were cut.", EVIL))
    said = curves.draw(look(replace(states[-1], outcomes={0: cut, 1: OUTCOME})))[3]
    assert "3 texts were cut." in said and EVIL not in said
    label_job = make_job("full", "scratch", examples=(8, 32))
    figure, loss, *_ = curves.draw(look(label_job, run=2))
    assert [list(trace.x) for trace in figure.data[:2]] == [[8, 32], [8, 32]]
    assert {trace.name.split(",")[0] for trace in loss.data} == {"Everything"}, "of many runs one is looked at"
    lines, chance = curves.label_curves(label_job)
    assert [line.is_baseline for line in lines] == [False, False, True] and list(chance) == ["most frequent class"]
    assert [line.mark for line in lines] == [0, 1, 2] and "●</span> Everything" in loss.layout.annotations[0].text


def test_a_picture_and_its_file_say_model_task_method_and_how_many():
    race = make_job("full", "lora")
    [loss, score] = re.findall(r"data-file='([^']*)' data-title='([^']*)'", "".join(curves._pictures(look(race))[1:]))
    assert loss[0] == "fine-tune-loss-MiniLM-classification-full-lora" and score[0].startswith("fine-tune-score-MiniLM")
    assert unescape(loss[1]).endswith("<br>Classify sentences · Everything, LoRA · films · n = 4 held-out examples")
    hostile = replace(race, spec=replace(race.spec, runs=tuple(replace(run, model=EVIL) for run in race.spec.runs)))
    both = "".join(history._compared(look(race, jobs=(race, hostile)), race.id)[3:])
    assert "data-file='compared-loss-MiniLM-" in both and "data-file='compared-score-MiniLM-" in both
    link = figure_link([hostile], 1, "movement", "How far each part moved", is_measured=False)
    assert "data-file='movement-script-b-classification-lora'" in link and EVIL not in link and "n =" not in link
    assert history._compared(look(race, jobs=(race,)), "")[3:] == ("", ""), "nothing is ticked, so nothing is drawn"
    labels = curves._pictures(look(make_job("full", examples=(8, 32)), run=1))
    assert "Everything, 32 examples" in labels[1] and "32 examples" not in labels[0]
    assert "data-file='mistakes-MiniLM-classification-full'" in mistakes.draw(look(race), "wrong")[4]


def test_a_learned_mix_of_layers_is_followed_to_the_neighbours_of_a_word():
    html = moved.draw(look(make_job("layers")))[2]
    href = unescape(re.search(r"href='([^']*)'", html)[1])
    query = dict(parse_qsl(href.removeprefix("?"), strict_parsing=True))
    assert query.pop("tab") == "neighbours" and query.pop("model") == "MiniLM"
    with gr.Blocks():
        which = build_which(2)
    assert set(query) <= set(which.fields)
    asked = read_vector(*(query.get(name, box.value) for name, box in which.fields.items()))
    assert (asked.combine, asked.weights) == ("normalised", "0.2000, 0.5000, 0.3000")
    unmixed = moved.draw(look(replace(make_job("full"), outcomes={0: replace(OUTCOME, mix=())})))
    assert "<a" not in unmixed[2] and "Frobenius" in unmixed[4] and "softmax" not in unmixed[4]


def test_every_task_reads_an_own_sentence():
    assert set(BOXES) == set(TASKS)
    for task in set(TASKS) - {"masked", "causal"}:
        example = example_of(task, "Ann ran home.", "Ann ran.")
        assert "Ann" in str(example)
    assert example_of("tagging", "Ann ran.", "").words == ("Ann", "ran", ".")


def test_a_model_is_packed_bit_by_bit(tmp_path):
    (tmp_path / "head").mkdir()
    (tmp_path / "model.safetensors").write_bytes(bytes(range(256)) * 9000)
    (tmp_path / "head" / "card.md").write_text("mine")
    blocks = list(pack_model(tmp_path, None, "tuned"))
    assert len(blocks) > 2 and max(map(len, blocks)) < 2**21
    with zipfile.ZipFile(io.BytesIO(b"".join(blocks))) as archive:
        assert archive.testzip() is None
        assert archive.read("tuned/head/card.md") == b"mine"
        assert archive.read("tuned/model.safetensors") == bytes(range(256)) * 9000


def test_a_recipe_takes_what_suits_the_task_where_nothing_else_is_said():
    [run] = plan_runs("one", MINILM, "tagging", ["full"], Options(), 100)
    assert run.recipe.learning_rate == suggest_recipe("tagging", "full", MINILM.abilities).learning_rate == 3e-4
    with pytest.raises(UnsuitableText, match="MiniLM .masked. can: choose it, or another task"):
        plan_runs("one", MINILM, "masked", ["full"], Options(), 100)
    with pytest.raises(UnsuitableText, match="“Everything”"):
        plan_runs("one", ELMO, "tagging", ["lora"], Options(), 100)


def test_what_is_offered_suits_model_and_task():
    registry = Registry(CATALOGUE, lambda: None)
    model, epochs = offer_model(registry, "all-MiniLM-L6-v2", "causal", 6)
    assert model == "MiniLM (causal)" and epochs == gr.skip()
    assert offer_model(registry, "MiniLM (masked)", "tagging", 6) == (gr.skip(), 20.0)
    assert offer_model(registry, "MiniLM (masked)", "answers", 20) == (gr.skip(), 8.0), "it came with tagging"
    assert offer_model(registry, "MiniLM (masked)", "answers", 9) == (gr.skip(), gr.skip()), "the visitor’s own"
    assert offer_model(registry, "no such model", "answers", 9)[0] == OWN_MODELS["answers"]
    one, several, *said = offer_methods(
        registry, "MiniLM (causal)", "causal", "race", "frozen", ["frozen", "full", "scratch"]
    )
    assert [way for _, way in one.choices] == ["lora", "full", "scratch"] and one.value == "full"
    assert several.value == ["full", "scratch"] and said == ["", ""]
    *kept, said, at_start = offer_methods(registry, "all-MiniLM-L6-v2", "masked", "race", "full", ["full"])
    assert kept == [gr.skip(), gr.skip()] and "MiniLM (masked) can" in said and at_start == ""
    assert "No model is called" in offer_methods(registry, "<b>", "masked", "race", "full", ["full"])[2]
    offered = [
        offer_options(registry, *chosen, ["frozen", "lora"])
        for chosen in (
            ("all-MiniLM-L6-v2", "classification", "one", "full"),
            ("all-MiniLM-L6-v2", "similarity", "one", "lora"),
            ("MiniLM (causal)", "classification", "race", "full"),
            ("MiniLM (span)", "pairs", "race", "frozen"),
            ("MiniLM (span)", "pairs", "one", "frozen"),
            ("MiniLM (span)", "text_to_text", "one", "full"),
            ("no such model", "pairs", "one", "frozen"),
        )
    ]
    assert [[one.visible for one in options] for options in offered] == [
        [False] * 4,
        [True, False, True, False],
        [True, True, False, False],
        [True, False, False, True],
        [False] * 4,
        [False, False, False, True],
        [False] * 4,
    ]
    assert (offered[3][3].placeholder, offered[5][3].placeholder) == ("classify: ", "nothing")


def test_a_sentence_to_try_stands_ready_where_the_examples_are_ours(tmp_path):
    ours, others = make_job("full"), make_job("full")
    ours = replace(ours, spec=replace(ours.spec, examples_name=own_examples("classification").name))
    assert _first_texts(look(ours)) == TRIED["classification"]
    assert _first_texts(look(others)) == ("", "")
    assert set(TRIED) == set(TASKS) and all(bool(TRIED[task][1]) == bool(BOXES[task][1]) for task in TASKS)


def test_the_first_job_is_that_of_the_controls():
    first = read_first_tuned()
    assert isinstance(first, FirstTuned)
    [run] = plan_runs("one", MINILM, "classification", ["full"], Options(), 0)
    assert first.status.spec.runs == (run,)


def test_of_several_runs_the_best_is_looked_at_until_another_is_chosen(tmp_path):
    store, race = JobStore(tmp_path), make_job("full", "lora", "scratch")
    first = FirstTuned(
        replace(race, outcomes=race.outcomes | {1: replace(race.outcomes[1], scores={"accuracy": 0.9})}), ()
    )
    for run, at, is_chosen in ((None, 1, False), (BEST, 1, False), (2, 2, True), (0, 0, True), (3, 1, False)):
        looked = look_at(store, first, "", "", run)
        assert (looked.run, looked.is_chosen) == (at, is_chosen)
    assert run_choices(first.status) == [
        ("The best: LoRA · accuracy 90.0 %", BEST),
        ("Everything · accuracy 70.0 %", 0),
        ("LoRA · accuracy 90.0 %", 1),
        ("Everything, from random weights · accuracy 72.0 %", 2),
    ]
    both = replace(make_job("full", "lora", state="running"), last=dict.fromkeys((0, 1), race.last[0]))
    for state, told in (("running", "At work"), ("stopped", "Begun")):
        assert telling_run(both) == 1 and run_choices(replace(both, state=state))[0] == (f"{told}: LoRA", BEST)
    assert telling_run(replace(both, outcomes={0: race.outcomes[0]})) == 0
    assert run_choices(make_job("full", "lora", state="waiting"))[0] == ("The first: Everything", BEST)
    lower = {run: replace(one, scores={"perplexity": 9.0 - run}) for run, one in race.outcomes.items()}
    assert telling_run(replace(race, outcomes=lower)) == 2


def test_curves_are_drawn_anew_when_another_run_is_looked_at():
    with gr.Blocks():
        _, part = curves.build(look(make_job("full")))
    labels = make_job("full", examples=(8, 32))
    assert part.key(look(labels, run=0)) != part.key(look(labels, run=1))


def test_without_a_loss_from_step_to_step_the_scores_have_the_room():
    job = make_job("frozen")
    measured = replace(STEPS[-1], loss=None)
    log = (LoggedStep(0, replace(measured, phase="measuring")), LoggedStep(0, measured))
    fitted = Looked(job, 0, (), lambda _: log, False, True)
    _, loss, score, words, *_, foot = curves.draw(fitted)
    assert loss is None and score is not None and "held-out loss 0.90" in words and "running mean" not in foot
    assert [one.visible for one in curves._update(fitted)[:4]] == [False, False, False, False]
    begun = Looked(make_job("frozen", state="running"), 0, (), lambda _: (), False, True)
    assert curves.draw(begun)[1] is not None, "what is to come has its room"
    assert curves.draw(look(make_job("full")))[1] is not None
