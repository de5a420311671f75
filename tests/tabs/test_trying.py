"""What is tried on a tuned model, and what it was right or wrong about."""

from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import pytest

from explorer.analysis.generation_results import GenerationStep
from explorer.tabs.fine_tune import mistakes
from explorer.tabs.fine_tune.looking import Looked
from explorer.tabs.fine_tune.try_it import _continue_both, _fill_both, _samples, _without, ask_tuned, build, find_sides
from explorer.training.tuning.examples import split_words
from explorer.training.tuning.recipe import TASKS
from explorer.training.tuning.results import BeforeAndAfter, Judged
from explorer.training.tuning.suits import CAN_BEFORE
from tests.figures.tuned_jobs import OUTCOME, make_job, make_log


def look(task: str, run: int = 0, **changes) -> Looked:
    """At a job of two runs; changes are of the outcomes."""
    job = make_job("frozen", "full")
    runs = tuple(replace(run, recipe=replace(run.recipe, task=task)) for run in job.spec.runs)
    outcomes = {0: replace(OUTCOME, **changes), 1: replace(OUTCOME, **changes)}
    job = replace(job, spec=replace(job.spec, runs=runs), outcomes=outcomes)
    return Looked(job, run, (job,), lambda id: make_log(job), is_example=False, is_own=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ada (of London) met J. Smith.", "Ada ( of London ) met J. Smith ."),
        ('U.S. troops, in "Paris"!', 'U.S. troops , in " Paris " !'),
        ("Don't stop at 3.5 …", "Don't stop at 3.5 …"),
        ("well-known ... yes?!", "well-known ... yes ? !"),
        (" \n", ""),
    ],
)
def test_a_sentence_is_cut_into_words_as_the_examples_are(text, words):
    assert list(split_words(text)) == words.split()


@pytest.mark.parametrize(
    ("task", "text", "second", "where"),
    [("classification", " ", "", "the box"), ("pairs", "A dog.", " ", "each of the two boxes")],
)
def test_an_empty_box_is_named_and_the_answer_before_stays(task, text, second, where):
    [(message, answer)] = ask_tuned(None, look(task), text, second)
    assert f"Write a sentence into {where}." in message and answer == gr.skip()


def test_an_answer_of_all_runs_stays_whichever_is_looked_at_and_says_whose_it_is():
    with gr.Blocks(), gr.Tabs():
        *_, tried = build(look("classification")).parts
    assert tried.key(look("classification", 0)) == tried.key(look("classification", 1)), "a race shows all of its runs"
    begun = look("classification", 1)
    begun = replace(begun, status=replace(begun.status, outcomes={0: begun.status.outcomes[0]}))
    assert [side.title for side in find_sides(begun)] == ["Head on frozen features"]
    spec = begun.status.spec
    alone = replace(begun, run=0, status=replace(begun.status, spec=replace(spec, runs=spec.runs[:1])))
    assert [side.title for side in find_sides(alone)] == [""]
    assert tried.key(look("masked", 0)) != tried.key(look("masked", 1)), "beside its base stands one run"
    assert [one.elem_id for one in tried.outputs] == ["tune-tried"] and tried.draw(look("masked")) == ("",)


@pytest.mark.parametrize(
    ("task", "title"), [("tagging", "Confusion matrix of 14 words: "), ("pairs", "Confusion matrix: ")]
)
def test_a_picture_of_words_says_how_many_words_it_counts(task, title):
    *_, links = mistakes.draw(look(task, labels=("B", "O"), confusion=((3, 1), (2, 8))), "wrong")
    assert f"data-title='{title}" in links and "n = 4 held-out" in links


@pytest.mark.parametrize("task", TASKS)
def test_answers_stand_beside_the_base_where_it_can_answer_else_beside_the_other_runs(task):
    sides = find_sides(look(task, run=1))
    if task in CAN_BEFORE:
        assert [side.is_base for side in sides] == [True, False] and sides[0].model == "MiniLM"
        assert sides[1].model.endswith("-1"), "the run looked at"
    else:
        assert [side.title for side in sides] == ["Head on frozen features", "Everything"]
        assert all(side.labels == OUTCOME.labels and not side.is_base for side in sides)


def test_before_a_learned_mix_stands_an_even_mix_which_is_not_the_base():
    looked = look("similarity", before_and_after=(BeforeAndAfter("A [B]", "(0.91)", "(0.95)"),))
    runs = tuple(replace(run, recipe=replace(run.recipe, method="layers")) for run in looked.status.spec.runs)
    mixed = replace(looked, status=replace(looked.status, spec=replace(looked.status.spec, runs=runs)))
    assert find_sides(mixed)[0].title == "Before: MiniLM, an even mix of its layers"
    assert "Before: the base, an even mix of its layers<" in _samples(mixed)
    assert find_sides(looked)[0].title == "Before: MiniLM" and "Before: the base<" in _samples(looked)


def test_texts_without_a_right_answer_have_no_mistakes():
    judged = (Judged("easy", "", "0.5 bits per byte", 0.9), Judged("hard <b>", "", "3 bits per byte", 0.1))
    looked = look("causal", labels=(), confusion=(), judged=judged)
    table = mistakes.draw(looked, "wrong")[3]
    assert not mistakes.has_answers(looked) and "✗" not in table and "Right answer" not in table
    assert table.index("hard &lt;b&gt;") < table.index("easy")


def test_what_counts_as_right_is_no_mistake_though_it_is_written_otherwise():
    looked = look("answers", labels=(), confusion=(), judged=(Judged("one", "The cat.", "cat", 0.5, is_right=True),))
    assert mistakes.has_answers(looked)
    assert "every held-out example is right" in mistakes.draw(looked, "wrong")[3]
    assert "✗" not in mistakes.draw(looked, "all")[3]


def test_how_near_a_sentence_is_stands_as_a_cosine():
    found = (Judged("one", "the same", "another", 0.875, is_right=False),)
    looked = look("similarity", scores={"recall_at_1": 0.0}, labels=(), confusion=(), judged=found)
    table = mistakes.draw(looked, "wrong")[3]
    assert "Cosine" in table and ">0.88<" in table and "%" not in table and "✗" in table


def test_where_pairs_count_as_similar_is_told():
    judged = (Judged("a — b", "similar, 0.53", "similar, cosine 0.61", 0.61, is_right=True),)
    scored = look("similarity", scores={"spearman": 0.0}, labels=(), confusion=(), judged=judged)
    assert "0.5 is the border" in mistakes.draw(scored, "wrong")[0]
    triplets = look("similarity", scores={"recall_at_1": 1.0}, labels=(), confusion=(), judged=judged)
    assert "border" not in mistakes.draw(triplets, "wrong")[0]


def test_where_the_base_cannot_answer_it_is_said_why_and_how_far_one_comes_without_a_model():
    looked = look("classification", scores={"accuracy": 0.5}, baselines={"most frequent <class>": 0.25})
    said = _without(looked)
    assert "MiniLM has no layer for this task" in said and "most frequent &lt;class&gt; 25.0 %" in said
    assert "Without a model" not in _without(look("answers", baselines={}))
    assert "a race" not in said, "it was one"
    alone = look("classification")
    alone = replace(
        alone, status=replace(alone.status, spec=replace(alone.status.spec, runs=alone.status.spec.runs[:1]))
    )
    assert "a race" in _without(alone)
    assert not _without(look("text_to_text", baselines={"before fine-tuning": 0.25}))


def test_both_models_go_on_with_the_text_beside_what_they_expect_next():
    class Writers:
        def run(self, name, ask):
            tokens = (SimpleNamespace(text=f" {name}", probability=0.5), SimpleNamespace(text="[UNK]", probability=0.2))
            return SimpleNamespace(tokens=tokens, pieces=[SimpleNamespace(is_unknown=end) for end in (False, True)])

        def stream(self, name, write):
            assert write.keywords["strategy"] == "greedy"
            return iter(GenerationStep(7, f" {name}{number}", 0.5, 1.0, 1, 0.0, ()) for number in range(2))

    [shown] = _continue_both(Writers(), ["old", "new"], "Bees & <b>", titles=["Before: old", "After: new"])
    before, after = shown.split("</section>")[:2]
    assert "Before: old" in before and "Bees &amp; &lt;b&gt; old0 old1" in before
    assert "After: new" in after and "Bees &amp; &lt;b&gt; new0 new1" in after and "50 %" in after
    assert "1 of the 2 tokens, special ones included, is unknown to this model" in shown
    assert "[UNK] stands for any word" in shown


@pytest.mark.parametrize("blanks", [1, 2])
def test_every_blank_of_a_sentence_is_filled_before_and_after(shipped_registry, blanks):
    text = " and ".join(["She saw the ___"] * blanks) + "."
    [drawn] = _fill_both(shipped_registry, ["MiniLM (masked)", "BERT mini"], text, titles=["Before", "After"])
    assert drawn.count("<h3><bdi>Before") == drawn.count("<h3><bdi>After") == blanks
    told = [f"Blank {number}, the other left open" in drawn for number in (1, 2)]
    assert told == [blanks == 2] * 2
