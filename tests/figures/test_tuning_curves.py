"""Losses and scores as drawn and told: lines that can be told apart, words that are true of them."""

import re
from dataclasses import replace
from html import unescape

from explorer.figures.job_state import job_box
from explorer.figures.job_words import job_words
from explorer.figures.layer_lines import LINE_PIXELS
from explorer.figures.tuning_curves import Curve, curve_words, epochs_note, loss_chart, score_chart
from explorer.figures.tuning_words import outcome_words
from explorer.training.tuning.recipe import Recipe
from tests.figures.tuned_jobs import EVIL, OUTCOME, STEPS, make_job


def test_curves_tell_training_from_held_out_by_their_line_and_runs_by_their_marks():
    curves = [Curve("Everything", STEPS, 0), Curve("LoRA" + EVIL, STEPS[:2], 1)]
    figure = loss_chart(curves)
    trained, held, other, _ = figure.data
    assert (list(trained.x), list(trained.y)) == ([0.5, 1.0, 1.5, 2.0], [1.2, 0.8, 0.4, 0.2])
    assert list(held.y) == [0.7, 0.5, 0.9] and held.line.dash == "dash" and trained.line.dash is None
    assert held.marker.symbol != figure.data[3].marker.symbol and trained.line.color != other.line.color
    names = figure.layout.annotations[0].text
    assert "Everything" in names and EVIL not in names and "dashed" in names
    scores = score_chart(curves[:1], "accuracy", OUTCOME.baselines)
    assert list(scores.data[0].y) == [0.6, 0.8, 0.75]
    assert "logistic regression on words 60.0 %" in [note.text for note in scores.layout.annotations]
    words = curve_words(curves, "accuracy")
    assert "training loss from 1.20 to 0.20" in words and EVIL not in words
    assert words.count("is surer than it should be of others") == 1, "only where the held-out loss turned up"
    assert "held-out accuracy from 60.0 % to 75.0 % (at best 80.0 % on the way)" in words
    lower = [replace(STEPS[-1], score=value, epoch=float(at)) for at, value in enumerate((20.0, 12.5, 14.0))]
    assert "from 20.00 to 14.00 (at best 12.50 on the way)" in curve_words([Curve("A", lower)], "perplexity")
    assert "at best" not in curve_words([Curve("A", lower[:2])], "perplexity")
    assert "The score still rose" not in words
    fell_back = [*STEPS, replace(STEPS[-1], epoch=9.0, score=0.1)]
    assert "surer than" in curve_words([Curve("A", fell_back)], "accuracy"), "though the best came after the lowest"
    assert "The score still rose" not in curve_words([Curve("A", fell_back)], "accuracy")
    later = [replace(step, score=0.9) if step is STEPS[-1] else step for step in STEPS]
    assert "The score still rose: it goes by the answers alone" in curve_words([Curve("A", later, 0)], "accuracy")
    assert "The score still rose" not in curve_words([Curve("A", later, 0)], "perplexity"), "which is best when low"
    early = [replace(later[1], score=0.95, epoch=0.1, held_out_loss=0.8), *later]
    assert "The score still rose" not in curve_words([Curve("A", early)], "accuracy"), "the best came before the lowest"


def test_what_the_first_batches_happened_to_lose_is_neither_drawn_nor_told_once_there_is_a_mean():
    losses = [(1, 2.6), (4, 3.9), (15, 3.8), (60, 3.3)]
    steps = [replace(STEPS[0], step=step, steps=60, epoch=step / 8, loss=loss) for step, loss in losses]
    assert "training loss from 3.80 to 3.30" in curve_words([Curve("A", steps)], "perplexity")
    assert list(loss_chart([Curve("A", steps)]).data[0].y) == [3.8, 3.3]
    assert "training loss from 2.60 to 3.90" in curve_words([Curve("A", steps[:2])], "perplexity"), "at the beginning"
    long = [replace(step, steps=600) for step in steps]
    assert [loss for _, loss in Curve("A", long).trained] == [3.3], "at the latest from the 20th step on"


def test_a_held_out_loss_that_rose_again_is_told_with_as_many_decimals_as_it_takes_and_no_more_epochs_are_advised():
    losses = (0.0301, 0.0184, 0.0204)
    steps = [replace(STEPS[1], loss=1.0 - index / 10, held_out_loss=loss) for index, loss in enumerate(losses)]
    words = curve_words([Curve("A", steps)], "accuracy")
    assert "held-out loss from 0.030 to 0.020," in words and "was lowest (0.018) before the end" in words
    longer = [replace(STEPS[0], step=2, steps=2, loss=loss) for loss in (1.2, 1.2, 1.1, 1.1, 1.0, 1.0, 1.0, 0.8)]
    assert "more epochs would" in curve_words([Curve("A", longer)], "accuracy")
    assert "more epochs would" not in curve_words([Curve("A", [*longer, *steps])], "accuracy")
    poor = replace(OUTCOME, scores={"accuracy": 0.6})
    job = make_job("full", outcomes={0: poor})
    for said in (outcome_words(poor, Recipe("pairs"), steps), job_words(job, steps), job_box(job, steps)):
        assert "more or other examples, fewer epochs or a smaller learning rate may help" in said
    assert "more examples or epochs may help" in outcome_words(poor, Recipe("pairs"), steps[:2])
    slow = Recipe("pairs", learning_rate=1e-9)
    assert "words: a larger learning rate may help" in outcome_words(poor, slow, steps[:2])
    assert "letting more of the model move" in outcome_words(poor, Recipe("pairs", "frozen"), steps)


def test_no_more_epochs_are_advised_where_the_held_out_loss_was_lowest_on_the_way_though_the_training_loss_falls():
    held = (1.2, 1.1, 1.07, 1.1)
    losses = (1.3, 1.28, 1.26, 1.24, 1.2, 1.16, 1.12, 1.06)
    steps = [replace(STEPS[0], step=2, steps=2, loss=loss) for loss in losses]
    lowest = [replace(step, held_out_loss=loss) for step, loss in zip(steps[::2], held, strict=True)]
    course = [one for pair in zip(lowest, steps[1::2], strict=True) for one in pair]
    said = curve_words([Curve("A", course)], "accuracy")
    assert "training loss was still falling, its held-out loss no longer: that was lowest (1.07) on the way" in said
    assert "more epochs" not in said
    poor = replace(OUTCOME, scores={"accuracy": 0.6})
    assert "words: more or other examples may help" in outcome_words(poor, Recipe("pairs"), course)
    falling = [replace(step, held_out_loss=None) if step.held_out_loss == 1.1 else step for step in course]
    assert "more epochs would teach it more" in curve_words([Curve("A", falling)], "accuracy")
    assert "more examples or epochs may help" in outcome_words(poor, Recipe("pairs"), falling)


def test_more_epochs_than_asked_for_are_explained_and_fewer_are_not_advised():
    rising = [replace(STEPS[1], epoch=8.0, steps=20, held_out_loss=loss) for loss in (0.3, 0.1, 0.2)]
    poor, recipe = replace(OUTCOME, scores={"accuracy": 0.6}), Recipe("pairs", epochs=2)
    assert "16 epochs, not 2: so few examples make few steps, and a run goes on until 20 are made" in epochs_note(
        recipe, rising
    )
    assert "<p class='note'>Everything: 16 epochs, not 2" in epochs_note(recipe, rising, "Everything")
    assert "more or other examples or a smaller learning rate may help" in outcome_words(poor, recipe, rising)
    assert "more examples or more than 16 epochs may help" in outcome_words(poor, recipe, rising[:2])
    assert "until 20 are made, unless patience ends it." in epochs_note(replace(recipe, patience=1), rising)
    assert epochs_note(Recipe("pairs", epochs=2), STEPS) == epochs_note(recipe, ()) == ""
    fitted = [replace(STEPS[3], epoch=0.0)]
    assert epochs_note(Recipe("pairs", "frozen", epochs=2), fitted) == "", "at once, and so in no epochs"


def test_nobody_is_said_to_be_sure_of_a_cosine():
    words = curve_words([Curve("A", STEPS)], "spearman")
    assert "its own examples ever better, and others worse by that loss." in words and "sure" not in words
    later = [replace(step, score=0.9) if step is STEPS[-1] else step for step in STEPS]
    for score, why in (("recall_at_1", "which sentence is nearest"), ("spearman", "the order of the pairs alone")):
        assert f"worse by that loss. The score still rose: it goes by {why}" in curve_words([Curve("A", later)], score)


def test_an_axis_of_shares_ends_where_shares_do():
    for share in (0.0, 1.0):
        flat = [replace(step, score=share) for step in STEPS]
        low, high = score_chart([Curve("A", flat)], "exact_match", {}).layout.yaxis.range
        assert -0.01 < low <= share <= high < 1.01
    assert score_chart([Curve("A", flat)], "perplexity", {}).layout.yaxis.range[1] > 1.01
    close = [replace(step, score=0.9 + 0.001 * step.step) for step in STEPS]
    assert score_chart([Curve("A", close)], "accuracy", {}).layout.yaxis.dtick == 0.01
    assert score_chart([Curve("A", close[:1])], "accuracy", {}).layout.yaxis.dtick is None, "one point, with room"


def test_a_long_name_stands_in_several_lines_above_a_chart_which_is_so_much_higher():
    long = Curve("all-MiniLM-L6-v2, Head on frozen features (How similar two sentences are <b>)", STEPS)
    several, short = loss_chart([long, long]), loss_chart([replace(long, name="A")] * 2)
    lines = several.layout.annotations[0].text.split("<br>")
    assert len(lines) == 5 and max(len(re.sub("<.*?>", "", unescape(line))) for line in lines) <= 52
    assert "are &lt;b&gt;)" in lines[1] and "<b>" not in several.layout.annotations[0].text
    for edge in ("margin.t", "height"):
        assert several.layout[edge] - short.layout[edge] == 2 * LINE_PIXELS


def test_what_is_fitted_at_once_is_a_level_beside_what_is_learned_step_by_step():
    at_once = Curve("Head", (replace(STEPS[-1], loss=None, epoch=0.0, held_out_loss=0.7, score=0.6),), 1)
    _, held, _, level = loss_chart([Curve("Everything", STEPS, 0), at_once]).data
    assert (list(level.x), list(level.y)) == ([0.0, held.x[-1]], [0.7, 0.7])
    level = score_chart([Curve("Everything", STEPS, 0), at_once], "accuracy", {}).data[1]
    assert list(level.y) == [0.6, 0.6] and level.line.dash == "dot"
    assert list(score_chart([at_once], "accuracy", {}).data[0].x) == [0.0], "alone it is what was measured"
    assert "Head (fitted at once to features read once): held-out loss 0.70" in curve_words([at_once], "accuracy")


def test_what_a_run_under_way_has_measured_once_stands_where_it_was_measured():
    later = replace(STEPS[0], epoch=1.4, loss=0.6)
    under_way = Curve("Everything", (STEPS[0], STEPS[1], later))
    _, held = loss_chart([under_way]).data
    assert (list(held.x), list(held.y)) == ([1.0], [0.7])
    score = score_chart([Curve("Head", STEPS), under_way], "accuracy", {}).data[1]
    assert (list(score.x), list(score.y), score.line.dash) == ([1.0], [0.6], None)


def test_a_run_that_was_still_learning_when_it_ended_is_said_to_be_short():
    falling = (1.2, 1.2, 1.1, 1.1, 1.0, 1.0, 1.0, 0.8)
    last = replace(STEPS[0], step=9, steps=9, held_out_loss=None, score=None)
    logs = [replace(last, loss=loss) for loss in falling]
    assert "was still falling" in curve_words([Curve("From random weights", logs)], "accuracy")
    assert "was still falling" not in curve_words([Curve("A", [*logs, replace(logs[0], loss=0.2)])], "accuracy")
    stopped = [replace(step, steps=30) for step in logs]
    assert "was still falling" not in curve_words([Curve("A", stopped)], "accuracy"), "its epochs are not over"
