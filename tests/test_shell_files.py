"""Files of the shell: any length, as often as wanted, never held whole."""

import pickle
import sys
import tracemalloc
from io import StringIO

import pytest

from explorer.errors import UnsuitableText
from explorer.shell_files import FileLines, read_lines

LINES = ["The old man sold his boat.", "", "A dög walked by."]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "boats.txt"
    path.write_bytes("\r\n".join(LINES).encode("utf-8-sig"))
    return path


def test_a_file_is_read_as_often_as_wanted_and_as_it_is_by_then(file):
    lines = FileLines(str(file))
    first, second = iter(lines), iter(lines)
    assert next(first) == LINES[0] and list(second) == LINES and list(first) == LINES[1:]
    file.write_text("Another.\n", encoding="utf-8")
    assert list(lines) == ["Another."]


def test_standard_input_is_read_as_often_as_wanted(monkeypatch):
    monkeypatch.setattr(sys, "stdin", StringIO("\n".join(LINES)))
    lines = FileLines("-")
    assert [list(lines) for _ in range(2)] == [LINES] * 2


def test_lines_travel_to_another_machine(file):
    packed = pickle.dumps(FileLines(str(file)))
    file.unlink()
    assert list(pickle.loads(packed)) == LINES


def test_a_long_file_takes_little_memory(tmp_path):
    path = tmp_path / "long.txt"
    with path.open("w", encoding="utf-8") as file:
        for number in range(100_000):
            file.write(f"Line {number} of a long file, which nobody wants to hold.\n")
    assert path.stat().st_size > 5 * 2**20
    tracemalloc.start()
    assert sum(1 for _ in FileLines(str(path))) == 100_000
    assert tracemalloc.get_traced_memory()[1] < 2**18
    tracemalloc.stop()


def test_what_cannot_be_read_is_said_at_once(tmp_path):
    with pytest.raises(UnsuitableText, match="none cannot be read: No such file"):
        FileLines(str(tmp_path / "none"))
    with pytest.raises(UnsuitableText, match="cannot be read: Is a directory"):
        FileLines(str(tmp_path))
    path = tmp_path / "latin.txt"
    path.write_bytes(b"\xe4\n")
    with pytest.raises(UnsuitableText, match="latin.txt is not UTF-8 text"):
        FileLines(str(path))
    path.write_bytes(b"a line\n" * 10_000 + b"\xe4\n")  # seen only when it is read so far
    with pytest.raises(UnsuitableText, match="latin.txt is not UTF-8 text"):
        list(read_lines(str(path)))
