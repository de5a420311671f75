"""Uses from sentences as people have them: plain, marked, labelled, or none at all."""

import pytest

from explorer.analysis.delimited import LOOKED_AT
from explorer.analysis.labelled_uses import choose_uses, gather_uses, join_sense, leave_out, shipped_uses, split_sense
from explorer.errors import UnsuitableText
from explorer.settings import Settings


def test_plain_marked_and_labelled_sentences():
    lines = ["sense\tsentence\n", "stage\tA {play} in a play.\r\n", "\n", "Plays of play and play.", "x\tno use"]
    uses = gather_uses(lines, "play")
    assert uses.sentences == ("A play in a play.", "Plays of play and play.", "Plays of play and play.")
    assert [s[a:b] for s, (a, b) in zip(uses.sentences, uses.positions, strict=True)] == ["play"] * 3
    assert uses.positions[0] == (2, 6) and uses.senses == ("stage", "", "") and uses.without == 1
    assert gather_uses(lines[:2]).senses == ("stage",)
    with_forms = gather_uses(["He plays a play."], "play", forms=["plays"], senses=["both"])
    assert with_forms.positions == ((3, 8), (11, 15)) and with_forms.senses == ("both", "both")


def test_a_short_sense_can_be_parted_by_what_can_be_typed():
    assert split_sense("river | A {bank} of mud.") == ("river", "A {bank} of mud.")
    assert split_sense("stage\tWe saw a play | a film.") == ("stage", "We saw a play | a film.")
    long = "This sentence is as long as most are, and has a line in it | here."
    assert split_sense(long) == ("", long)
    for line in ("money|A bank.", "money| A bank.", "money |A bank."):
        assert split_sense(line) == ("money", "A bank."), "spaces are as they are typed"
    assert [split_sense(line) for line in ("| A bank.", "A bank |", "|")] == [
        ("", "| A bank."),
        ("", "A bank |"),
        ("", "|"),
    ]
    assert gather_uses(["money | A bank.", "No bank."], "bank").senses == ("money", "")


def test_a_vertical_bar_of_a_sentence_is_no_sense():
    for sense, sentence in [("", "Home | a bank"), ("river", "Home | a bank"), ("", "A bank."), ("river", "A bank.")]:
        line = join_sense(sense, sentence)
        assert split_sense(line) == (sense, sentence)
        assert gather_uses([line], "bank").sentences == (sentence,)
    assert join_sense("", "A bank.") == "A bank."
    long = "This sentence is longer than a sense is ever, and has a {bank} in it | here."
    assert gather_uses([join_sense("", long)]).sentences == (long.replace("{", "").replace("}", ""),)


@pytest.mark.parametrize("between", ["\t", " | ", "|", "| "])
@pytest.mark.parametrize("header", [[], ["sentence{}sense"], ["text{}label"], ["sense{}sentence"]])
def test_senses_may_stand_behind_their_sentences(between, header):
    pairs = [
        ("He sang it in a play.", "stage"),
        ("They play here, as I said, in all weathers and at all hours.", "fun"),
    ]
    pairs += [("Two plays.", "stage"), ("It plays | on.", "play of light")]
    lines = [*(line.format(between) for line in header), *(between.join(pair) for pair in pairs), "No sense plays."]
    uses = gather_uses(lines, "play", forms=["plays"])
    assert uses.sentences == (*(sentence for sentence, _ in pairs), "No sense plays.")
    assert uses.senses == (*(sense for _, sense in pairs), "") and not uses.without


def test_lines_of_both_orders_may_be_mixed():
    behind = ["We saw a play in town.\tstage", "They play all day long.\tfun", "The play ran on.|stage"]
    before = ["fun\tLet us play outside now.", "stage | A new play opened."]
    uses = gather_uses([*behind, *before], "play")
    assert uses.senses == ("stage", "fun", "stage", "fun", "stage") and not uses.without
    assert uses.sentences[3:] == ("Let us play outside now.", "A new play opened.")
    uses = gather_uses([*before, "play of light\tIt shone on the water.", behind[0]], "play")
    assert uses.senses == ("fun", "stage", "stage") and uses.without == 1


def test_the_sentences_that_ship_are_used_where_none_are_given():
    uses = choose_uses("play", None)
    assert uses == shipped_uses("play") and len(set(uses.senses)) >= 8
    assert choose_uses("play", ["A play."]).sentences == ("A play.",)
    with pytest.raises(UnsuitableText, match="choose a word that has its own: bank, "):
        choose_uses("table", [])


@pytest.mark.parametrize(
    "lines, word, options, message",
    [
        (["A player."], "play", {}, "“play” is not in the only sentence. Look"),
        (["A play."], "", {}, "Sentence 1: “A play.” has not exactly one use in braces"),
        (["A {play} {play}."], "", {}, "has not exactly one use in braces"),
        (["A play.", "\x07"], "play", {}, "Sentence 2: The text contains control"),
        (["A play.", "B play."], "play", {"senses": ["a"]}, "Sentence 2: There are more sentences than senses"),
        (["A play."], "play", {"senses": ["a", "b"]}, "There is one sentence and 2 senses"),
        ("A play.", "play", {}, "Give a list"),
        ([], "play", {}, "none of the 0 sentences"),
    ],
)
def test_what_has_no_use_is_refused(lines, word, options, message):
    with pytest.raises(UnsuitableText, match=message):
        gather_uses(lines, word, **options)


def test_a_stream_is_read_no_further_than_the_limit(monkeypatch):
    monkeypatch.setattr("explorer.analysis.labelled_uses.settings", lambda: Settings(most_uses=9_999))
    read = []

    def endless():
        while True:
            read.append(1)
            yield "play " * 2_000

    with pytest.raises(UnsuitableText, match="more than 9,999 uses"):
        gather_uses(endless(), "play")
    assert len(read) == LOOKED_AT


def test_senses_are_left_out_whole():
    uses = shipped_uses("die")
    english = leave_out(uses, ["article (German)"])
    assert len(english.sentences) == sum(sense != "article (German)" for sense in uses.senses) < len(uses.sentences)
    assert "article (German)" not in english.senses and len(set(english.senses)) == len(set(uses.senses)) - 1
    assert all(sentence[start:end] for sentence, (start, end) in zip(english.sentences, english.positions, strict=True))
    assert leave_out(uses, []) == uses


@pytest.mark.parametrize("senses", [["<b>"], "article (German)", ["cube with dots", "no"]])
def test_only_senses_that_are_there_can_be_left_out(senses):
    with pytest.raises(UnsuitableText, match="No use has the sense"):
        leave_out(shipped_uses("die"), senses)


def test_something_must_be_left():
    uses = shipped_uses("die")
    with pytest.raises(UnsuitableText, match="No use is left"):
        leave_out(uses, set(uses.senses))
