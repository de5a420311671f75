"""Marks of senses: distinct, the same whatever comes after, and safe in HTML."""

from explorer.figures.sense_marks import COLOURS, mark_senses, sense_label
from explorer.figures.style import GREY


def test_every_sense_has_its_own_mark():
    marks = mark_senses(f"sense {number}" for number in range(50))
    assert len({(mark.colour, mark.shape) for mark in marks.values()}) == 51
    first = [marks[f"sense {number}"].colour for number in range(10)]
    assert first == list(COLOURS) and len(set(first)) == 10


def test_a_mark_depends_on_the_order_of_first_use_alone():
    marks = mark_senses(["money", "", "river", "money"])
    more = mark_senses(["money", "river", "river", "tilt"])
    assert [marks[sense] for sense in ("money", "river")] == [more[sense] for sense in ("money", "river")]
    assert marks[""].colour == GREY


def test_a_label_is_escaped_and_never_colour_alone():
    marks = mark_senses(["<b>x</b>"])
    label = sense_label("<b>x</b>", marks)
    assert "&lt;b&gt;x&lt;/b&gt;" in label and "<b>" not in label and "●" in label
    assert "no label" in sense_label("", marks) and GREY in sense_label("unheard of", marks)


def test_every_colour_is_readable_on_the_light_page_and_on_the_dark_one():
    def luminance(colour):
        shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    for colour in COLOURS:
        for page in ("#ffffff", "#0b0f19"):
            low, high = sorted((luminance(colour), luminance(page)))
            assert (high + 0.05) / (low + 0.05) >= 3, (colour, page)
