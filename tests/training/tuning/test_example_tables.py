"""Labelled examples from files as people have them, and what is said of files that are none."""

import gzip
import json
import random
import tracemalloc
import zipfile

import pytest

from explorer.errors import UnsuitableText
from explorer.settings import settings
from explorer.training.tuning.examples import AnsweredQuestion, LabelledText, ScoredPair, TaggedWords, Triplet
from explorer.training.tuning.making import with_held_out
from explorer.training.tuning.reading import guess_columns, make_examples, read_table

ROWS = [("Lovely, truly.", "praise"), ('He said "no".', "complaint"), ("Two\nlines", "praise"), ("Ça va?", "request")]


def read(source, task="classification", **chosen):
    table = read_table(source, task=task)
    return make_examples(table, task, guess_columns(table, task) | chosen)


def write(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def table_text(delimiter, rows=ROWS, header=("text", "label")):
    return "\r\n".join(
        delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row)
        for row in ([header] if header else []) + rows
    )


EXPECTED = tuple(LabelledText(" ".join(text.split()), label) for text, label in ROWS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [None, ("text", "label"), ("Review", "Sentiment"), ("Text, all; any", 'Senti"ment')])
def test_tables_with_any_separator_and_lines_within_quotes(tmp_path, delimiter, header):
    text = table_text(delimiter, header=header)
    assert read(write(tmp_path, "a.csv", text)).train == EXPECTED
    assert read(text).train == EXPECTED


def test_columns_in_any_order_and_more_than_are_needed():
    rows = "\n".join(f"{n},{label},2024-01-0{n},{text}" for n, (label, text) in enumerate(
        [("good", "a fine walk by the sea"), ("bad", "a dull day at home"), ("good", "the best bread in town"),
         ("bad", "cold soup and a rude host")], 1))  # fmt: skip
    table = read_table("id,kind,date,said\n" + rows)
    assert table.columns == ("id", "kind", "date", "said")
    assert guess_columns(table, "classification") == {"text": "said", "label": "kind"}


def test_a_column_that_is_nearly_empty_is_guessed_to_be_nothing():
    rows = "".join(
        f"{n},it was the {n}th time,{'good' if n % 2 else 'bad'},{'late' if n == 3 else ''}\n" for n in range(9)
    )
    table = read_table("id,review text,stars,note\n" + rows)
    assert guess_columns(table, "classification") == {"text": "review text", "label": "stars"}


@pytest.mark.parametrize("task", ["similarity", "pairs"])
def test_two_sentences_without_names_are_taken_as_they_stand(task):
    rows = "".join(f"A boat sank {n}.\tA ship went down at sea {n}.\t{n % 2}\n" for n in range(9))
    table = read_table(rows, task=task)
    assert tuple(guess_columns(table, task).values())[:2] == table.columns[:2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_and_gzip(tmp_path, encoding):
    data = table_text("\t").encode(encoding)
    plain, packed = write(tmp_path, "a.tsv", data), write(tmp_path, "a.tsv.gz", gzip.compress(data))
    assert read(plain).train == read(packed).train == EXPECTED
    assert [note for note in read(plain).notes if "Windows-1252" in note] == list(read(plain).notes)
    assert bool(read(plain).notes) == (encoding == "cp1252")


def test_json_in_lines_in_a_list_and_in_the_form_of_squad():
    rows = [{"text": text, "label": label} for text, label in ROWS]
    assert read("\n".join(map(json.dumps, rows))).train == read(json.dumps(rows, indent=1)).train == EXPECTED
    squad = {"data": [{"paragraphs": [{"context": "Ann ran home. Ann sat.", "qas": [
        {"question": "Who sat?", "answers": [{"text": "Ann", "answer_start": 14}]}]}]}]}  # fmt: skip
    asked = AnsweredQuestion("Who sat?", "Ann ran home. Ann sat.", "Ann", 14)
    assert read(json.dumps(squad), "answers").train == (asked,)
    hub = {"question": "Who sat?", "context": "Ann ran home. Ann sat.",
           "answers": {"text": ["Ann"], "answer_start": [14]}}  # fmt: skip
    assert read("\n".join([json.dumps(hub)] * 2), "answers").train == (asked, asked)


def test_tagged_words_in_lines_and_in_rows():
    lines = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\nJo NNP I-PER\nJo NNP I-PER\n"
    expected = (TaggedWords(("EU", "rejects"), ("B-ORG", "O")), TaggedWords(("Jo", "Jo"), ("B-PER", "I-PER")))
    assert read(lines, "tagging").train == expected
    assert read("EU rejects\tB-ORG O\nJo Jo\tB-PER I-PER\n", "tagging").train == expected
    spans = (
        '{"tokens": ["EU", "rejects"], "tags": ["S-ORG", "O"]}\n{"tokens": ["Jo", "Jo"], "tags": ["B-PER", "E-PER"]}'
    )
    assert read(spans, "tagging").train == expected
    with pytest.raises(UnsuitableText, match="no empty row"):
        read("EU B-ORG\nrejects O\n", "tagging")


@pytest.mark.parametrize("delimiter", [",", ";", "|", ", ", "\t"])
@pytest.mark.parametrize("header", ["", "words{}tags\n"])
def test_sentences_with_their_tags_are_no_lines_of_words_though_each_ends_with_a_tag(delimiter, header):
    rows = [f"{name} lives in Oslo{delimiter}B-PER O O B-LOC\n" for name in ("Anna", "Ben", "Cleo", "Dan") * 8]
    rows[4] = f"Eve lives here{delimiter}B-PER O\n"
    made = read(header.format(delimiter) + "".join(rows), "tagging")
    assert made.train[0] == TaggedWords(("Anna", "lives", "in", "Oslo"), ("B-PER", "O", "O", "B-LOC"))
    assert len(made.train) == 31
    assert f"not as many tags as words (row {6 if header else 5})" in made.notes[0]


@pytest.mark.parametrize("line", ["Oslo, NNP {}", "Oslo {}", ", , O {}", "Oslo\tNNP\t{}"])
def test_lines_of_a_word_and_its_tag_are_no_sentences_whatever_stands_between(line):
    lines = [line.format(tag) for tag in ("B-LOC", "I-LOC", "O")]
    made = read("\n".join([*lines, "", *lines]), "tagging")
    assert [example.tags for example in made.train] == [("B-LOC", "I-LOC", "O")] * 2


def test_a_word_without_a_tag_takes_its_sentence_with_it_and_is_named():
    made = read("EU B-ORG\nrejects O\nGerman\ncall O\n\nJo B-PER\nJo I-PER\n\nit O\nis O\nwell O\nhere O\n", "tagging")
    assert [example.words for example in made.train] == [("Jo", "Jo"), ("it", "is", "well", "here")]
    assert "a word or its tag is empty (row 1)" in made.notes[0]


@pytest.mark.parametrize("names", ["a,b,score", "A,B,Similarity", "text_a,text_b,score"])
def test_two_sentences_and_a_score_are_no_triplet(names):
    made = read(f"{names}\nA cat sits.,A cat is sitting.,4.5\nA dog runs.,The sun shines.,0.5\n", "similarity")
    assert made.train[0] == ScoredPair("A cat sits.", "A cat is sitting.", 0.9)


def test_the_tasks_of_two_and_three_texts():
    assert read("premise,hypothesis,label\nA dog runs,An animal moves,entailment\n", "pairs").train == (
        LabelledText("A dog runs", "entailment", "An animal moves"),
    )
    assert read("a boat\ta ship\ta plum\n" * 2, "similarity").train[0] == Triplet("a boat", "a ship", "a plum")
    scored = read("sentence1\tsentence2\tscore\na boat\ta ship\t4,0\na boat\ta plum\t0\n", "similarity")
    assert scored.train == (ScoredPair("a boat", "a ship", 0.8), ScoredPair("a boat", "a plum", 0.0))
    assert "0 to 5" in scored.notes[0]
    assert [one.text for one in read("One, two.\nThree, four.\n", "masked").train] == ["One, two.", "Three, four."]


def test_an_answer_that_stands_twice_or_not_at_all():
    rows = [("Who?", "Ann met Ann.", "Ann", "8"), ("Who?", "Ann met Bo.", "bo", ""), ("Who?", "Ann ran.", "Eve", "")]
    text = "question\tpassage\tanswer\tstart\n" + "\n".join("\t".join(row) for row in rows)
    made = read(text, "answers")
    assert [(one.answer, one.start) for one in made.train] == [("Ann", 8), ("Bo", 8)]
    assert "row 4" in made.notes[0] and "word for word" in made.notes[0]


def test_parts_are_told_by_a_column_or_given_as_two_files():
    text = "text\tlabel\tsplit\na b\tx\ttrain\nc d\ty\ttest\ne f\tx\tValidation\ng h\ty\t\n"
    made = read(text)
    assert [one.text for one in made.train] == ["a b", "g h"] and [one.text for one in made.held_out] == ["c d", "e f"]
    assert with_held_out(read(table_text(",")), made).held_out == made.train + made.held_out


def test_few_bad_rows_are_left_out_and_named_and_many_are_refused():
    good = "".join(f"a fine sentence {n},{'xy'[n % 2]}\n" for n in range(8))
    made = read("text,label\n" + good + ",x\nno label,\n")
    assert len(made.train) == 8
    assert made.notes == (
        "2 of 10 were left out: the text is empty (row 10); the label is empty (row 11). Rows are counted as in the "
        "file: row 1 holds the names of the columns, and row 2 is the first example.",
    )
    nameless = "".join(f"sentence {n}\t{'ab'[n % 2]}\n" for n in range(10)) + "\ta\n"
    assert read(nameless).notes == ("1 of 11 was left out: the text is empty (row 11).",)
    with pytest.raises(UnsuitableText, match="Only 1 of its 4 rows"):
        read("text,label\na b c,x\n,x\n,y\n,z\n")
    table = read_table("text,label\na b c,x\n")
    with pytest.raises(UnsuitableText, match="chosen twice"):
        make_examples(table, "classification", {"text": "text", "label": "text"})
    with pytest.raises(UnsuitableText, match="Choose the column"):
        make_examples(table, "classification", {"text": "text"})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"  \n\n ", "is empty"),
        ("a.csv", b"<!DOCTYPE html><html><body>404</body></html>", "is a web page"),
        ("a.csv", "\ufeff\n<html lang=en>".encode(), "is a web page"),
        ("a.xlsx", b"PK\x03\x04\x14\x00rest", "a spreadsheet, a document or a zip file"),
        ("a.pdf", b"%PDF-1.7 rest", "is a PDF"),
        ("a.csv", b"text,label\nno\0no,x\n", "NUL characters"),
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL characters"),
        ("a.csv", b"one column only\nof running text\n", "has one column"),
        ("a.csv", b"text,label\n", "no row below"),
        ("a.csv", b'text,label\n"never closed,x\nmore,y\n', "line 2"),
        ("a.csv.gz", gzip.compress(b"text,label\n" * 50)[:-9], "damaged"),
        ("a.csv", (",".join(["a"] * 150) + "\n").encode() * 3, "150 columns"),
        ("a.json", b'{"text": "a", "label": "b"}\n{"text": ', "Line 2"),
        ("a.json", b"[" * 100_000, "json|nested"),
        ("a.json", b"[]", "empty list"),
        ("a.json", b'[{"text": "a"}, 3]', "Row 2"),
    ],
)
def test_what_is_no_table_is_said_to_be_none(tmp_path, name, content, said):
    with pytest.raises(UnsuitableText, match=said):
        read(write(tmp_path, name, content))


def test_a_bomb_takes_no_memory(tmp_path):
    packed = gzip.compress(bytes([97]) * 2**20, 9) * 400  # 400 MiB in 400 kB: gzip members follow each other
    with zipfile.ZipFile(tmp_path / "bomb.csv", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv", b"0" * 2**24)
    bomb = write(tmp_path, "bomb.csv.gz", packed)
    tracemalloc.start()
    with pytest.raises(UnsuitableText, match="more than 64 MiB"):
        read(bomb)
    with pytest.raises(UnsuitableText, match="zip file"):
        read(tmp_path / "bomb.csv")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2.2 * settings().largest_examples_mib * 2**20


def test_a_hundred_thousand_rows_are_drawn_from_evenly():
    rows = [f"sentence number {n}\t{'a' if n < 50_000 else 'b'}" for n in range(100_000)]
    made = read("text\tlabel\n" + "\n".join(rows))
    most = settings().most_examples
    assert len(made.train) == most and "100,000 examples" in made.notes[0]
    share = sum(one.label == "a" for one in made.train) / most
    assert 0.45 < share < 0.55  # the first rows are all of one class
    assert [one.text for one in made.train] == sorted(
        (one.text for one in made.train), key=lambda t: int(t.split()[-1])
    )


def test_a_text_with_a_bare_comma_is_left_out_and_named():
    good = "".join(f"It was fine {number},praise\n" for number in range(6))
    bad = "We waited, and nobody came,complaint\n"
    table = read_table(f"text,label\n{good}{bad}It was late,complaint\n")
    assert table.columns == ("text", "label") and len(table.rows) == 7
    said = "A text that holds a comma, or whatever parts the columns, belongs in quotation marks."
    assert table.notes == (f"Row 8 was left out: it has 3 columns, not 2. {said}",)
    assert table.numbers == (2, 3, 4, 5, 6, 7, 9)
    most = read_table(f"text,label\nIt was late,complaint\n{bad * 3}It was early,praise\n")
    assert len(most.rows) == 2, "the row of names tells how many columns are meant"
    assert most.notes == (f"3 rows were left out, as they have more than 2 columns (first: row 3). {said}",)
    wide = read_table(f"text,label\nIt was late,complaint\n{bad * 9}")
    assert len(wide.rows) == 10 and wide.notes[0].endswith(f"taken as empty. {said}"), "a third column may be meant"


def test_rows_with_more_columns_are_kept_where_these_may_be_meant():
    named = read_table("text,label,note\nLate,complaint\nFine,praise\nLovely,praise,ours\n")
    assert len(named.rows) == 3 and "2 rows have fewer columns" in named.notes[0]
    spare = read_table("text,label\nLate,complaint,\nFine,praise\nLovely,praise\n")
    assert len(spare.rows) == 3 and not any("left out" in note for note in spare.notes)


def test_names_of_columns_that_are_missing_or_stand_twice():
    assert read_table("text,,text\na,b,c\nd,e,f\n").columns == ("text", "column 2", "text (2)")
    draw = random.Random(1)
    numbers = "\n".join(f"{draw.random():.2f},{draw.random():.2f}" for _ in range(6))
    assert read_table(numbers).columns == ("column 1", "column 2")
    short = read_table("text,label\na,x\nb\nc,y\n")
    assert short.rows[1] == ("b", "") and "row 3" in short.notes[0]


def test_what_is_no_character_is_replaced():
    half = json.dumps({"text": "half \ud83d of one", "label": "a\0b"})
    assert read(half + "\n" + half).train[0] == LabelledText("half ? of one", "a b")
    assert read("text\tlabel\nhalf \ud83d\tx\n").train[0].text == "half ?"


def test_a_column_of_parts_is_no_text_where_there_are_too_few():
    with pytest.raises(UnsuitableText, match="first sentence"):
        read("text\tlabel\tsplit\nA bee.\tx\ttrain\nA dog.\ty\ttest\n", "pairs")


def test_a_first_row_that_is_taken_for_names_by_its_looks_alone_is_told_of():
    rows = "".join(f"It is day {number} today\t{'pos' if number % 2 else 'neg'}\n" for number in range(10))
    guessed = read_table(f"Wonderful day\tjoy\n{rows}")
    [said] = guessed.notes
    assert len(guessed.rows) == 10 and said.startswith(
        "Row 1 was taken for the names of the columns: “Wonderful day”, “joy”."
    )
    assert read_table(f"Text\tMood\n{rows}").notes == (), "a name that columns have"
    assert read_table(f"remark\tmood of it\n{rows}", names=("remark", "mood of it")).notes == (), (
        "those of a file beside"
    )
    assert read_table(rows).notes == () and len(read_table(rows).rows) == 10
