"""A beam search as a drawing: every beam has its node, and each hangs on the one it grew from."""

import re
from dataclasses import replace

from explorer.analysis.beam_results import Beam, BeamStep
from explorer.figures.beam_tree import beam_tree, beams_note


def beam(text, parent, fate="lives", total=-1.0):
    token = text.rsplit(" ", 1)[-1]
    return Beam(text, f" {token}", len(text), parent, total, total / len(text.split()), fate)


FIRST = BeamStep((beam(" a", 0), beam(" <b>", 0, total=-2.0), beam(" c", 0, "dropped", -3.0)), ())
ENDED = beam(" a end", 0, "ended", -1.5)
TOLD = replace(ENDED, parent=0)  # as the engine tells it again among those that ended
SECOND = BeamStep((beam(" <b> d", 1, total=-2.5), beam(" a e", 0, total=-2.6), ENDED), (TOLD,))


def nodes(drawing):
    return re.findall(r"<g class='([a-z ]+)'[^>]*>.*?<text[^>]*>([^<]*)</text></g>", drawing)


def test_every_beam_has_a_node_with_its_fate_in_words():
    drawn = nodes(beam_tree((FIRST, SECOND)))
    assert drawn == [
        ("lives", "a"), ("lives winning", "&lt;b&gt;"), ("dropped", "c ×"),
        ("lives winning", "d"), ("lives", "e"), ("ended", "end ■"),
    ]  # fmt: skip


def test_a_tree_that_grows_says_so_to_the_page():
    assert "data-growing" in beam_tree((FIRST,), is_growing=True)
    assert "data-growing" not in beam_tree((FIRST, SECOND))


def test_what_was_dropped_can_be_left_out():
    assert [kind for kind, _ in nodes(beam_tree((FIRST, SECOND), with_dropped=False))].count("dropped") == 0


def test_a_line_starts_at_the_beam_that_it_grew_from():
    drawing = beam_tree((FIRST, SECOND))
    middles = [float(y) for y in re.findall(r"<rect x='[\d.]+' y='([\d.]+)'", drawing)]
    starts = [float(y) for y in re.findall(r"d='M[\d.]+ ([\d.]+)C", drawing)]
    assert starts[3] == middles[1] + 12, "d grew from the second"
    assert starts[4] == middles[0] + 12


def test_arrow_keys_find_the_beam_that_another_grew_from():
    places = re.findall(
        r"<g class='[a-z ]+' data-step='(\d)' data-from='(\d)'(?: data-row='(\d)')?>", beam_tree((FIRST, SECOND))
    )
    assert places == [
        ("0", "0", "0"),
        ("0", "0", "1"),
        ("0", "0", ""),
        ("1", "1", "0"),
        ("1", "0", "1"),
        ("1", "0", ""),
    ]


def test_the_best_text_is_marked_when_the_search_is_over():
    over = BeamStep(SECOND.beams, SECOND.ended, "end")
    winning = [words for kind, words in nodes(beam_tree((FIRST, over))) if "winning" in kind]
    assert winning == ["a", "end ■"]


def test_the_texts_that_are_left_stand_below_and_are_escaped():
    below = beam_tree((FIRST, SECOND)).partition("<ol")[2]
    assert re.findall(r"dir='auto'>([^<]*)<", below) == ["a end ■", "&lt;b&gt; d", "a e"]
    assert "(47 % per token)" in below and "-0.75 per token'" in below


def test_a_text_that_the_last_step_cut_off_has_no_mark_of_an_end():
    cut = BeamStep((ENDED,), (ENDED,), "length")
    assert re.findall(r"dir='auto'>([^<]*)<", beam_tree((FIRST, cut)).partition("<ol")[2]) == ["a end"]


def test_a_beam_that_is_only_as_long_as_was_asked_for_is_not_drawn_as_ended():
    drawing = beam_tree((FIRST, BeamStep((ENDED,), (ENDED,), "length")))
    assert nodes(drawing)[-1] == ("lives winning", "end") and "as long as was asked for" in drawing
    by_itself = replace(ENDED, text=" a", token="[SEP]")  # at the very last token that may be written
    assert nodes(beam_tree((FIRST, BeamStep((by_itself,), (by_itself,), "length"))))[-1] == ("ended winning", "[SEP] ■")


def test_nothing_found_yet_is_said():
    assert "Looking" in beam_tree(())


def test_where_the_text_leaves_greedy_writing_is_said():
    missed = beams_note((FIRST, SECOND))  # ahead is "<b> d", and "a" was likelier than "<b>"
    assert "takes “&lt;b&gt;” as token 1, although “a” is 2.7 times as likely as that" in missed
    greedy = (BeamStep((beam(" a", 0), beam(" b", 0, total=-2.0)), ()),)
    assert "greedy writing finds it, too" in beams_note(greedy)
    assert beams_note((BeamStep((), ()),)) == ""


def test_a_box_is_as_wide_as_its_words_and_bold_ones_are_wider():
    def widths(*tokens):
        step = BeamStep(tuple(beam(f" {token}", 0, total=-1.0 - at) for at, token in enumerate(tokens)), ())
        return [int(width) for width in re.findall(r"<rect [^>]* width='(\d+)'", beam_tree((step,)))]

    assert widths("a", "b") == [44, 44]
    [bold, _] = widths("opened", "a")
    [_, plain] = widths("a", "opened")
    assert plain > 6 * 7.6 + 14 and bold > plain + 6
    assert widths("我喜欢你", "a")[0] > 4 * 13 + 14
