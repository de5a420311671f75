"""The form beside a job of fine-tuning: filled as the job was asked for, and what of it is otherwise since."""

from dataclasses import replace

import gradio as gr
import pytest

from explorer.errors import UnsuitableText
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.controls import build_controls
from explorer.tabs.fine_tune.data import read_examples
from explorer.tabs.fine_tune.first_tuned import read_first_tuned
from explorer.tabs.fine_tune.form import (
    OPTIONS,
    Asked,
    asked_for,
    asked_in,
    bind,
    compare,
    differences,
    fill_form,
    keep_form,
    name_for_others,
)
from explorer.tabs.fine_tune.given import OURS, YOURS, examples_key, given_tables, read_given
from explorer.tabs.fine_tune.looking import look_at
from explorer.tabs.fine_tune.offers import offer_methods, offer_options, offer_ticks
from explorer.tabs.fine_tune.plan import NO_PREFIX, Options, plan_runs, recipe_of
from explorer.training.jobs.results import JobSpec
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.columns import guess_columns
from explorer.training.tuning.making import make_examples
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.reading import read_table
from explorer.training.tuning.recipe import METHODS, TASKS
from explorer.training.tuning.retelling import table_of
from explorer.training.tuning.suits import OWN_MODELS, find_ways
from tests.training.jobs.jobs_made import ANNE, BOB

REGISTRY = Registry(CATALOGUE, lambda: None)
ROWS = "said\tkind\n" + "".join(f"a sentence of {n} words\t{'ab'[n % 2]}\n" for n in range(40))
KINDS = {"one": ["full"], "race": ["frozen", "full"], "labels": ["frozen"]}


def spec_of(kind="one", task="classification", options=None, name="films", title="films"):
    card = REGISTRY.card(OWN_MODELS[task])
    ways = KINDS[kind] if task == "classification" else ["full"]
    return JobSpec(title, plan_runs(kind, card, task, ways, options or Options(), 200), name)


@pytest.fixture(scope="module")
def controls():
    with gr.Blocks():
        return build_controls(REGISTRY)


@pytest.mark.parametrize("task", TASKS)
def test_examples_are_told_as_a_table_that_is_read_the_same_again(task):
    for scored in {False, task == "similarity"}:
        examples = own_examples(task, scored=scored)
        table = table_of(examples)
        again = make_examples(table, task, guess_columns(table, task))
        assert replace(again, notes=()) == replace(examples, notes=())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.0, 0.01])
def test_a_job_tells_what_was_chosen_for_it(kind, rate):
    options = Options(epochs=3.0, batch_size=8, learning_rate=rate, patience=2, seed=7)
    asked = asked_for(REGISTRY, spec_of(kind, options=options))
    assert asked == Asked("all-MiniLM-L6-v2", "classification", kind, tuple(KINDS[kind]), options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (Options(learning_rate=-1), "Learning rate: give a number above 0 and at most 1, or 0 for what suits the "
         "method, not −1."),
        (Options(learning_rate=1000), "Learning rate: .*, not 1000."),
        (Options(seed=-5), "Seed: give a whole number from 0 to 2,147,483,647, not −5."),
        (Options(seed=2**31), "Seed: .*, not 2147483648."),
        (Options(seed=99999999999999), "Seed: .*, not 99999999999999."),
    ],
)  # fmt: skip
def test_a_number_beyond_its_range_is_told_with_the_name_of_its_box(controls, options, says):
    with pytest.raises(UnsuitableText, match=f"^{says}$"):
        spec_of(options=options)
    assert spec_of(options=Options(learning_rate=None, seed=None)).runs[0].recipe.seed == 0, "an empty box"
    for box in controls.options:  # Gradio would answer with an error that names no box
        assert isinstance(box, gr.Slider) or getattr(box, "minimum", None) is getattr(box, "maximum", None) is None


@pytest.mark.parametrize("task", ["classification", "text_to_text"])
@pytest.mark.parametrize("prefix", ["", NO_PREFIX, "summarize: "])
@pytest.mark.parametrize("ways", [["full"], ["frozen", "full"]])
def test_a_prefix_is_read_before_each_text_unless_what_suits_is_wanted_and_comes_back(task, prefix, ways):
    card, options = REGISTRY.card("MiniLM (span)"), Options(prefix=prefix)
    ways = [way for way in ways if way in find_ways(task, card.abilities, card.model_type)]
    runs = plan_runs("one" if len(ways) == 1 else "race", card, task, ways, options, 200)
    usual = "classify: " if task == "classification" else ""
    assert runs[-1].recipe.prefix == {"": usual, NO_PREFIX: ""}.get(prefix, prefix)
    spec, asked = JobSpec("mine", runs, own_examples(task).name), asked_for(REGISTRY, JobSpec("mine", runs, ""))
    again = [recipe_of(task, way, asked.options, card.abilities) for way in asked.methods]
    assert again == [run.recipe for run in runs]
    assert differences(REGISTRY, spec, asked) == []
    other = replace(asked, options=Options(prefix="ask: "))
    assert differences(REGISTRY, spec, other) == ["the prefix “ask: ”"]
    if runs[-1].recipe.prefix:
        assert differences(REGISTRY, spec, replace(asked, options=Options(prefix=NO_PREFIX))) == ["no prefix"]


def test_every_task_is_asked_for_as_it_stands_in_its_own_form():
    for task in TASKS:
        spec = spec_of(task=task)
        asked = asked_in(REGISTRY, OWN_MODELS[task], task, "one", "full", [], *vars(Options()).values())
        assert asked == asked_for(REGISTRY, spec)
        ours = JobSpec(spec.title, spec.runs, own_examples(task).name)
        assert compare(REGISTRY, ours, asked, (OURS, "", "", 0.2), bind("", task, (OURS,))) == ("", False)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": "MiniLM (masked)"}, "<b><bdi>MiniLM (masked)</bdi></b>"),
        ({"task": "tagging"}, "<b><bdi>Tag words</bdi></b>"),
        ({"methods": ("lora",)}, "<b><bdi>LoRA</bdi></b>"),
        ({"kind": "race", "methods": ("frozen", "full")}, "Race: Head on frozen features against Everything"),
        ({"options": Options(seed=3, epochs=2)}, "<b><bdi>epochs: 2</bdi> · <bdi>seed 3</bdi></b>"),
        ({"options": Options(learning_rate=0.01)}, "a learning rate of 0.01"),
        ({"options": Options(lora_rank=2, auxiliary_weight=0.1, similarity_loss="cosine")}, ""),
        ({"model": "</b><i>"}, "&lt;i&gt;"),
    ],
)
def test_what_is_chosen_since_is_named_where_it_counts(changes, says):
    spec = spec_of(name=own_examples("classification").name)
    asked = replace(asked_for(REGISTRY, spec), **changes)
    said, is_other = compare(REGISTRY, spec, asked, (OURS,), bind("", "", (OURS,)))
    assert says in said and "<i>" not in said
    assert ("This is not what you have chosen" in said) == bool(says) == is_other


@pytest.mark.parametrize(
    ("kind", "methods", "asks"),
    [
        ("race", ("full",), "Choose two methods or three for a race."),
        ("labels", ("frozen", "lora", "full"), "Choose 2 methods at most: each of them is trained."),
        ("labels", ("full",), "press Start"),
    ],
)
def test_what_start_would_refuse_is_not_sent_to_start(kind, methods, asks):
    spec = spec_of(name=own_examples("classification").name)
    asked = replace(asked_for(REGISTRY, spec), kind=kind, methods=methods)
    said, _ = compare(REGISTRY, spec, asked, (OURS,), bind("", "", (OURS,)))
    assert asks in said and said.count("press Start") == (asks == "press Start")


@pytest.mark.parametrize(
    ("changes", "rows", "asks"),
    [
        ({"options": Options(learning_rate=-1)}, None, "a learning rate of −1</bdi></b>. Learning rate: give a number"),
        ({"options": Options(learning_rate=100)}, None, "at most 1, or 0 for what suits the method, not 100."),
        ({"options": Options(seed=-3)}, None, "seed −3</bdi></b>. Seed: give a whole number"),
        ({"model": "nobody's"}, None, "No model is called"),
        ({"task": "causal", "model": "GPT mini", "methods": ("frozen",)}, None, "GPT mini cannot learn “"),
        ({}, "", "The examples will not do yet: what is wrong"),
        ({}, "said,kind\n" + "well said,good\n" * 12, "The examples will not do yet: what is wrong"),
        ({"methods": ("lora",)}, "text,label\none,a\nmore,b\n", "The examples will not do yet: what is wrong"),
        ({"kind": "labels"}, "said,kind\n" + "well,a\nbad,b\n" * 5, "examples to learn from: fewer labels can be"),
    ],
)
def test_the_line_says_of_numbers_models_and_examples_what_start_would_say(changes, rows, asks):
    spec = spec_of(name=own_examples("classification").name)
    asked = replace(asked_for(REGISTRY, spec), **changes)
    key = given_tables().put(read_table(rows)) if rows else ""
    held = (OURS,) if rows is None else (YOURS, key, "", 0.2)
    said, _ = compare(REGISTRY, spec, asked, held, bind("", "", (OURS,)))
    assert asks in said and "press Start" not in said


def test_other_examples_are_named_until_they_are_those_of_the_job():
    key = given_tables().put(read_table(ROWS))
    held = (YOURS, key, "", 0.2, "said", "kind", None, None, "")
    spec, asked = spec_of(), asked_for(REGISTRY, spec_of())
    bound = bind("a job", "classification", held)
    assert compare(REGISTRY, spec, asked, held, bound) == ("", False)
    guessed = (YOURS, key, "", 0.2)
    assert compare(REGISTRY, spec, asked, guessed, bound) == ("", False), "the same columns, chosen by name or guessed"
    swapped = (*held[:4], "kind", "said", *held[6:])
    other = (YOURS, given_tables().put(read_table(ROWS)), *held[2:])
    for changed in (swapped, other, (YOURS, key, "", 0.3, *held[4:])):
        assert "examples of your own" in compare(REGISTRY, spec, asked, changed, bound)[0]
    assert "our examples" in compare(REGISTRY, spec, asked, (OURS, key, "", 0.2), bound)[0]


def test_the_form_is_filled_with_a_job_and_its_examples_and_others_are_told_that_those_are_not_held(tmp_path, controls):
    store, first = JobStore(tmp_path), read_first_tuned()
    given = read_examples("classification", YOURS, given_tables().put(read_table(ROWS)), "", 0.25)
    options = Options(epochs=3.0, seed=9)
    job = store.submit(ANNE, spec_of("race", options=options, name=given.name, title="mine"), given)
    bound, values = fill_form(REGISTRY, store, controls, look_at(store, first, ANNE, job), ANNE, 0.2)
    model, task, kind, one, several, title, *rest = values
    assert (model, task, kind, title) == ("all-MiniLM-L6-v2", "classification", "race", "mine")
    assert several.value == ["frozen", "full"] and several.visible and not one.visible
    assert "value" not in one.constructor_args, "what One run would take is not the race's to say"
    assert Options(*rest[: len(OPTIONS)]) == options
    source, key, held, *_ = rest[len(OPTIONS) :]
    again = read_given("classification", source.value, key, held, ())
    assert (again.name, again.train, again.held_out) == (given.name, given.train, given.held_out)
    assert bound == {"job": job, "examples": examples_key(task, YOURS, key, "", 0.2), "lost": ""}
    assert len(values) == 6 + len(OPTIONS) + len(controls.data.restored)

    bound, values = fill_form(REGISTRY, store, controls, look_at(store, first, BOB, job), BOB, 0.2)
    assert values[: 6 + len(OPTIONS)][2] == "race" and values[6 + len(OPTIONS) + 1] == ""
    spec = look_at(store, first, BOB, job).status.spec
    said, is_other = compare(REGISTRY, spec, asked_for(REGISTRY, spec), (YOURS, "", "", 0.2), bound)
    assert f"{given.name}, are not held for you" in said and not is_other


def test_a_link_keeps_a_form_but_for_the_examples_that_the_job_learned_from():
    task, all_kept = "classification", (gr.skip(),) * 3
    theirs, ours = spec_of(), spec_of(name=own_examples(task).name)
    assert keep_form((1, 2, 3), 2, theirs, task, YOURS) == (gr.skip(), 2, 3)
    assert keep_form((1, 2, 3), 2, theirs, task, OURS) == keep_form((1, 2, 3), 2, theirs, "pairs", YOURS) == all_kept
    assert keep_form((1, 2, 3), 2, ours, task, YOURS) == all_kept, "what was chosen after it, and is not there yet"


def test_an_option_beyond_its_control_and_a_model_that_has_left_still_fill_the_form(tmp_path, controls):
    store, first = JobStore(tmp_path), read_first_tuned()
    [run] = spec_of(options=Options(epochs=50.0)).runs
    spec = JobSpec("mine", (replace(run, model="gone"),), own_examples("classification").name)
    job = store.submit(ANNE, spec, own_examples("classification"))
    _, values = fill_form(REGISTRY, store, controls, look_at(store, first, ANNE, job), ANNE, 0.2)
    assert (values[0], values[3].value, values[6]) == ("gone", "full", 40)
    for field in values[3:5]:  # what stood there before is on its way with fields that arrive first
        assert [way for _, way in field.choices] == list(METHODS)
    assert values[6 + len(OPTIONS)].value == OURS


def test_the_name_of_a_job_is_not_given_to_one_with_other_examples():
    spec = spec_of(title="Guests")
    assert [name_for_others(spec, title) for title in ("Guests", " Guests ", "Mine", "")] == ["", "", "Mine", ""]


def test_a_look_at_fewer_labels_takes_nothing_from_a_race():
    registry = Registry(CATALOGUE, lambda: None)
    raced, model = ["frozen", "full", "scratch"], "all-MiniLM-L6-v2"

    def offer(kind, ticked, before, task="classification", model=model):
        return offer_ticks(registry, model, task, kind, ticked, before)

    assert offer("labels", raced, []) == (["full", "scratch"], raced)
    assert offer("one", ["full", "scratch"], raced) == (None, raced), "on the way"
    assert offer("race", ["full", "scratch"], raced) == (raced, [])
    assert offer("race", ["full", "lora"], raced) == (None, []), "chosen since"
    assert offer("labels", ["full"], []) == (None, [])
    assert offer("race", ["full", "scratch"], raced, "masked") == (None, []), "nothing frozen learns masked words"
    assert offer("race", ["full", "scratch"], raced, model="no such model") == (None, [])


def test_methods_that_stay_are_not_told_again_as_others_may_be_ticked_by_then():
    registry = Registry(CATALOGUE, lambda: None)
    one, several, *_ = offer_methods(registry, "all-MiniLM-L6-v2", "classification", "labels", "full", ["full", "lora"])
    assert "value" not in one.constructor_args and "value" not in several.constructor_args


def test_no_more_methods_are_ticked_than_fewer_labels_compares_when_a_link_has_named_none():
    registry, raced = Registry(CATALOGUE, lambda: None), ["frozen", "full", "scratch"]
    for kind, kept in (("labels", ["full", "scratch"]), ("race", None)):
        _, several, *_ = offer_methods(registry, "all-MiniLM-L6-v2", "classification", kind, "full", raced)
        assert several.constructor_args.get("value") == kept


def test_the_rank_of_lora_is_offered_where_lora_is_ticked():
    registry = Registry(CATALOGUE, lambda: None)

    def has_rank(*ticked: str) -> bool:
        return offer_options(registry, "all-MiniLM-L6-v2", "classification", "race", "full", ticked)[0].visible

    assert not has_rank("frozen", "full", "scratch") and has_rank("full", "lora") and not has_rank()
