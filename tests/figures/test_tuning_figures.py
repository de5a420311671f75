"""Fine-tuning as drawn: numbers as measured, words that are true of them, nothing by colour alone or unescaped."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl

import pytest

from explorer.figures.confusion import confusion_map, confusion_table, confusion_words, mistakes_table, order_judged
from explorer.figures.explore_links import explore_links, mix_link
from explorer.figures.job_list import job_list, run_table, when
from explorer.figures.job_state import job_box, progress_share
from explorer.figures.job_words import job_words
from explorer.figures.movements import mix_bars, mix_words, movement_bars, movement_words
from explorer.figures.tried import judged_box, judged_sides, samples_table, sides_table
from explorer.figures.tuning_words import (
    duration,
    kind_of,
    outcome_words,
    run_name,
    score_list,
    score_words,
    step_words,
)
from explorer.models.catalogue import CATALOGUE
from explorer.tabs.links import SEPARATOR
from explorer.training.jobs.tables import job_tables, run_tables
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.results import READING, TrainingStep
from explorer.training.tuning.suits import SCORES, explain_score
from tests.figures.tuned_jobs import EVIL, OUTCOME, STEPS, make_job, make_log

CARDS = {card.name: card for card in CATALOGUE}


def test_the_confusion_matrix_has_numbers_words_and_a_table():
    figure = confusion_map(OUTCOME)
    heat = figure.data[0]
    assert [list(row) for row in heat.text] == [["1", "1"], ["0", "2"]] and heat.texttemplate
    assert [list(row) for row in heat.z] == [[0.5, 0.5], [0.0, 1.0]], "shares of the right class"
    assert EVIL not in str(figure.to_json())
    assert figure.layout.yaxis.title.standoff, "the title keeps clear of the labels"
    assert "3 of 4 held-out examples are right" in confusion_words(OUTCOME)
    assert "3 of 4 held-out words are right" in confusion_words(OUTCOME, "words")
    for html in (confusion_table(OUTCOME), confusion_words(OUTCOME), mistakes_table(OUTCOME.judged, "wrong")):
        assert EVIL not in html


@pytest.mark.parametrize(
    ("confusion", "says"),
    [
        (((5, 2, 0), (1, 5, 0), (0, 0, 5)), "The commonest mistake: “a” taken for “b”, 2 times."),
        (((5, 2, 0), (0, 5, 2), (1, 0, 5)),
         "The commonest mistakes: “a” taken for “b” and “b” taken for “c”, 2 times each."),
        (((5, 2, 0), (0, 5, 2), (2, 0, 5)), "A mistake: “a” taken for “b”; 3 kinds are equally common, 2 times each."),
        (((5, 1, 0), (0, 5, 0), (0, 0, 5)), "A mistake: “a” taken for “b”."),
        (((5, 1, 0), (0, 5, 1), (0, 0, 5)), "The mistakes: “a” taken for “b” and “b” taken for “c”."),
        (((5, 1, 1), (0, 5, 1), (0, 0, 5)), "A mistake: “a” taken for “b”; 3 kinds are equally common, once each."),
        (((5, 0, 0), (0, 5, 0), (0, 0, 5)), "15 of 15 held-out examples are right."),
    ],
)  # fmt: skip
def test_mistakes_that_are_equally_common_are_not_passed_over(confusion, says):
    said = confusion_words(replace(OUTCOME, labels=("a", "b", "c"), confusion=confusion))
    assert says in said and said.count("taken for") == says.count("taken for")


@pytest.mark.parametrize(
    ("order", "texts"),
    [
        ("wrong", ["sure and wrong" + EVIL]),
        ("doubtful", ["doubtful", "sure", "surer"]),
        ("all", ["surer", "sure and wrong" + EVIL, "sure", "doubtful"]),
    ],
)
def test_examples_are_sorted_by_how_sure_the_model_is(order, texts):
    assert [one.text for one in order_judged(OUTCOME.judged, order)] == texts


def test_that_it_stays_close_to_the_start_is_said_only_where_it_does():
    assert "stayed within a tenth of its length" in movement_words(OUTCOME, "full")
    poor = replace(OUTCOME, scores={"accuracy": 0.1}, baselines={"most frequent class": 0.5})
    assert "pre-training left it." in movement_words(poor, "full") and "enough" not in movement_words(poor, "full")
    assert "154 weights could move: all that its answers are computed with" in movement_words(OUTCOME, "full")
    assert "most: layer 1, by 4.0 % of its length; least: embeddings, by 1.0 %" in movement_words(OUTCOME, "full")
    first = replace(OUTCOME, movements=OUTCOME.movements[:1])
    assert "most: embeddings, by 1.0 % of their length" in movement_words(first, "full")
    far = replace(OUTCOME, movements=(*OUTCOME.movements[:1], replace(OUTCOME.movements[1], relative=0.4)))
    assert "close" not in movement_words(far, "full")
    assert "close" not in movement_words(OUTCOME, "scratch")
    still = replace(OUTCOME, movements=tuple(replace(one, relative=0.0) for one in OUTCOME.movements[:2]))
    assert "exactly where they stood" in movement_words(still, "frozen")
    held = replace(OUTCOME, movements=(replace(OUTCOME.movements[0], relative=0.0), OUTCOME.movements[1]))
    assert "by 4.0 %. Not at all: embeddings." in movement_words(held, "lora")
    assert "Not at all" not in movement_words(OUTCOME, "full")
    bars = movement_bars(OUTCOME.movements).data[0]
    assert list(bars.x) == [0.01, 0.04] and list(bars.y) == ["embeddings", "layer 1"], "what is new has no start"
    assert "The new head" in movement_words(OUTCOME, "full") and "new head" not in movement_words(still, "frozen")
    assert movement_bars(still.movements) is None
    assert "listens to all layers alike: none has clearly more than 33 %" in mix_words((0.334, 0.333, 0.333))
    assert "layer 1 (50 %)" in mix_words(OUTCOME.mix) and list(mix_bars(OUTCOME.mix).data[0].y) == [0.2, 0.5, 0.3]
    labels = mix_bars([0.3, 0.45, 0.25]).data[1]
    assert list(labels.y) == [1 / 3, 0.45, 0.25] and labels.text[0] == "30 %", "the dotted line crosses no label"


def test_a_job_says_its_state_in_words_with_its_place_and_its_reason():
    assert "place 2 in line" in job_words(make_job("full", state="waiting"))
    running = job_words(make_job("full", "lora", state="running"))
    assert "run 1 of 2" in running and "step 15 of 20" in running
    stopped = job_words(make_job("full", "lora", state="stopped"))
    assert "at step 15 of 20, in run 1 of 2, Everything" in stopped
    assert step_words(STEPS[0], is_one_of_several=True).endswith("about 3 s left of this run")
    assert step_words(STEPS[0]).endswith("about 3 s left")
    assert "right label.'>accuracy</abbr> <span" in job_words(make_job("full"))
    assert "no better than" not in outcome_words(OUTCOME, Recipe("pairs"))
    poor = replace(OUTCOME, scores={"accuracy": 0.6})
    assert "no better than logistic regression on words" in outcome_words(poor, Recipe("pairs"))
    assert "epochs" not in outcome_words(poor, Recipe("pairs", "frozen"))
    perfect = replace(poor, scores={"accuracy": 1.0}, baselines=poor.baselines | {"logistic regression on words": 1.0})
    said = outcome_words(perfect, Recipe("pairs"))
    assert "Logistic regression on words is as good: these held-out examples are too easy to tell the two apart" in said
    assert "may help" not in said, "at 100 % nothing can"
    lower = replace(OUTCOME, scores={"perplexity": 9.0}, baselines={"before fine-tuning": 8.0, "other": 9.5})
    assert "no better than before fine-tuning" in outcome_words(lower, Recipe("masked"))
    assert "no better" not in outcome_words(replace(lower, scores={"perplexity": 7.0}), Recipe("masked"))
    assert "</b> on held-out examples" in outcome_words(lower, Recipe("masked")), "only those with a blank are judged"
    race = make_job("full", "lora")
    better = replace(race.outcomes[1], scores={"accuracy": 0.99})
    assert re.search(
        r"Best: LoRA, <b><abbr title=[^>]*>accuracy</abbr> 99.0 %</b> \(95 % interval \d+ to \d+ %\); one seed",
        job_words(replace(race, outcomes=race.outcomes | {1: better})),
    )
    worse = {0: replace(better, scores={"perplexity": 9.0}), 1: replace(better, scores={"perplexity": 7.5})}
    assert re.search(
        r"Best: LoRA, <b><abbr title=[^>]*>perplexity</abbr> 7.50</b>", job_words(replace(race, outcomes=worse))
    )
    assert "Best" not in job_words(replace(race, outcomes=race.outcomes | {1: worse[1]}))
    told = {"before fine-tuning": 0.92}
    close = {run: replace(better, scores={"spearman": 0.77 + run / 10}, baselines=told) for run in range(2)}
    said = job_words(replace(race, outcomes=close))
    assert (
        "0.87</b>; one seed, so a small lead may be chance. No run does better than before fine-tuning (0.92)." in said
    )
    assert "No run does better" not in job_words(race)
    alike = job_words(replace(race, outcomes={0: better, 1: better}))
    assert re.search("Equally good, and best: Everything and LoRA, <b><abbr [^>]*>accuracy</abbr> 99.0 %</b>", alike)
    assert run_table(replace(race, outcomes={0: better, 1: better})).count("</b> best") == 2
    curve = make_job("frozen", "full", examples=(8, 32))
    met, unmet = ({"logistic regression on words": value} for value in (0.7, 1.0))
    scored = [(0.79, met), (0.7, met), (0.9, unmet), (1.0, unmet)]
    outcomes = {run: replace(better, scores={"accuracy": one}, baselines=of) for run, (one, of) in enumerate(scored)}
    said = job_words(replace(curve, outcomes=outcomes))
    assert "Best: Everything, 32 examples, " in said and "no better than logistic regression on words (100.0 %)" in said
    assert "1 of 4 runs does better than the best baseline on as many examples." in said
    outcomes |= {0: outcomes[1]}
    assert "no run does better" in job_words(replace(curve, outcomes=outcomes))
    failed = make_job("full", state="failed", message=f"The loss is no number.{EVIL} Lower the learning rate.")
    assert "The loss is no number." in job_words(failed) and EVIL not in job_box(failed)
    assert "role='alert'" in job_box(failed) and "example" in job_box(failed, is_example=True).lower()
    assert progress_share(make_job("full", "lora", state="running")) == 0.375
    assert (kind_of(make_job("full").spec), kind_of(make_job("full", "lora").spec)) == ("one", "race")
    curve = make_job("full", examples=(8, 32)).spec
    assert kind_of(curve) == "labels" and run_name(curve, 1) == "Everything, 32 examples"


def test_lists_of_jobs_escape_and_mark_what_is_best():
    race = make_job("frozen", "full")
    table = job_list([race], race.id, [race.id], now=1e9 + 7200)
    assert "aria-current=true" in table and " checked" in table and "2 h ago" in table and EVIL not in table
    assert "No run of yours is kept here" in job_list([], "", [], 0)
    rows = run_table(race).split("<tr>")
    assert "best" in rows[3] and "best" not in rows[2] and run_table(make_job("full")) == ""
    assert when(0, 86_400 * 3) == "1 Jan 1970"
    assert (duration(8.2), duration(125), duration(3780)) == ("8 s", "2 min 5 s", "1 h 3 min")
    assert (score_words("accuracy", 0.875), score_words("spearman", -0.5)) == ("87.5 %", "−0.50")


def test_links_open_the_tabs_that_the_model_is_able_to_use():
    name = 'mine" & <yours> · LoRA #a1b2c3d4e5f6-0'
    card = replace(CARDS["MiniLM (masked)"], name=name)
    row = explore_links(card, "MiniLM (masked)", "tuned/a/0.zip", has_moved=True)
    still = explore_links(card, "MiniLM (masked)", "", has_moved=False)
    assert "beside its base" in row and "beside its base" not in still and "the same as its base" in still
    assert "tab=fill&model=mine%22+%26+%3Cyours%3E+%C2%B7+LoRA+%23a1b2c3d4e5f6-0&show=compare" in row
    assert "?tab=attention&model=MiniLM+%28masked%29'" in row and "Attention <small>of its base" in row
    assert still.count("tab=attention") == 1
    assert "&layer=6&beside_layer=6&beside=MiniLM" in row  # both at the same layer
    mixed = mix_link(name, OUTCOME.mix)
    assert "tab=neighbours&model=mine%22" in mixed and "&weights=0.2000%2C+0.5000%2C+0.3000'" in mixed
    assert "<yours>" not in mixed
    assert "tab=generate" not in row and "tab=anisotropy" in row and "<yours>" not in row
    for html in (
        judged_box(OUTCOME.judged[0], OUTCOME.labels),
        sides_table([(EVIL, [(EVIL, 0.5)])], [EVIL]),
        samples_table(OUTCOME.before_and_after),
        judged_sides([(EVIL, OUTCOME.judged[0], OUTCOME.labels)] * 2, is_sure=True),
    ):
        assert EVIL not in html and html
    assert "what is right" not in samples_table(OUTCOME.before_and_after)
    told = samples_table([replace(OUTCOME.before_and_after[0], text="A ___ day. [long]", before="")])
    assert "[what is right]" in told and "<i>nothing</i>" in told
    sides = [(title, OUTCOME.judged[0], OUTCOME.labels) for title in ("before", "after")]
    both = judged_sides(sides, is_sure=False)
    assert both.index("<bdi>before") < both.index("<bdi>after") and "sure<" not in both
    assert "<bdi>before" in judged_sides(sides[:1], is_sure=True), "of several runs, the only one that is done"
    assert "<section>" not in judged_sides([("", *sides[0][1:])], is_sure=True)


def test_a_tuned_model_that_fills_spans_stands_beside_its_base_and_an_lstm_is_not_looked_at_in_attention():
    name = "MiniLM (span) · full · a | b #a1b2c3d4e5f6-0"
    row = explore_links(replace(CARDS["MiniLM (span)"], name=name), "MiniLM (span)", "", has_moved=True)
    [link] = [dict(parse_qsl(unescape(href))) for href in re.findall(r"href='\?([^']*)'", row) if "show=spans" in href]
    assert link.pop("span_models").split(SEPARATOR) == [name.replace("|", " "), "MiniLM (span)"]
    assert link == {"tab": "fill", "show": "spans"} and "Fill in the blank" not in row and "tab=attention" in row
    assert "recipe as a script" in explore_links(CARDS["MiniLM (span)"], "", "tuned/a/0.zip", has_moved=True)
    row = explore_links(replace(CARDS["ELMo mini"], name=name), "ELMo mini", "tuned/a/0.zip", has_moved=True)
    assert "no script" in row and "recipe as a script" not in row
    assert "tab=attention" not in row and "tab=neighbours" in row and "tab=anisotropy" in row


def test_tables_hold_every_number_and_what_it_is_of():
    status = make_job("full", "frozen")
    log = make_log(status)
    tables = job_tables([(status, (*log, log[-1]))])  # told again
    assert len(tables["curves"]) == 1 + 2 * len(STEPS) and tables["curves"][1][-7:-2] == [5, 0.5, 1.0, 1.2, None]
    assert ["accuracy", 0.71, None] in [row[-3:] for row in tables["scores"]]
    run = run_tables(make_job("full", outcomes={0: OUTCOME}), 0)
    assert run["confusion"][1][-3:] == ["good", 1, 1] and len(run["judged"]) == 5
    assert set(run) == {"confusion", "judged", "movements", "mix", "samples"}


def test_every_score_is_explained_where_it_stands():
    for name in SCORES:
        said = explain_score(name, "answers")
        assert said.endswith(".") and said in score_list({name: 0.5}, "answers").replace("&#x27;", "'")
    for task, why in (("causal", "counts where each text ends"), ("masked", "this one over all tokens")):
        with_loss = [name for name in SCORES if why in score_list({name: 9}, task)]
        assert with_loss == ["perplexity"], "e to the loss of the curves is another number"
    assert "phrases" in explain_score("f1", "tagging") != explain_score("f1", "answers")
    assert "masked tokens" in explain_score("accuracy", "masked") and "label" in explain_score("accuracy", "pairs")
    assert explain_score("of another version", "pairs") == "" and EVIL not in score_list({EVIL: 1.0}, "pairs")
    race = make_job("frozen", "full")
    for html in (job_box(race), run_table(race), job_list([race], race.id, [], 0)):
        assert f"title='{explain_score('accuracy', 'classification')}'" in html


def test_a_model_that_is_being_loaded_is_said_to_be_for_the_first_run_and_the_next():
    race = make_job("frozen", "full", state="running")
    assert "loading the model" not in job_words(race) and "budget loading" not in job_box(race)
    first = replace(race, last={})
    second = replace(race, outcomes={0: OUTCOME})
    for status, which in ((first, "run 1 of 2, Head on frozen features"), (second, "run 2 of 2, Everything")):
        assert f"{which}: loading the model." in job_words(status) and "budget loading" in job_box(status)
    reading = replace(race, last={0: TrainingStep(READING, 1, 2, 0.0, 0.1)}, outcomes={})
    assert ">1 of 2 batches<" in run_table(reading) and "reading features: 1 of 2 batches." in job_words(reading)
    assert "budget loading" not in job_box(make_job("full", state="stopped", last={}))
