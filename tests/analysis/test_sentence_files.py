"""Files of sentences as people have them, and what is wrong with some."""

import gzip
import lzma
import time
import tracemalloc
import zipfile

import pytest

from explorer.analysis.labelled_uses import gather_uses
from explorer.analysis.sentence_files import read_sentence_file
from explorer.analysis.text_files import read_chunks
from explorer.errors import UnsuitableText
from explorer.settings import Settings

ROWS = [
    ("stage", "The play ran for a year."),
    ("game", "They play chess, and cards."),
    ("stage", 'She wrote "a play", he said.'),
    ("game", "Children play; dogs too."),
]


def write(tmp_path, name, content, encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def quoted_csv(delimiter, rows=ROWS, header=None):
    lines = [delimiter.join(header)] if header else []
    lines += [delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    return "\r\n".join(lines) + "\r\n"


EXPECTED = tuple(f"{sense}\t{sentence}" for sense, sentence in ROWS)


def test_a_sentence_in_each_line(tmp_path):
    path = write(tmp_path, "own.txt", 'A play.\r\n\r\n  Two, plays; \n"Play" it\rstage\tA {play}, or\ttwo.')
    read = read_sentence_file(path)
    assert read.lines == ("A play.", "Two, plays;", '"Play" it', "stage\tA {play}, or two.")
    assert read.labelled == 1 and read.remarks == ()
    uses = gather_uses(read.lines, "play", forms=["plays"])
    assert uses.senses == ("", "", "", "stage") and uses.sentences[-1] == "A play, or two."


def test_a_sense_before_a_vertical_bar_and_a_bar_within_a_table(tmp_path):
    read = read_sentence_file(write(tmp_path, "own.txt", "river | Mud on a bank.\nNo label."))
    assert read.lines == ("river\tMud on a bank.", "No label.") and read.labelled == 1
    table = read_sentence_file(write(tmp_path, "own.csv", 'sense,sentence\n,"Home | a bank"\nriver,"A bank"\n'))
    assert gather_uses(table.lines, "bank").senses == ("", "river")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [None, ["Sense", "Sentence"], ["label", "TEXT"]])
def test_a_table_of_two_columns(tmp_path, delimiter, header):
    read = read_sentence_file(write(tmp_path, "own.csv", quoted_csv(delimiter, header=header)))
    assert read.lines == EXPECTED and read.labelled == 4
    where = "column 2" + (f" (“{header[1]}”)" if header else "")
    assert read.remarks[0].startswith(f"Sentences were read from {where}, senses from column 1")


def test_columns_are_found_by_name_wherever_they_stand(tmp_path):
    rows = [(str(number), sentence, "a source that is longer than any of the sentences are", sense)
            for number, (sense, sentence) in enumerate(ROWS, start=1)]  # fmt: skip
    named = quoted_csv(",", rows, ["id", "text", "source", "sense"])
    assert read_sentence_file(write(tmp_path, "named.csv", named)).lines == EXPECTED
    read = read_sentence_file(write(tmp_path, "plain.csv", quoted_csv(",", [(row[0], row[1], row[3]) for row in rows])))
    assert read.lines == EXPECTED  # the numbers are no senses
    swapped = quoted_csv(",", [(sentence, sense) for sense, sentence in ROWS], ["Satz", "Bedeutung"])
    assert read_sentence_file(write(tmp_path, "swapped.csv", swapped)).lines == EXPECTED


def test_line_breaks_within_quotation_marks_are_spaces(tmp_path):
    read = read_sentence_file(write(tmp_path, "own.csv", 'sense,sentence\nstage,"A play\nin three\r\nacts."\n'))
    assert read.lines == ("stage\tA play in three acts.",)


def test_quotation_marks_between_tabs_are_characters(tmp_path):
    read = read_sentence_file(
        write(tmp_path, "own.tsv", 'sense\tsentence\nact\t"Play it," she said.\nact\t"Play." He left.')
    )
    assert read.lines == ('act\t"Play it," she said.', 'act\t"Play." He left.')


def test_a_table_of_one_column(tmp_path):
    read = read_sentence_file(write(tmp_path, "own.csv", "text\nThey play, and sing.\nA play\n"))
    assert read.lines == ("They play, and sing.", "A play") and read.labelled == 0
    read = read_sentence_file(write(tmp_path, "own.csv", '"They play, and sing."\n"A ""play"""\n'))
    assert read.lines == ("They play, and sing.", 'A "play"')
    assert read_sentence_file(write(tmp_path, "one.csv", "A play.")).lines == ("A play.",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark(tmp_path, encoding):
    text = "sense,sentence\nstage,Ein Stück – “play” 玩 😀.\nx,Noch eins, oder\n".replace(", oder", " oder")
    read = read_sentence_file(write(tmp_path, "own.csv", text, encoding))
    assert read.lines == ("stage\tEin Stück – “play” 玩 😀.", "x\tNoch eins oder")
    assert not any("UTF-8" in remark for remark in read.remarks)


def test_what_is_not_utf_8_is_windows_1252_and_said_so(tmp_path):
    read = read_sentence_file(write(tmp_path, "own.txt", "Café “play” – fünf €", "cp1252"))
    assert read.lines == ("Café “play” – fünf €",) and "Windows-1252" in read.remarks[0]
    assert read_sentence_file(write(tmp_path, "own.txt", b"caf\xe9 \x81")).lines == ("café \x81",)  # Latin-1


@pytest.mark.parametrize(
    "pack", [gzip.compress, lzma.compress, lambda data: lzma.compress(data[:9]) + lzma.compress(data[9:])]
)
def test_packed_files(tmp_path, pack):
    name = "own.csv.gz" if pack is gzip.compress else "own.csv.xz"
    assert read_sentence_file(write(tmp_path, name, pack(quoted_csv(",").encode()))).lines == EXPECTED


def test_a_packed_file_that_swells_takes_little_memory_and_time(tmp_path, monkeypatch):
    zeros = b"a sentence with a play. " * 1000
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(3_000):  # 72 MB
            file.write(zeros)
    assert path.stat().st_size < 2**19
    tracemalloc.start()
    began = time.thread_time()
    with pytest.raises(UnsuitableText, match="bomb.txt.gz is larger than the 4 MiB .* Give a part of it.$"):
        read_sentence_file(path)
    assert time.thread_time() - began < 5 and tracemalloc.get_traced_memory()[1] < 30 * 2**20
    tracemalloc.stop()
    greedy = lzma.compress(b"a play", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}])
    with pytest.raises(UnsuitableText, match="damaged"):  # to unpack it would take 1 GiB
        read_sentence_file(write(tmp_path, "greedy.txt.xz", greedy))


def test_a_file_of_200_mb_is_refused_at_once(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(200 * 2**20)
        file.write(b"sense,sentence\nstage,A play.\n" * 20_000)
    began = time.thread_time()
    with pytest.raises(UnsuitableText, match="larger than the 4 MiB"):
        read_sentence_file(path)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("name", ["own.txt", "own.csv", "own.tsv"])
def test_a_line_of_50_mb_takes_little_memory_and_time(tmp_path, name, monkeypatch):
    path = write(tmp_path, name, b"x" * (50 * 2**20))
    with pytest.raises(UnsuitableText, match="larger than"):
        read_sentence_file(path)
    monkeypatch.setattr("explorer.analysis.sentence_files.settings", lambda: Settings(largest_sentences_mib=64))
    began = time.thread_time()
    assert len(read_sentence_file(path).lines[0]) == 50 * 2**20  # gather_uses says that it is too long
    assert time.thread_time() - began < 10


def test_a_million_columns(tmp_path):
    row = ",".join(["a b"] * 1_000_000) + "\n"
    began = time.thread_time()
    with pytest.raises(UnsuitableText, match="has 1,000,000 columns, and none is called"):
        read_sentence_file(write(tmp_path, "wide.csv", row))
    assert time.thread_time() - began < 10


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.csv", "sense,sentence\nx,\"A play.\ny,They play.\n", "from line 2 on.*opened and not.*written twice"),
        ("a.csv", 'sense,sentence\nstage,"A "play"."\n', "cannot be read from line 2 on"),
        ("a.csv", "sense,sentence\na,One play.\nb,A play, a game\n", r"Row 3 of a.csv has 3 columns and .* 2 \(comma"),
        ("a.csv", "sense,sentence\nstage,\"" + "play\n" * 40_000, "line 2 on. A field is longer than any sentence"),
        ("a.csv", b"PK\x03\x04....xl/workbook.xml", "a.csv is a spreadsheet, .* as csv in UTF-8"),
        ("a.csv", b"\xd0\xcf\x11\xe0rest", "an old spreadsheet"),
        ("a.txt", b"%PDF-1.7", "is a PDF, not text"),
        ("a.csv", "\ufeff \n<!DOCTYPE html><html>", "is a web page"),
        ("a.csv", "a,b\0c", "holds NUL characters"),
        ("a.csv", "A play.\n".encode("utf-16-le"), "holds NUL characters.* UTF-8"),
        ("a.csv", b"\xff\xfeA\0 \0\0", "begins as UTF-16 does, and is damaged"),
        ("a.csv", b"\xef\xbb\xbfplay\xff", "begins as UTF-8 does, and is damaged"),
        ("a.txt", "", "a.txt holds no sentences"),
        ("a.csv", "\ufeff", "holds no sentences"),
        ("a.csv", "\n \n,,\n", "holds no sentences"),
        ("a.csv", "sense,sentence\n", "holds no sentences"),
        ("a.txt", gzip.compress(b"A play." * 99)[:-9], "damaged or incomplete"),
        ("a.txt", gzip.compress(b"A play.") + b"rest", "damaged or incomplete"),
        ("a.txt", lzma.compress(b"A play." * 99)[:-9], "damaged or incomplete"),
        ("a.txt", "A play.\n" * 100_001, "more than 100,000 lines"),
        ("a.csv", "x,A play.\n" * 100_001, "more than 100,000 lines"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_what_to_do(tmp_path, name, content, message):
    with pytest.raises(UnsuitableText, match=message):
        read_sentence_file(write(tmp_path, name, content))


def test_an_archive_and_a_missing_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "own.csv", "w") as archive:
        archive.writestr("own.txt", "A play.")
    with pytest.raises(UnsuitableText, match="zip file"):
        read_sentence_file(tmp_path / "own.csv")
    with pytest.raises(UnsuitableText, match="nowhere.txt cannot be read: No such file"):
        read_sentence_file(tmp_path / "nowhere.txt")
    with pytest.raises(UnsuitableText, match="cannot be read: Is a directory"):
        list(read_chunks(tmp_path))


def test_repeated_sentences_count_once_and_are_said(tmp_path):
    rows = [*ROWS, *ROWS[:2], ("pun", ROWS[0][1])]
    read = read_sentence_file(write(tmp_path, "own.csv", quoted_csv(",", rows)))
    assert read.lines == EXPECTED
    assert read.remarks[1:] == (
        "3 sentences stood there before, and count once.",
        "One of them has another sense there; the first one counts.",
    )


def test_labels_that_all_differ_are_left_out(tmp_path):
    rows = [(f"s{number}", f"They play game {number}.") for number in range(12)]
    read = read_sentence_file(write(tmp_path, "own.csv", quoted_csv(",", rows, ["label", "sentence"])))
    assert read.lines == tuple(sentence for _, sentence in rows) and read.labelled == 0
    assert read.remarks[1] == "All 12 labels are different, so they are no senses; they were left out."
    few = read_sentence_file(write(tmp_path, "few.csv", quoted_csv(",", rows[:3], ["label", "sentence"])))
    assert few.labelled == 3
