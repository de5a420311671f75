"""Models that jobs made, found by their names; jobs over HTTP."""

import json
import os
import signal
import time
from dataclasses import asdict, replace
from functools import partial

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from huggingface_hub import constants

from explorer.analysis import tokenize_text
from explorer.errors import JobRefused, UnknownJob, UnknownModel, UnsuitableText
from explorer.figures.own_models import own_table
from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.settings import settings
from explorer.shell import find_model as find_in_shell
from explorer.tabs.own_models import find_own, own_models
from explorer.tabs.page import build_page
from explorer.tabs.tuning_endpoints import tuning_endpoints
from explorer.tabs.visitors import ask_model, find_model, forget_job
from explorer.training.jobs.naming import split_name, tuned_name
from explorer.training.jobs.records import write_record
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.jobs.supervising import WorkerStarter, open_jobs
from explorer.training.tuning.examples import ExampleSet, LabelledText
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import Outcome, Run
from explorer.training.tuning.suits import suggest_recipe
from explorer.training.tuning.tuned_card import FACTS, TunedFacts
from tests.conftest import SHIPPED

ANNE, BOB = "token-of-anne-0123456789", "token-of-bob-0123456789"
EXAMPLES = ExampleSet("films", "classification", (LabelledText("Lovely.", "good"), LabelledText("Dull.", "bad")))
SPEC = JobSpec("My films", (Run(Recipe(), 0, SHIPPED), Run(Recipe(method="lora"), 8, SHIPPED)), "films")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The jobs that the page looks at; nobody works on them."""
    monkeypatch.setenv("EXPLORER_JOBS_FOLDER", str(tmp_path / "jobs"))
    settings.cache_clear()
    yield JobStore(tmp_path / "jobs")
    settings.cache_clear()


def finish(store: JobStore, id: str, run: int) -> None:
    """As if a run were done; its folder holds what is known of a model, and no weights."""
    place = store.shelf.find(id).place
    place.model(run).mkdir(parents=True)
    facts = TunedFacts(
        SHIPPED, "", "bert", (Ability.FILL_BLANKS,), "apache-2.0", "A, 2020", "https://example.org", ("en",),
        SPEC.runs[run].recipe, ("bad", "good"), "films", 2, 1, {"accuracy": 0.75}, 22_000_000,
    )  # fmt: skip
    (place.model(run) / FACTS).write_text(json.dumps(asdict(facts)))
    for record in (place.outcome(run), place.summary(run)):
        write_record(record, Outcome({"accuracy": 0.75}))


@pytest.fixture
def registry():
    return Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded"))


def test_a_name_says_base_method_size_title_job_and_run():
    name = tuned_name("0123456789ab", SPEC, 1)
    assert name == f"{SPEC.runs[1].model} · LoRA, 8 examples · My films #0123456789ab-1"
    tuned = replace(SPEC, runs=(replace(SPEC.runs[0], model=name),))
    assert tuned_name("0123456789ab", tuned, 0).count("#") == 1
    assert split_name(name) == ("0123456789ab", 1)
    long = tuned_name("0123456789ab", replace(SPEC, title="x" * 500), 0)
    assert len(long) < 120 and split_name(long) == ("0123456789ab", 0)
    assert split_name("MiniLM (masked)") is None and split_name("C# 12-1") is None


def test_a_tuned_model_is_found_by_the_end_of_its_name_everywhere(store, registry):
    id = store.submit(ANNE, SPEC, EXAMPLES)
    finish(store, id, 0)
    name = tuned_name(id, SPEC, 0)
    for asked in (name, f"renamed in a link #{id}-0 "):
        models, found = find_model(registry, asked)
        assert found == name
        card = models.card(found)
        assert Ability.FILL_BLANKS in card.abilities and Ability.EMBED in card.abilities
    assert name not in registry.names()  # for the call alone
    assert find_in_shell(name)[1] == name


def test_a_visitor_s_own_models_are_listed_with_what_each_was_made_from_and_for(store):
    evil = replace(SPEC, title="My <b>films</b>")
    id = store.submit(ANNE, evil, EXAMPLES)
    finish(store, id, 1)
    [model] = find_own(store, ANNE)
    assert (model.card.name, model.status.id, model.run) == (tuned_name(id, evil, 1), id, 1)
    assert [card.name for card in own_models(store, ANNE)] == [model.card.name]
    table = own_table([model])
    for said in (f"?tab=fine-tune&amp;job={id}&amp;which=1", f">{SHIPPED}<", "Classify sentences", "75.0 % <abbr"):
        assert said in table
    assert "22.0 M" in table and "<b>" not in table and " open>" in table
    assert " open>" not in own_table([model] * 9) and own_table(find_own(store, BOB)) == ""
    assert find_own(store, "") == []
    later = store.submit(ANNE, SPEC, EXAMPLES)
    finish(store, later, 0)
    assert [one.status.id for one in find_own(store, ANNE)] == [later, id]
    assert [card.name for card in own_models(store, ANNE)] == [model.card.name, tuned_name(later, SPEC, 0)]


def test_a_model_that_is_not_there_says_why(store, registry):
    id = store.submit(ANNE, SPEC, EXAMPLES)
    finish(store, id, 0)
    for ending, says in ((f"{id}-1", "not done"), (f"{id}-7", "deleted"), ("0" * 12 + "-0", "deleted")):
        with pytest.raises(UnknownJob, match=says):
            find_model(registry, f"any #{ending}")
    with pytest.raises(UnknownModel):
        find_model(registry, "any #nothing-0")
    store.delete(ANNE, id)
    with pytest.raises(UnknownJob, match="deleted"):
        find_model(registry, tuned_name(id, SPEC, 0))


def test_a_deleted_model_leaves_the_memory(store):
    class Backend:
        unloaded = []

        def status(self):
            return {card: None for card in cards}

        def unload(self, card):
            self.unloaded.append(card.name)

        def run(self, card, analysis):
            return None

    cards = [CATALOGUE[0], *(replace(CATALOGUE[0], name=name) for name in ("a #0123456789ab-0", "b #ba9876543210-0"))]
    registry = Registry(CATALOGUE, Backend)
    forget_job(registry, "0123456789ab")
    assert Backend.unloaded == []  # no backend is opened for it
    registry.run(CATALOGUE[0].name, lambda model: None)
    forget_job(registry, "0123456789ab")
    assert Backend.unloaded == ["a #0123456789ab-0"]


@pytest.fixture
def client(store, shipped_registry):
    page = build_page(shipped_registry)
    page.launch(prevent_thread_lock=True, quiet=True, ssr_mode=False, _frontend=False)
    yield Client(page.local_url, verbose=False, httpx_kwargs={"timeout": 60})
    page.close()
    worker = open_jobs()._wake.process_id
    if worker:
        os.kill(worker, signal.SIGKILL)


def test_what_a_caller_cannot_have_is_refused_with_the_reason(client, monkeypatch):
    def refused(says, **given):
        with pytest.raises(AppError, match=says):
            client.predict(**{"owner": ANNE, "api_name": "/start_fine_tuning"} | given)

    refused("random characters", owner="me")
    refused("no task", task="magic")
    refused("no option 'magic'", options={"magic": 1})
    refused("epochs is a number", options={"epochs": "many"})
    refused("no method", methods=["magic"])
    refused("No model is called", model="a model that is not there")
    refused("add examples of another class", examples=[{"text": f"Film {n}.", "label": "good"} for n in range(20)])
    refused("no such job", api_name="/find_job", job="0" * 12)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    refused("BERT large needs internet", model="BERT large")  # and not when the job has its turn
    assert client.predict(owner=ANNE, api_name="/list_jobs") == []


@pytest.mark.parametrize(("task", "model"), [("tagging", "MiniLM (masked)"), ("pairs", "MiniLM (span)")])
def test_a_job_over_http_takes_what_suits_where_nothing_else_is_said(store, registry, monkeypatch, task, model):
    monkeypatch.setattr(WorkerStarter, "__call__", lambda self: None)
    start, *_ = tuning_endpoints(registry)
    abilities = registry.card(model).abilities
    job = start(ANNE, task, model, methods=["frozen", "full"], options={"seed": 3, "learning_rate": None})
    runs = store.job(ANNE, job["id"]).spec.runs
    assert [run.recipe for run in runs] == [
        replace(suggest_recipe(task, method, abilities), seed=3) for method in ("frozen", "full")
    ]
    assert runs[0].recipe.learning_rate != runs[1].recipe.learning_rate
    job = start(ANNE, task, model, options={"prefix": "", "epochs": 2})
    [run] = store.job(ANNE, job["id"]).spec.runs
    assert (run.recipe.prefix, run.recipe.epochs) == ("", 2)


def test_our_scored_pairs_can_be_asked_for_over_http(store, registry, monkeypatch):
    monkeypatch.setattr(WorkerStarter, "__call__", lambda self: None)
    start, *_ = tuning_endpoints(registry)
    job = start(ANNE, "similarity", scored=True, options={"similarity_loss": "cosine"})
    assert store.examples(ANNE, job["id"]) == own_examples("similarity", scored=True)
    with pytest.raises(UnsuitableText, match="our own pairs"):
        start(ANNE, "similarity", scored=True, examples=[{"text": "A.", "other": "B.", "score": 1}])
    with pytest.raises(JobRefused, match="no similarity_loss 'magic'"):
        start(ANNE, "similarity", options={"similarity_loss": "magic"})


@pytest.mark.slow
def test_a_job_over_http_makes_a_model_that_every_endpoint_asks(client, shipped_registry):
    asked = {"owner": ANNE, "methods": ["frozen"], "title": "Guests", "options": {"evaluations": 2}}
    started = client.predict(**asked, api_name="/start_fine_tuning")
    assert started["state"] in {"waiting", "running"} and started["models"] == {}
    id, deadline = started["id"], time.monotonic() + 200
    while (job := client.predict(owner=ANNE, job=id, api_name="/find_job"))["state"] not in {"done", "failed"}:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert job["state"] == "done", job["message"]
    assert job["outcomes"]["0"]["scores"]["accuracy"] > 0.6
    assert job["steps"][-1]["step"]["phase"] == "done"
    (listed,) = client.predict(owner=ANNE, api_name="/list_jobs")
    assert listed["id"] == id and client.predict(owner=BOB, api_name="/list_jobs") == []
    name = job["models"]["0"]
    assert client.predict(text="A table for two.", model=name, api_name="/tokenize_text")["model"] == name
    measured = client.predict(model=name, layers=[1], api_name="/measure_anisotropy")
    assert measured["model"] == name
    assert [status.name for status in shipped_registry.status() if status.name == name] == []
    assert client.predict(owner=ANNE, job=id, api_name="/delete_job")["state"] == "deleted"
    with pytest.raises(AppError, match="deleted"):
        client.predict(text="A table.", model=name, api_name="/tokenize_text")
    with pytest.raises(UnknownJob):
        ask_model(shipped_registry, name, partial(tokenize_text, text="A table."))
