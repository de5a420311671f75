"""Bars of classes, and what is said of labelled examples."""

import re

from explorer.figures.class_balance import MOST_CLASSES, balance_bars, tags_note
from explorer.training.tuning.checks import Checks, ClassCount

BALANCE = (ClassCount("praise", 60, 20), ClassCount("<b>\u0634\u0643\u0648\u0649</b>", 15, 5))


def test_bars_are_as_long_as_classes_are_frequent_and_say_so_in_numbers():
    drawn = balance_bars(Checks(75, 25, BALANCE, (), ("Two rows were left out.",)), "mine <1>", "examples")
    assert re.findall(r"width:([\d.]+)%", drawn) == ["75.0", "25.0", "18.8", "6.2"]
    assert "80 · 80 %" in drawn and "20 · 20 %" in drawn and "hatched: held out" in drawn
    assert "75 to learn from, 25 held out" in drawn and "<li>Two rows were left out.</li>" in drawn
    assert "<b>" not in drawn and "<1>" not in drawn and drawn.count("<bdi>") == 3


def test_a_share_is_told_where_no_example_is_held_out():
    drawn = balance_bars(Checks(75, 0, (ClassCount("a", 75, 0),), (), ()), "mine", "phrases", 15)
    assert "75 examples; 15 of them (20 %) are set aside" in drawn and "hatched" not in drawn
    assert "Phrases of each kind" in drawn and "<ul" not in drawn
    assert "B- begins a phrase, I- goes on with it, O stands outside of any.</p>" in drawn, "“a” speaks for itself"


def test_tags_of_words_are_explained_where_they_are_used():
    assert tags_note(["ORG", "PER", "", "PER"]).endswith("of any. PER: a person; ORG: an organisation.</p>")
    assert "B-" not in balance_bars(Checks(75, 0, (ClassCount("PER", 75, 0),), (), ()), "mine", "examples")


def test_problems_stand_alone_and_many_classes_are_cut():
    refused = balance_bars(Checks(1, 0, BALANCE, ("Only <one>.",), ("Note.",)), "mine", "examples")
    assert "role='alert'>Only &lt;one&gt;.<" in refused and "balances" not in refused and "Note." in refused
    many = tuple(ClassCount(f"class {n}", 9, 0) for n in range(MOST_CLASSES + 3))
    assert "and 3 more classes" in balance_bars(Checks(99, 0, many, (), ()), "mine", "examples", 9)
    plain = balance_bars(Checks(99, 20, (), (), ()), "mine", "examples")
    assert "balances" not in plain and "99 to learn from" in plain
