"""A table of texts as it was read, before anybody has said what its columns mean; importable without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes:
        name: Of the file, for messages.
        columns: Their names, each once; "column 1" … where the file has none.
        rows: As many cells in each as there are columns.
        numbers: Of each row in the file, from 1, empty rows and the one with the names included, as a spreadsheet
            counts; a gap is where rows were empty. Parallel to rows.
        notes: What a reader must know: the encoding that was taken, what was left out.
        names_row: Number of the row with the names; 0 = there is none.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    notes: tuple[str, ...] = ()
    names_row: int = 0

    def column(self, name: str) -> tuple[str, ...]:
        """Its cells, from above."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)


def clean_text(text: str) -> str:
    """A text without what is no character: halves of surrogate pairs, which no file can hold, and NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
