"""Files that commands of the shell are given, and standard input in their place, read a line at a time."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from explorer.errors import UnsuitableText


def read_lines(file: str) -> Iterator[str]:
    """A file line by line, so that a large one is read no further than it is wanted.

    Args:
        file: Its path; "-" = standard input.

    Raises:
        UnsuitableText: It cannot be read, or is not UTF-8.
    """
    try:
        if file == "-":
            yield from sys.stdin
            return
        with Path(file).open(encoding="utf-8-sig") as lines:  # editors on Windows begin a file with a mark
            yield from lines
    except UnicodeDecodeError as error:
        raise UnsuitableText(f"{file} is not UTF-8 text. Save it as UTF-8.") from error
    except OSError as error:
        raise UnsuitableText(f"{file} cannot be read: {error.strerror}.") from error


class FileLines:
    """The lines of a file, of any length, as often as they are wanted; read anew each time, one at a time."""

    def __init__(self, file: str) -> None:
        """Look whether a file can be read; standard input is kept on the disk as long as this is.

        Args:
            file: Its path; "-" = standard input.

        Raises:
            UnsuitableText: It cannot be read.
        """
        self._file = file
        if file == "-":
            self._folder = TemporaryDirectory()
            self._file = str(Path(self._folder.name) / "standard input")
            with Path(self._file).open("w", encoding="utf-8") as kept:
                shutil.copyfileobj(sys.stdin, kept)
        next(read_lines(self._file), None)

    def __iter__(self) -> Iterator[str]:
        """From its first line on; raises UnsuitableText where it is not UTF-8."""
        for line in read_lines(self._file):
            yield line.rstrip("\n")

    def __reduce__(self) -> tuple:
        """As a tuple of its lines: another machine has no such file."""
        return tuple, (list(self),)
