"""The table of agreement, its chart, pairs that part, found texts: numbers as measured, texts escaped."""

import re
from dataclasses import replace

import pytest

from explorer.analysis.anisotropy_results import FoundText, FoundTexts, SimilarityScore, SimilarityScores
from explorer.analysis.pair_results import KindShift, RankedPair, RankedPairs
from explorer.analysis.sense_results import Estimate
from explorer.figures.found_texts import found_columns
from explorer.figures.similarity import (
    BEST,
    BEST_FLATTERS,
    CHOSEN,
    LAST,
    agreement_words,
    cures_chart,
    disagreements,
    score_at,
    similarity_table,
)

EVIL = "</script><b>"
VALUES = {"cls": (0.1, 0.2, None), "mean": (0.1, 0.62, 0.4), "max": (-0.3, 0.0, -0.001)}


def scores(model="M", own_pooling="", cures=("none", "rank"), clear=False):
    found = []
    for pooling, values in VALUES.items():
        for cure in cures:
            for layer, value in enumerate(values):
                if value is None:
                    found.append(SimilarityScore(pooling, cure, layer, None))
                    continue
                more = 0.0 if cure == "none" else 0.05
                change = Estimate(more, more - (0.02 if clear else 0.1), more + 0.1)
                found.append(SimilarityScore(pooling, cure, layer, value + more, value - 0.1, value + 0.2, change))
    return SimilarityScores(
        model=model, name="made", pairs=9, texts=18, fitted_on="nothing", own_pooling=own_pooling, layer_count=3,
        scores=tuple(found), remarks=(), intervals="bootstrap",
    )  # fmt: skip


def cells(html):
    return [
        [re.sub("<[^>]+>", "", cell).strip() for cell in re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall("<tr[^>]*>(.*?)</tr>", html)
    ]


def test_before_stands_above_after_and_the_change_below():
    rows = cells(similarity_table([scores(), scores(EVIL, own_pooling="mean")], "rank", LAST, 0))
    assert rows[0] == ["Spearman × 100", "[CLS]", "mean", "max", "Sentence-BERT"]
    assert rows[1] == ["M"]
    assert rows[2] == ["as they are", "–", "40.0 30 to 60", "−0.1 −10 to 20", "–"]
    assert rows[3] == ["ranks", "–", "45.0 30 to 60", "4.9 −10 to 20", "–"]
    assert rows[4] == ["change", "–", "+5.0 −5.0 to +15.0", "+5.0 −5.0 to +15.0", "–"]
    assert rows[6][4] == "40.0 30 to 60", "the pooling that it was trained with, in the last layer"
    assert EVIL not in similarity_table([scores(EVIL)], "none", LAST, 0)
    none = cells(similarity_table([scores(), scores("N")], "none", LAST, 0))
    assert [row[0] for row in none[1:]] == ["M", "N"]
    assert none[0][-1] == "max", "no column of what no model has"


@pytest.mark.parametrize(("at", "layer", "found"), [(LAST, 0, 2), (CHOSEN, 1, 1), (CHOSEN, 40, 2), (BEST, 0, 1)])
def test_a_cell_is_of_the_layer_that_is_asked_for(at, layer, found):
    assert score_at(scores(), "mean", "none", at, layer).layer == found


def test_the_best_layer_is_said_to_flatter():
    rows = cells(similarity_table([scores()], "rank", BEST, 0))
    assert rows[2][1:] == ["20.0 layer 1", "62.0 layer 1", "0 layer 1"] and len(rows) == 4
    words = agreement_words(scores(), "mean", "rank", BEST, 0)
    assert BEST_FLATTERS in words and "drawn again" not in words
    assert "M, layer 1, pooling mean:</b> 62.0 as they are, 67.0 after ranks." in words


def test_where_a_cure_has_another_best_layer_each_number_stands_beside_its_own():
    found = tuple(
        replace(one, spearman=0.7 if one.layer == 0 else 0.5) if one.cure == "rank" and one.pooling == "mean" else one
        for one in scores().scores
    )
    words = agreement_words(replace(scores(), scores=found), "mean", "rank", BEST, 0)
    told = "62.0 of layer 1 as they are, 70.0 of the input embeddings after ranks."
    assert f"<b>M, pooling mean:</b> {told}" in words


def test_a_change_is_called_clear_only_where_its_interval_says_so():
    assert "too little for these pairs to tell" in agreement_words(scores(), "mean", "rank", LAST, 0)
    assert "more than the choice of pairs" in agreement_words(scores(clear=True), "mean", "rank", LAST, 0)
    assert "<b>+5.0</b>" in similarity_table([scores(clear=True)], "rank", LAST, 0)
    assert "<b>+5.0</b>" not in similarity_table([scores()], "rank", LAST, 0)
    assert "nothing can be ranked" in agreement_words(scores(), "cls", "rank", LAST, 0)


def test_pairs_that_keep_their_order_are_not_called_too_few():
    still = tuple(replace(one, change=Estimate(0.0, 0.0, 0.0)) for one in scores().scores)
    words = agreement_words(replace(scores(), scores=still), "mean", "rank", LAST, 0)
    assert "the pairs keep their order." in words and "too little" not in words


def test_lines_are_cures_or_else_poolings():
    lines = {one.name: (list(one.x), list(one.y)) for one in cures_chart(scores(), "mean", 1).data}
    assert lines == {"As they are": ([0, 1, 2], pytest.approx([10, 62, 40])),
                     "Ranks": ([0, 1, 2], pytest.approx([15, 67, 45]))}  # fmt: skip
    plain = {one.name: list(one.x) for one in cures_chart(scores(cures=("none",)), "mean", 1).data}
    assert plain == {"pooling [CLS]": [0, 1], "pooling mean": [0, 1, 2], "pooling max": [0, 1, 2]}


def test_pairs_part_on_two_sides():
    pairs = tuple(
        RankedPair(f"{EVIL}{place}", "b", "negation", 1.5, 0.9, given, model)
        for place, (given, model) in enumerate([(9.0, 1.0), (1.0, 8.0), (5.0, 5.0)])
    )
    ranked = RankedPairs(
        "M", "made", "layer 1", pairs, (KindShift("negation", 2, 3.4), KindShift("x", 1, -1.7), KindShift("y", 1, 0.2))
    )
    html = disagreements(ranked)
    near, far = html.split("<section>")[1:]
    assert EVIL not in html and "0</span>" in near and "score: 1.5, rank 9" in near and "model: rank 8" in far
    assert "2</span></span>" not in html, "what stands in its place is no disagreement"
    assert ["negation", "2", "", "3 ranks nearer"] in cells(html) and ["x", "1", "", "2 ranks farther"] in cells(html)
    assert "Nearer than scored" in near and "Farther than scored" in far and ["y", "1", "", "as scored"] in cells(html)
    assert "people" not in html + similarity_table([scores()], "rank", LAST, 0), "who scored them is not known"
    assert "--w:50.0%" in html and "--w:25.0%" in html
    assert "similarity-kinds" not in disagreements(RankedPairs("M", "made", "", pairs, ()))
    assert "Those farthest apart:" in html
    same = tuple(one for one in pairs if one.shift == 0)
    assert same and "Both put every pair in the same place." in disagreements(RankedPairs("M", "made", "", same, ()))


def found(order, cosines):
    return FoundTexts("M", EVIL, "layer 1", 3, tuple(map(FoundText, order, [f"{EVIL}{i}" for i in order], cosines)))


def test_texts_that_changed_places_are_marked():
    html = found_columns([found((0, 1, 2), (0.9, 0.8, 0.7)), found((2, 1, 0), (0.5, 0.1, -0.2))], ("none", "rank"), 2)
    before, after = html.split("<section>")[1:]
    assert EVIL not in html and before.count("<li>") == after.count("<li>") == 2
    assert re.findall("class='moved'>([^<]*)<", before) == ["▼ place after: 3", "same place"]
    assert re.findall("class='moved[ up]*'>([^<]*)<", after) == ["▲ was place 3", "same place"]
    assert "from 0.70 to 0.90, median 0.80" in before and "from −0.20 to 0.50, median 0.10" in after
    assert "1 of the 2 nearest are the same texts" in html and "Another text is the nearest" in html
    listed = found_columns([found((0, 1, 2), (0.9, 0.8, 0.7)), found((0, 2, 1), (0.9, 0.8, 0.1))], ("none", "rank"), 5)
    assert "All 3 texts are listed, so that only their places" in listed and "The nearest stays the same." in listed
    even = found_columns([found((0, 1, 2, 3), (0.9, 0.6, 0.4, 0.1))], ("none",), 2)
    assert "from 0.10 to 0.90, median 0.50" in even, "between the two in the middle"
    alone = found_columns([found((0, 1, 2), (0.9, 0.8, 0.7))], ("none",), 2)
    assert "moved" not in alone and "data-sides='1'" in alone
