"""The job in sight on the tab Fine-tune: what is advised of it, and what a link to it holds."""

import json
from dataclasses import replace

import gradio as gr

from explorer.tabs.fine_tune import history, try_it
from explorer.tabs.fine_tune.curves import draw, score_of
from explorer.tabs.fine_tune.job import _box, behind_mark
from explorer.tabs.fine_tune.looking import Looked
from explorer.tabs.fine_tune.tried_texts import link_texts
from tests.figures.tuned_jobs import OUTCOME, make_job, make_log


def look(job, read_steps=None):
    return Looked(job, 0, (job,), read_steps or (lambda id: make_log(job)), is_example=False, is_own=True)


def test_what_may_help_is_said_by_the_course_of_the_run_which_is_read_only_where_it_counts():
    poor = make_job("full", outcomes={0: replace(OUTCOME, scores={"accuracy": 0.5})})
    assert "fewer epochs or a smaller learning rate may help" in _box(look(poor))
    short = _box(look(poor, lambda id: make_log(poor)[:2]))
    assert "more examples or epochs may help" in short
    for job in (make_job("full", state="running"), make_job("full", "lora")):
        assert "data-state" in _box(look(job, lambda id: 1 / 0)), "its log is not needed"


def test_of_a_job_seen_by_its_link_it_is_said_what_its_owner_can_do_with_it():
    for state, act in (("running", "stop or delete"), ("stopped", "resume or delete"), ("done", "delete")):
        job = replace(make_job("full", state=state), can_resume=state == "stopped")
        assert f"Whoever started it can {act} it." in _box(replace(look(job), is_own=False))
        assert "Whoever" not in _box(look(job))


def test_how_long_ago_runs_began_is_told_anew_as_time_passes(monkeypatch):
    with gr.Blocks():
        chosen = gr.Textbox(""), gr.Dropdown()
        with gr.Tabs():
            _, (listed, compared), _ = history.build(*chosen)
    looked = look(make_job("full"))
    began, keys, told = looked.status.created_at, [], []
    for seconds in (0, 60, 200, 201):
        monkeypatch.setattr(history.time, "time", lambda at=began + seconds: at)
        keys.append((listed.key(looked, ""), compared.key(looked, "")))
        told += listed.draw(looked, "")
    assert keys[0] == keys[1] and keys[2] == keys[3], "nothing is drawn anew for nothing"
    assert keys[1][0] != keys[2][0] and keys[1][1] == keys[2][1], "the curves may be zoomed in"
    assert ">now<" in told[1] and ">3 min ago<" in told[2]


def test_before_a_run_is_done_its_score_is_called_what_its_log_calls_it():
    job = make_job("full", state="running", outcomes={})
    steps = make_log(job)
    assert score_of(job, 0, steps) == ("accuracy", {})
    named = tuple(replace(one, step=replace(one.step, score_name="spearman")) for one in steps)
    assert score_of(job, 0, named) == ("spearman", {})
    assert score_of(make_job("full"), 0, named)[0] == "accuracy", "what it has once it is done"


def test_a_race_has_the_baselines_of_all_its_runs_each_with_its_model_where_they_differ():
    mixed = replace(OUTCOME, baselines={"an even mix of its layers": 0.2})
    first = replace(OUTCOME, baselines={"before fine-tuning": 0.1})
    race = make_job("full", "layers", outcomes={0: first, 1: mixed})
    assert score_of(race, 1, ())[1] == first.baselines | mixed.baselines
    other = replace(race.spec.runs[1], model="Other")
    models = replace(race, spec=replace(race.spec, runs=(race.spec.runs[0], other)))
    both = replace(models, outcomes={0: first, 1: replace(first, baselines={"before fine-tuning": 0.3})})
    assert score_of(both, 0, ())[1] == {"before fine-tuning, MiniLM": 0.1, "before fine-tuning, Other": 0.3}
    assert score_of(replace(both, outcomes={0: first, 1: first}), 0, ())[1] == first.baselines


def test_what_is_told_of_one_run_of_several_begins_with_its_name_and_of_steps_only_where_it_has_any():
    race = make_job("full", "frozen", outcomes={0: replace(OUTCOME, notes=("3 texts were cut.",))})
    assert "<p class='note'>Everything: 3 texts were cut.</p>" in draw(look(race))[3]
    of_all = replace(race, outcomes={0: race.outcomes[0], 1: race.outcomes[0]})
    assert "<p class='note'>3 texts were cut.</p>" in draw(look(of_all))[3]
    assert "Everything: batches of" in draw(look(race))[-1] and "learning rate" in draw(look(race))[-1]
    at_once = tuple(replace(one, step=replace(one.step, loss=None, epoch=0.0)) for one in make_log(race))
    foot = draw(look(race, lambda id: at_once))[-1]
    assert "batches of" not in foot and "running mean" not in foot and "Everything: texts cut at" in foot


def test_a_view_is_behind_where_another_job_or_run_is_in_sight_or_this_one_is_done_since():
    job = make_job("full", "lora")
    seen = look(job)
    assert look(make_job("full", "lora", message="more")).subject == seen.subject
    for other in (replace(seen, run=1), look(replace(job, id="0123456789ab")), look(replace(job, outcomes={}))):
        assert other.subject != seen.subject
    assert behind_mark(["try", "moved"], 1) == "<i class='try moved' data-run='1'></i>"
    assert "data-run=''" in behind_mark([], None)


def test_a_link_holds_what_was_typed_and_not_the_texts_that_a_job_comes_with():
    with gr.Blocks() as page:
        job = gr.Textbox("")
        with gr.Tabs():
            trying = try_it.build(look(make_job("full")))
        linked = link_texts(trying, job)
    assert {name: box.value for name, box in linked.items()} == {"try_text": "", "try_second": ""}
    typed, boxes = ([box._id for box in of] for of in (linked.values(), (trying.text, trying.second)))
    events = {
        tuple(map(tuple, one["targets"])): (one["inputs"], one["outputs"])
        for one in page.get_config_file()["dependencies"]
    }
    assert events[tuple((box, "change") for box in boxes)] == ([trying.own._id, *boxes], typed)
    assert events[((trying.own._id, "change"),)] == ([trying.own._id, *boxes], boxes)
    for box in typed:
        assert events[((box, "change"),)] == ([job._id, *typed, *boxes], boxes)


def ticked(*jobs):
    """The charts of losses and of scores (None = there is none), and what is said below, of these jobs."""
    looked = replace(look(jobs[0], lambda id: make_log(jobs[0])), jobs=jobs)
    losses, scores, said, *_ = history._compared(looked, " ".join(job.id for job in jobs))
    return losses.value and str(losses.value), scores.value and str(scores.value), said


def changed(job, id, **fields):
    spec = replace(job.spec, runs=tuple(replace(run, recipe=replace(run.recipe, **fields)) for run in job.spec.runs))
    return replace(job, id=id, spec=spec)


def test_a_link_shows_runs_of_others_side_by_side_and_says_what_is_gone():
    jobs = {id: replace(make_job("full"), id=id) for id in ("0123456789ab", "ba9876543210")}
    looked = replace(look(make_job("full"), lambda id: make_log(jobs[id])), jobs=(), find=jobs.get)
    (table,), (losses, scores, *_) = (draw(looked, " ".join(jobs)) for draw in (history._listed, history._compared))
    assert "No run of yours is kept here" in table and history.BY_LINK in table and history.GONE not in table
    assert losses.visible and scores.visible and ", run 2" in str(losses.value)
    gone = "0123456789ab ffffffffffff"
    (table,), (losses, *_) = history._listed(looked, gone), history._compared(looked, gone)
    assert history.GONE in table and losses.visible
    (table,), (losses, *_) = history._listed(looked, "ffffffffffff"), history._compared(looked, "ffffffffffff")
    assert history.GONE in table and history.BY_LINK not in table and losses.visible is False


def test_ticked_runs_of_one_name_are_told_apart_by_what_differs_or_numbered():
    job = make_job("full")
    losses, scores, said = ticked(job, changed(job, "0123456789ab", seed=7, epochs=10))
    for chart in (losses, scores):
        assert ", 3 epochs, seed 0" in chart and ", 10 epochs, seed 7" in chart and "batches of" not in chart
    assert "most frequent class" in scores and history.OTHER_LOSSES not in said
    more = changed(replace(job, outcomes={0: replace(OUTCOME, epochs=15.0)}), "0123456789ab", epochs=6)
    assert ", 15 epochs" in ticked(job, more)[0], "those that it made"
    losses, *_ = ticked(job, replace(job, id="0123456789ab"))
    assert ", run 1" in losses and ", run 2" in losses


def test_of_ticked_jobs_nothing_is_set_on_one_axis_that_cannot_be_compared():
    job = make_job("full")
    *_, scores, said = ticked(job, changed(job, "0123456789ab", task="tagging"))
    assert scores is None and history.OTHER_SCORES in said and history.OTHER_LOSSES in said
    other = replace(job, id="0123456789ab", outcomes={0: replace(OUTCOME, baselines={"most frequent class": 0.4})})
    *_, scores, said = ticked(job, other)
    assert scores and "most frequent class" not in scores and history.OTHER_LOSSES not in said, "of other examples"
    found = replace(job, outcomes={0: replace(OUTCOME, scores={"recall_at_1": 0.5})})
    pairs = changed(found, job.id, task="similarity", similarity_loss="triplet")
    *_, scores, said = ticked(pairs, changed(pairs, "0123456789ab", similarity_loss="in_batch"))
    assert scores and history.OTHER_LOSSES in said and history.OTHER_SCORES not in said


def test_of_more_runs_than_lines_can_be_told_apart_each_ticked_row_gives_its_best_and_how_many_are_left_out_is_said():
    sweep = make_job("frozen", "full", examples=(8, 32, 0))
    race = replace(make_job("lora", "full"), id="0123456789ab")
    looked = replace(look(sweep), jobs=(sweep, race))
    looked = replace(looked, read_steps=lambda id: make_log(sweep if id == sweep.id else race))
    losses, scores, said, *_ = history._compared(looked, f"{sweep.id} {race.id}")
    assert history.FEW_DRAWN.format(6, 8) in said
    for plot in (losses, scores):
        traces = json.loads(plot.value["plot"])["data"]
        names = {one["name"].split(" (")[0] for one in traces if "MiniLM" in str(one.get("name"))}
        assert {"MiniLM, LoRA", "MiniLM, Everything"} < names, "each run of the race"
        assert len(names) == 6 and sum("all examples" in name for name in names) == 2, names
    jobs = tuple(replace(race, id=f"{number:012x}") for number in range(20))
    looked = replace(looked, jobs=jobs, read_steps=lambda id: make_log(race))
    ids = " ".join(job.id for job in jobs)
    (table,), (*_, said, _, _) = history._listed(looked, ids), history._compared(looked, ids)
    assert table.count(" checked") == 20 and history.FEW_DRAWN.format(6, 40) in said
    *_, said = ticked(race)
    assert "told apart" not in said
