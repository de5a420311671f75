"""Senses in numbers and the quiz as drawn: numbers as measured, texts escaped, baselines beside them."""

import re

import pytest

from explorer.analysis.exporting import to_tables
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.sense_quiz import QuizAnswer, SenseQuestion
from explorer.analysis.sense_results import (
    Estimate,
    LayerSenses,
    LayerSimilarity,
    SenseConfusion,
    SenseScores,
    UseSimilarity,
)
from explorer.figures.quiz import Round, answer_sheet, question_key, question_sheet, quiz_score
from explorer.figures.sense_tables import (
    baseline_words,
    confusion_table,
    foreign_words,
    score_words,
    senses_table,
    similarity_table,
)
from explorer.figures.senses import accuracy_chart, baselines, silhouette_chart, similarity_chart
from explorer.figures.style import percent

EVIL = "</script><b>"


def estimate(value):
    return Estimate(value, value - 0.05, value + 0.04)


def layer(number, share, baseline=0.1):
    random_words = None if baseline is None else estimate(baseline)
    return LayerSenses(number, *map(estimate, (share, share + 0.1, share - 0.5, 0.7)), random_words)


def scores(model="M & M", **changes):
    given = {
        "model": model, "pieces": "mean", "senses": (("a", 6), (EVIL, 4)), "uses": 10,
        "layers": (layer(0, 0.2), layer(1, 0.5), layer(2, 0.6)), "chance_nearest": 0.45,
        "chance_centroid": 0.5, "most_frequent": 0.6, "bag_of_words": 0.3, "intervals": "bootstrap", "remarks": (),
    }  # fmt: skip
    return SenseScores(**(given | changes))


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


def texts(figure):
    return [annotation.text for annotation in figure.layout.annotations]


@pytest.mark.parametrize(("measure", "values"), [("nearest", (0.2, 0.5, 0.6)), ("centroid", (0.3, 0.6, 0.7))])
def test_accuracies_stand_with_their_bands_and_baselines(measure, values):
    figure = accuracy_chart([scores()], measure, 1)
    line, band = trace(figure, "M & M"), trace(figure, "M & M, 95 % interval")
    assert list(line.x) == [0, 1, 2] and list(line.y) == pytest.approx(values)
    assert list(line.text) == [percent(v) for v in values] and "%{text} [%{customdata[0]}" in line.hovertemplate
    assert [tuple(one) for one in line.customdata] == [(percent(v - 0.05), percent(v + 0.04)) for v in values]
    assert list(band.x) == [0, 1, 2, 2, 1, 0] and max(band.y) == pytest.approx(values[2] + 0.04)
    chance = {"nearest": 0.45, "centroid": 0.5}[measure]
    chance_words = f"chance {chance:.0%}".replace("%", " %")
    assert texts(figure) == ["bag of words 30 %", chance_words, "most frequent sense 60 %"]
    heights = sorted(shape.y0 for shape in figure.layout.shapes if shape.y0 == shape.y1)
    assert heights == [0.3, chance, 0.6]
    assert [shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1] == [1], "the layer looked at"
    assert "M &amp; M" in line.hovertemplate


def test_tables_of_two_models_say_whose_each_row_is():
    tables = to_tables((scores("A"), scores("B")))
    for rows in tables.values():
        assert rows[0][0] == "model" and [row[0] for row in rows[1:]] == sorted(row[0] for row in rows[1:])
    assert tables["senses"][1:] == [["A", "a", 6], ["A", EVIL, 4], ["B", "a", 6], ["B", EVIL, 4]]


def test_two_models_differ_in_colour_and_shape_and_are_named():
    figure = accuracy_chart([scores(), scores(EVIL)], "nearest", None)
    lines = [one for one in figure.data if one.mode == "lines+markers"]
    assert len({one.line.color for one in lines}) == len({one.marker.symbol for one in lines}) == 2
    (names,) = [text for text in texts(figure) if "M &amp; M" in text]
    assert "&lt;/script&gt;&lt;b&gt;" in names and EVIL not in names
    assert not any(shape.x0 == shape.x1 for shape in figure.layout.shapes), "no layer is looked at"


def test_baselines_that_are_one_number_have_one_label():
    found = baselines(scores(chance_nearest=0.097, chance_centroid=0.1, most_frequent=0.1, bag_of_words=0.2))
    assert found == [(0.2, "bag of words 20 %"), (0.1, "most frequent sense and chance 10 %")]
    apart = baselines(scores(chance_nearest=0.1617, chance_centroid=1 / 6, most_frequent=1 / 6, bag_of_words=None))
    told = "chance (sense centroid) and most frequent sense 17 %, chance (nearest use) 16 %"
    assert apart == [(1 / 6, told)], "one label, but 17 % is not 16 %"
    assert len(baselines(scores(bag_of_words=None), "nearest")) == 2
    level = scores(chance_centroid=0.5, most_frequent=0.5, bag_of_words=0.5)
    assert baselines(level, "centroid") == [(0.5, "bag of words, most frequent sense and chance 50 %")]


def test_a_layer_above_the_last_is_marked_at_the_last():
    figure = silhouette_chart([scores()], 24)
    assert [shape.x0 for shape in figure.layout.shapes if shape.x0 == shape.x1] == [2]
    assert list(trace(figure, "M & M").y) == pytest.approx((-0.3, 0, 0.1))


def test_self_similarity_stands_beside_random_words():
    figure = similarity_chart([scores()], 0)
    assert list(trace(figure, "M & M, random words").y) == [0.1, 0.1, 0.1]
    assert list(trace(figure, "M & M").y) == [0.7, 0.7, 0.7]
    assert trace(figure, "M & M, random words").line.dash == "dash"
    assert {"the word", "random words"} <= set(texts(figure))
    told = {note.text: (note.x, note.yanchor) for note in figure.layout.annotations}
    assert told["the word"] == (1, "bottom") and told["random words"] == (1, "top")  # apart however near they are
    without = scores(layers=(layer(0, 0.2, None),))
    assert list(trace(similarity_chart([without], 0), "M & M, random words").x) == []


def test_of_two_models_the_dashed_lines_are_named_once():
    named = [text for text in texts(similarity_chart([scores(), scores("N")], 0)) if "M &amp; M" in text]
    assert len(named) == 1 and named[0].endswith("<br>- - random words")
    assert "- -" not in "".join(texts(similarity_chart([scores()], 0))), "of one, the lines are named where they are"
    without = [scores(layers=(layer(0, 0.2, None),)), scores("N", layers=(layer(0, 0.2, None),))]
    assert "- -" not in "".join(texts(similarity_chart(without, 0)))


def test_the_table_holds_every_layer_and_the_chosen_vector():
    table = senses_table([scores()], [("M & M", f"sum of {EVIL}", layer(2, 0.9))], 1)
    assert EVIL not in table and "sum of &lt;/script&gt;&lt;b&gt;" in table
    rows = re.findall(r"<tr(?: class=at)?><th scope='row'>(.*?)</th>(.*?)</tr>", table)
    assert [name for name, _ in rows][:3] == ["0, input", "1", "2"] and "90 % <small>85–94</small>" in rows[3][1]
    assert "50 % <small>45–54</small>" in rows[1][1] and "title='0.5'" in rows[1][1]
    assert table.count("<tr class=at>") == 2, "the layer of the slider, and the chosen vector"
    two = senses_table([scores(), scores("other")], [], 1)
    assert two.count("rowgroup") == 2 and two.count("<tr class=at>") == 2
    assert "–</td>" in senses_table([scores(layers=(layer(0, 0.2, None),))])
    long = "sum of layers 3 to 6, z-scored, last pieces"
    assert f"class='wraps' title='{long}'>{long}</th>" in senses_table([scores()], [("M & M", long, layer(2, 0.9))], 1)


def test_similarity_without_labels():
    found = UseSimilarity(EVIL, "mean", 3, (LayerSimilarity(0, estimate(0.9), None),), "bootstrap", ())
    assert "0.90 <small>0.85 to 0.94</small>" in similarity_table([found], 0) and "<tr class=at>" in similarity_table(
        [found], 0
    )
    assert EVIL not in similarity_table([found, found]) and list(trace(similarity_chart([found], 0), EVIL).y) == [0.9]


def test_sentences_say_the_numbers():
    said = score_words(scores(), "layer 1", layer(1, 0.5))
    assert "M &amp; M, layer 1" in said and ">50 %</b>" in said and ">60 %</b>" in said
    assert "60 %, chance (sense centroid) 50 %, chance (nearest use) 45 %, bag of words 30 %" in baseline_words(
        scores()
    )
    assert "layer 2 of M &amp; M: nearest use 60 %, sense centroid 70 %" in foreign_words(scores(), None)
    assert "n = 10, 2 senses" in foreign_words(scores(), 0) and "layer 0" in foreign_words(scores(), 0)


def test_confusions_say_what_is_taken_for_what():
    confusion = SenseConfusion("M", "layer 1", "mean", ("a", EVIL), ((5, 1), (3, 1)), ((4, 2), (0, 4)))
    table = confusion_table(confusion, "nearest")
    assert EVIL not in table and "5 of 6 uses of “a” taken for “a”" in table
    assert "3 of 4 uses of “&lt;/script&gt;&lt;b&gt;” taken for “a”" in table and "title='0.25'>25 %" in table
    assert "uses of “&lt;/script&gt;&lt;b&gt;” taken for “a”" not in confusion_table(confusion, "centroid"), "none is"


USES = LabelledUses(
    ("a play <b>", "she plays", "plays now", "the play"), ((2, 6), (4, 9), (0, 5), (4, 8)), ("x", "y", EVIL, "x")
)
QUESTION = SenseQuestion(0, (1, 2, 3), 2, 0, ("<she>",), 7)


def answer(*cosines, same=False, tied=()):
    choice = max(range(3), key=lambda place: cosines[place])
    sentences = tuple(USES.sentences[number] for number in QUESTION.choices)
    return QuizAnswer("M & M", "layer 1", 7, USES.sentences[0], sentences, cosines, choice, 2, same, tied)


def test_a_question_gives_nothing_away():
    sheet = question_sheet("pl'ay", QUESTION, USES)
    keys = re.findall(r"<button type='button' class='quiz-choice' data-guess='(.*?)'>", sheet)
    assert keys == [f"pl&#x27;ay/7/0/1.2.3:{place}" for place in range(3)]
    assert question_key("pl'ay", QUESTION) == "pl'ay/7/0/1.2.3"
    assert "a <mark>play</mark> &lt;b&gt;" in sheet
    for told in ("means the same", "cosine", "class='sense'", EVIL):
        assert told not in sheet


def test_an_answer_says_who_was_right():
    words = answer(0.1, 0.0, 0.2)
    wrong = answer_sheet(QUESTION, USES, 2, answer(0.9, 0.2, 0.5), answer(1.0, 1.0, 1.0, same=True), words)
    assert "You are right, it is C." in wrong and EVIL not in wrong
    assert "The model is wrong: it takes A, the decoy, which shares “<bdi>&lt;she&gt;</bdi>” with sentence 1" in wrong
    assert "Without the sentence all are equally near" in wrong and "<button" not in wrong
    rows = re.findall(r"<li class='quiz-choice(.*?)</li>", wrong)
    assert "the model’s choice" in rows[0] and "title='cosine 0.9'" in rows[0] and "title='cosine 1.0'" in rows[0]
    assert "means the same" in rows[2] and "your guess" in rows[2] and rows[2].startswith(" right")
    right = answer_sheet(QUESTION, USES, 0, answer(0.1, -0.2, 0.5), answer(0.5, 0.5, 0.1), answer(0.3, 0.0, 0.2))
    assert "You are wrong: it is C." in right and "The model is right." in right
    assert "A and B are equally near" in right and "−0.20" in right
    silent = answer_sheet(QUESTION, USES, 2, answer(0.5, 0.5, 0.5, same=True), answer(0.5, 0.4, 0.1), words)
    assert "The model says nothing" in silent and "the model’s choice" not in silent
    assert "A has the form that is nearest" in silent
    tie = answer_sheet(
        QUESTION, USES, 2, answer(0.5, 0.1, 0.5, tied=(0, 2)), answer(0.5, 0.4, 0.1), answer(0.2, 0.2, 0.0, tied=(0, 1))
    )
    assert "The model gets no point: A and C are equally near, a tie." in tie and "the model’s choice" not in tie
    assert tie.count("a tie for the model") == 2
    both = answer_sheet(
        QUESTION, USES, 2, answer(0.1, 0.2, 0.5), answer(0.5, 0.4, 0.1), answer(0.0, 0.0, 0.0, same=True)
    )
    assert "is right, too" in both and "A bag of words says nothing" in both
    assert "A bag of words, the other words of each sentence, is right: it takes C." in wrong
    assert "A bag of words, the other words of each sentence, is wrong: it takes A." in right
    assert "A bag of words, the other words of each sentence, is undecided between A and B." in tie


def test_numbers_tell_apart_what_a_choice_was_made_between():
    words = answer(0.1, 0.0, 0.2)
    for cosines, shown in [
        ((0.9027, 0.8973, 0.5), ("0.903", "0.897", "0.500")),
        ((0.90001, 0.90002, 0.5), ("0.90001", "0.90002", "0.50000")),
        ((0.5, 0.5, 0.1), ("0.50", "0.50", "0.10")),
        ((0.5, 0.5, 0.5), ("0.50", "0.50", "0.50")),
        ((-0.001, -0.004, -0.2), ("−0.001", "−0.004", "−0.200")),
    ]:
        sheet = answer_sheet(QUESTION, USES, 2, answer(*cosines), answer(0.512, 0.514, 0.1), words)
        numbers = re.findall(r"class='cosine' .*?<span class='number'>(.*?)</span>", sheet)
        assert tuple(numbers) == shown
        assert re.findall(r"class='cosine static' .*?<span class='number'>(.*?)</span>", sheet) == [
            "0.51",
            "0.51",
            "0.10",
        ]


def test_the_score_counts_both():
    assert quiz_score(()) == ""
    assert "1 question: <b>you 1</b> · <b>the model 0</b>" in quiz_score([Round("a", True, False, False, 4)])
    rounds = [Round("a", True, False, True, 4), Round("b", True, True, False, 4), Round("c", False, False, False, 2)]
    assert "3 questions: <b>you 2</b> · <b>the model 1</b>" in quiz_score(rounds)
    assert quiz_score(rounds).endswith(
        "· a bag of words 1 · chance 1.00 <span class='quiet'>(the first guess at a question counts)</span></p>"
    )
