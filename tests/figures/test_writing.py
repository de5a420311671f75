"""The lines that the page draws a text from: what each says, and that nothing a visitor typed becomes a tag."""

import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qs

from explorer.analysis.branches import ROOT, Tree, choose, go_to, grow
from explorer.analysis.generation_results import STOPS, GenerationStep, TokenOption
from explorer.figures.explore_links import text_links
from explorer.figures.writing import sheet

OPTIONS = (TokenOption(1, " <b>", 0.5, 0.75), TokenOption(2, " b", 0.25, 0.0))


def step(token_id, stop=""):
    option = OPTIONS[token_id - 1]
    return GenerationStep(token_id, option.text, option.probability, option.chance, token_id, 1.0, OPTIONS, stop)


def lines(text):
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def written(*tokens, stop=""):
    tree = Tree("M", "<script>alert(1)</script>")
    for index, token_id in enumerate(tokens, start=1):
        tree = grow(tree, step(token_id, stop if index == len(tokens) else ""), "sampling, seed 0")
    return tree


def test_a_branch_that_says_no_more_than_another_says_so():
    tree = go_to(written(1, 2), ROOT)
    for token_id, how in ((1, "greedy"), (2, "greedy")):
        tree = grow(tree, step(token_id), how)
    tree = grow(go_to(tree, ROOT), step(1, "end"), "beam search")
    *_, tail = lines(sheet(tree, 7, is_writing=False))
    told = [(one["shared"], one["how"], one["begins"]) for one in tail["branches"]]
    assert told[1:] == [(2, "greedy", "(the same text)"), (1, "beam search", "(ends here)")]


def test_a_text_is_a_head_its_steps_and_a_tail():
    head, first, second, tail = lines(sheet(written(1, 2, stop="length"), 7, is_writing=False))
    assert (head["kind"], head["turn"], head["prompt"]) == ("head", 7, "<script>alert(1)</script>")
    assert first["numbers"] == [0.5, 0.75, 1, 1.0]
    assert second["options"] == [[1, " <b>", 0.5, 0.75], [2, " b", 0.25, 0.0]]
    assert (tail["words"], tail["here"], tail["may_go_on"]) == (STOPS["length"], 1, True)
    assert (tail["tokens"], tail["total"], tail["mean"]) == (2, "3.0", "1.5")


def test_of_a_search_it_is_said_that_it_took_its_token():
    searched = grow(Tree("M", ""), replace(step(1), chance=1.0, is_drawn=False), "greedy")
    by_hand = choose(searched, 0, 2)
    assert lines(sheet(searched, 7, is_writing=False))[1]["is_taken"]
    assert lines(sheet(by_hand, 7, is_writing=False))[1]["is_taken"]
    assert "is_taken" not in lines(sheet(written(1), 7, is_writing=False))[1]


def test_the_beginning_of_a_longer_branch_has_sums_of_its_own():
    begun = lines(sheet(go_to(written(1, 2), 0), 0, is_writing=False))[-1]
    assert (begun["tokens"], begun["total"], begun["branches"][0]["tokens"]) == (1, "1.0", 2)


def test_no_tag_is_sent():
    assert "<" not in sheet(written(1, 1), 0, is_writing=False)


def test_while_it_is_written_lines_are_only_added():
    before, after = (sheet(written(*tokens), 3, is_writing=True) for tokens in ((1,), (1, 2)))
    assert after.startswith(before)
    assert sheet(written(1, 2), 3, is_writing=False).startswith(after)


def test_a_text_that_ended_is_not_gone_on_with():
    for stop, goes_on in (("end", False), ("context", False), ("length", True)):
        tail = lines(sheet(written(1, stop=stop), 0, is_writing=False))[-1]
        assert (tail["may_go_on"], tail["words"]) == (goes_on, STOPS[stop])


def test_an_entry_of_the_vocabulary_that_is_no_word_is_explained():
    odd = grow(written(1), replace(step(2), text=" [unused80]"), "sampling, seed 0")
    assert "[unused80] is a place that the vocabulary keeps free" in lines(sheet(odd, 0, is_writing=False))[-1]["words"]
    lacking = grow(written(1), replace(step(2), text=" [UNK]"), "sampling, seed 0")
    assert "[UNK] stands for any word or sign" in lines(sheet(lacking, 0, is_writing=False))[-1]["words"]
    assert "keeps free" not in sheet(written(1, 2), 0, is_writing=False) + sheet(Tree("M", "p"), 0, is_writing=False)


def test_a_stop_is_said():
    assert "kept" in lines(sheet(written(1), 0, is_writing=False, is_stopped=True))[-1]["words"]
    nothing = lines(sheet(Tree("M", "p"), 0, is_writing=False, is_stopped=True))[-1]["words"]
    assert nothing == "Stopped before anything was written."


def test_branches_say_where_they_part_and_how_likely_they_are():
    tree = choose(written(1, 1, 2), 1, 2)
    first, second = lines(sheet(tree, 0, is_writing=False))[-1]["branches"]
    assert (first["number"], first["parent"], first["tokens"], first["total"]) == (1, 0, 3, "4.0")
    assert (second["number"], second["parent"], second["shared"], second["begins"]) == (2, 1, 1, "b")
    assert second["by_hand"] and not first["by_hand"]
    assert second["mean"] == "1.5"
    apart = grow(go_to(written(1), ROOT), step(2), "greedy")
    assert [branch["parent"] for branch in lines(sheet(apart, 0, is_writing=False))[-1]["branches"]] == [0, 0]


def test_nothing_written_is_a_sheet_too():
    head, tail = lines(sheet(Tree("M", ""), 0, is_writing=False))
    assert (head["prompt"], tail["branches"], tail["may_go_on"]) == ("", [], True)


def test_a_text_is_looked_at_elsewhere_by_links():
    text = 'He said "a < b & c > d" + 1 = 2 #x,\nand left.\u4e2d'
    row = text_links("M '<b>'", "", text)
    asked = [parse_qs(unescape(link)) for link in re.findall(r"href='\?([^']*)'", row)]
    assert [(one["tab"], one["text"], one["model"]) for one in asked] == [
        (["attention"], [text], ["M '<b>'"]),
        (["generate"], [text], ["M '<b>'"]),
    ]
    assert asked[1]["show"] == ["score"] and "<b>" not in row
    looked, scored = [
        parse_qs(unescape(link)) for link in re.findall(r"href='\?([^']*)'", text_links("M", "Once", " a"))
    ]
    assert (looked["text"], looked["second"], scored["text"]) == (["Once"], [" a"], ["Once a"])
    long = text_links("M", "", "\u4e2d" * 1000)  # nine characters of an address each
    assert "href" not in long and "copy it" in long
