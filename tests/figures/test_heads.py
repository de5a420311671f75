"""Maps of heads, patterns and ablations as drawn: numbers as measured, texts escaped, nothing claimed beside them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.ablation_results import AblationPlace, HeadAblation, HeadRanking
from explorer.analysis.exporting import to_json, to_tables
from explorer.analysis.head_patterns import THRESHOLDS, _percent, _percent_below, name_patterns
from explorer.analysis.head_results import HeadMeasures, RelationAgreement, RelationMatches
from explorer.analysis.scoring_results import NextToken
from explorer.figures.ablations import REMINDER, ablation_view, pack_switches, ranking_view
from explorer.figures.head_maps import head_map, map_measure, pattern_list

EVIL = "</script><b>"
NEXT = np.array([[0.71, 0.1], [0.2, 0.49]])
TO_HEAD, FROM_HEAD = np.array([[0.9, 0.1], [0.2, 0.3]]), np.array([[0.1, 0.4], [0.95, 0.3]])


def measures(**changes):
    values = {"next": NEXT, "first": 1 - NEXT, "entropy": 2 * NEXT, "distance": NEXT, "induction": NEXT * 0}
    given = {
        "model": "M & M",
        "stack": "encoder",
        "source": "given texts",
        "texts": 1,
        "tokens": 50,
        "values": values,
        "counts": {"next": 49, "first": 50, "entropy": 50, "distance": 50, "induction": 8},
        "uniform": {"next": 0.1, "first": 0.1, "entropy": 3.2, "distance": 4.0, "induction": 0.02},
        "left_out": {"end": "The model puts no token behind a text."},
        "first_token": EVIL,
        "end_token": "",
        "seed": 0,
    }
    return HeadMeasures(**(given | changes))


def relations():
    det = RelationAgreement("det", 92, TO_HEAD, FROM_HEAD, 0.66, 1)
    obj = RelationAgreement("obj", 40, TO_HEAD / 2, FROM_HEAD / 2, 0.45, -2)
    return RelationMatches("M & M", "encoder", "built-in set", 68, 597, (det, obj), {"xcomp": 3}, 10)


def token(text, probability, token_id=1):
    return NextToken(token_id, f" {text}", text, probability)


def ablation(**changes):
    cat, dog = token(EVIL, 0.6), token("dog", 0.3, 2)
    place = AblationPlace(6, (cat, dog), (dog, token(EVIL, 0.2)), cat, 0.2, 2, 0.75)
    given = {"heads": (("encoder", 1, 0),), "places": (place,), "cosine": 0.9, "readout": "blanks"}
    return HeadAblation(
        **({"model": "M", "text": EVIL, "head_counts": {"encoder": (2, 2)}, "tokens": ("a", "b")} | given | changes)
    )


def ranking(done=4):
    effects = np.array([[0.1, 0.4], [0.2, 0.3 if done == 4 else np.nan]])
    changes = -effects / 10
    return HeadRanking("M", EVIL, "blanks", (token(EVIL, 0.5),), {"encoder": effects}, {"encoder": changes}, done, 4)


def test_patterns_are_named_with_their_share_and_only_over_the_threshold():
    found = name_patterns(measures(), relations())
    assert [(one.key, one.layer, one.head) for one in found if one.key == "next"] == [("next", 0, 0)]
    [following] = [one for one in found if one.key == "next"]
    assert following.sentence == (
        "Layer 1 head 1 attends to the next token: 71 % of its attention, n = 49 tokens (all alike: 10 %)"
    )
    single = name_patterns(measures(counts={"next": 1, "first": 1, "entropy": 1, "distance": 1, "induction": 1}))
    assert "n = 1 token (all alike" in next(one for one in single if one.key == "next").sentence
    [det] = [one for one in found if one.key.startswith("relation")]  # obj: 47 % is under one half
    assert (det.layer, det.head, det.value) == (1, 0, 0.95) and "; “cat” attends to “the”" in det.sentence
    assert "95 % of n = 92 words, 95 % interval 88 to 98 % (best fixed distance: 66 %)" in det.sentence
    assert {(one.layer, one.head) for one in found if one.key == "first"} == {(0, 1), (1, 0), (1, 1)}
    assert [one.key for one in found][-1] == "first"  # what says least of a head comes last


def test_a_distance_that_the_interval_leaves_out_is_seen_to_be_left_out():
    assert _percent_below(0.58, 0.5897) == "58 %"
    assert _percent_below(0.5882, 0.5897) == "58.8 %, below the interval’s 59.0 %"


def test_of_few_words_a_head_must_be_far_above_the_best_distance():
    few = RelationAgreement("det", 10, np.array([[0.8]]), np.array([[0.7]]), 0.6, 1)  # interval: 49 to 94 %
    many = RelationAgreement("det", 92, np.array([[0.8]]), np.array([[0.7]]), 0.6, 1)  # 71 to 87 %
    for one, named in ((few, 0), (many, 1)):
        found = name_patterns(measures(), RelationMatches("M", "encoder", "ours", 9, 99, (one,), {}, 10))
        assert sum(pattern.key == "relation:det" for pattern in found) == named
        if named:
            assert "; “the” attends to “cat”" in next(p.sentence for p in found if p.key == "relation:det")


def test_a_share_that_chance_gives_is_no_pattern():
    few = measures(uniform={"next": 0.4, "first": 0.5, "entropy": 3.2, "distance": 4.0, "induction": 0.5})
    assert not [one for one in name_patterns(few) if one.key in ("next", "first")]


def test_a_broad_head_is_named_beside_what_is_possible():
    [broad] = [one for one in name_patterns(measures(values={"entropy": np.array([[3.15]])})) if one.key == "entropy"]
    assert "3.1 of at most 3.2 bits" in broad.sentence or "3.2 of at most 3.2 bits" in broad.sentence


def test_the_map_holds_every_head_with_its_number():
    drawn = head_map(map_measure(measures(), relations(), "next"), "encoder", name_patterns(measures()), "encoder-2-1")
    cells = re.findall(r"data-open-head='([^']+)'[^>]*style='--c:([0-9.]+)'[^>]*>([^<]*)<", drawn)
    assert cells == [("encoder-1-1", "0.710", "71"), ("encoder-1-2", "0.100", "10"), ("encoder-2-1", "0.200", "20"),
                     ("encoder-2-2", "0.490", "49")]  # fmt: skip
    assert drawn.count(" data-here") == 2 and EVIL not in drawn
    values = [float(one) for one in re.findall(r"data-value='([^']+)'", drawn)]
    assert values == sorted(NEXT.ravel().tolist(), reverse=True)
    assert "n = 49 tokens" in drawn and "all tokens alike: 10\u00a0%" in drawn


def test_a_share_that_just_misses_its_name_is_not_told_as_one_that_has_it():
    near = measures(values={"next": np.array([[0.5042, 0.4962], [0.49996, 0.3]]), "entropy": 2 * NEXT})
    named = name_patterns(near)
    assert [(one.layer, one.head) for one in named if one.key == "next"] == [(0, 0)]
    drawn = head_map(map_measure(near, relations(), "next"), "encoder", named, "encoder-1-1")
    assert re.findall(r"<td class='number'[^>]*>([^<]*)<", drawn) == ["50 %", "49.9 %", "49.6 %", "30 %"]
    assert "Layer 1 head 2: 49.6 %" in drawn


def test_a_relation_is_mapped_by_its_better_direction():
    mapped = map_measure(measures(), relations(), "relation:det")
    np.testing.assert_array_equal(mapped.values, [[0.9, 0.4], [0.95, 0.3]])
    assert (mapped.chance, mapped.chance_words, mapped.count) == (0.66, "the word 1 to the right", 92)
    assert map_measure(measures(), relations(), "relation:xcomp") is None
    assert map_measure(measures(), relations(), "end") is None


def test_resting_heads_stand_in_one_line_and_tokens_are_escaped():
    drawn = pattern_list(name_patterns(measures()), measures(), THRESHOLDS)
    assert "3 of 4 heads rest on &lt;/script&gt;&lt;b&gt;: they put 51 % to 90 %" in drawn
    assert EVIL not in drawn and THRESHOLDS[:30] in drawn
    [*_, one] = (pattern for pattern in name_patterns(measures()) if pattern.key in ("end", "first"))
    assert "1 of 4 heads rests on &lt;/script&gt;&lt;b&gt;: it puts" in pattern_list([one], measures(), THRESHOLDS)


def test_of_many_patterns_the_clearest_stand_in_sight_and_the_others_in_a_fold():
    alike = measures(values={"next": np.full((2, 10), 0.6), "entropy": np.zeros((2, 10))})
    patterns = name_patterns(alike)
    drawn, folded = pattern_list(patterns, alike, THRESHOLDS).split("<details><summary>8 more</summary>")
    assert drawn.count("data-open-head") == 12 and folded.count("data-open-head") == 8
    assert "<details>" not in pattern_list(patterns[:12], alike, THRESHOLDS)


def test_heads_between_decoder_and_encoder_are_said_to_look_at_the_encoder():
    sentences = [one.sentence for one in name_patterns(measures(stack="cross"))]
    assert "Layer 1 head 1 attends to the encoder’s token where the next one is to be written: 71 %" in sentences[0]
    assert sum(EVIL in one for one in sentences) == 3


def test_an_ablation_shows_both_sides():
    drawn = ablation_view(ablation())
    assert EVIL not in drawn and "1 of 4 heads off" in drawn and "layer 2 head 1" in drawn
    assert "60 % → <b title='0.2'>20 %</b>, rank 1 → <b>2</b>" in drawn and "0.750 bits" in drawn
    assert drawn.count("<li class=answer>") == 2 and "0.900" in drawn
    assert "press heads on the map" in ablation_view(ablation(heads=()))
    written = ablation_view(ablation(readout="written", cosine=None))
    assert "now rank <b>2</b>" in written and "cosine" not in written
    assert "␣" not in drawn


def test_of_two_tokens_that_read_the_same_the_one_with_a_space_is_marked_wherever_either_stands():
    spaced, bare, other = (
        NextToken(1, " The", "ĠThe", 0.12),
        NextToken(2, "The", "The", 0.05),
        NextToken(3, " It", "ĠIt", 0.06),
    )
    place = AblationPlace(6, (spaced, other), (spaced, other, bare), spaced, 0.13, 1, 0.1)
    drawn = ablation_view(ablation(places=(place,)))
    assert "“<bdi>␣The</bdi>”: 12 %" in drawn
    assert [drawn.count(f"<bdi>{name}</bdi>") for name in ("␣The", "The", "It", "␣It")] == [3, 1, 2, 0]
    assert "␣: a space before the token." in drawn


@pytest.mark.parametrize(("share", "told"), [(0.9993, "99.9 %"), (0.9999, "99.9 %"), (1.0, "100 %"), (0.002, "0.2 %")])
def test_all_of_the_attention_is_told_only_of_all(share, told):
    assert _percent(share) == told


def test_a_ranking_is_drawn_largest_first_and_says_how_far_it_is():
    drawn = ranking_view(ranking())
    assert re.findall(r"data-open-head='([^']+)'", drawn) == [f"encoder-{one}" for one in ("1-2", "2-2", "2-1", "1-1")]
    assert "−4.00 points" in drawn and "tried so far" not in drawn
    assert "<th scope='col' class='number'>bits</th>" in drawn and "title='0.4'>0.40</td>" in drawn
    assert "3 of 4 tried so far" in ranking_view(ranking(done=3)) and "n = 1 place of your text." in drawn
    written = replace(ranking(), readout="written", answers=(token("door", 0.02), token("<extra_id_1>", 0.36, 8)))
    two = ranking_view(written)
    assert "n = 2 written tokens: “<bdi>door</bdi>”, “<bdi>&lt;extra_id_1&gt;</bdi>”; bits and points are means" in two
    assert "the answers −4.00 points on average" in two
    still = replace(ranking(), changes={"encoder": np.full((2, 2), -0.00004)})
    assert ranking_view(still).count("the answer by less than 0.01 points<") == 4
    of_vectors = ranking_view(replace(ranking(), readout="embedding", answers=(), changes={}))
    assert ">1 − cosine</th></tr>" in of_vectors and "What changes" in drawn and "0.40</td></tr>" in of_vectors
    packed = json.loads(pack_switches({"encoder": (2, 2)}, ranking(done=3)))
    assert packed["effects"]["encoder"] == [[0.1, 0.4], [0.2, None]] and packed["unit"] == "bits"
    assert json.loads(pack_switches({"encoder": (2, 2)}, None))["effects"] == {}


def test_the_reminder_names_its_papers():
    for name in ("Jain and Wallace 2019", "Wiegreffe and Pinter 2019", "Michel et al. 2019", "Clark et al. 2019"):
        assert name in REMINDER


@pytest.mark.parametrize("result", [measures(), relations(), ablation(), ranking(done=3)])
def test_results_can_be_taken_away(result):
    assert json.dumps(to_json(result))
    for rows in to_tables(result).values():
        assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}
    if isinstance(result, HeadMeasures):
        assert to_tables(result)["heads"][1][4:9] == [1, 1, "next", "share", 0.71]


@pytest.mark.parametrize("result", [ablation(second_text=" and then"), replace(ranking(), second_text=" and then")])
def test_tables_tell_what_was_read_beside_the_text(result):
    for heads, *rows in to_tables(result).values():
        assert {row[heads.index("second_text")] for row in rows} == {" and then"}
