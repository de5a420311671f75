"""Corpus text from a public data set of the Hugging Face Hub, read as a stream until there is enough of it."""

import re
from collections.abc import Iterator
from pathlib import Path

from explorer.errors import ModelUnavailable, UnsuitableCorpus
from explorer.training.writing import whole_file

HUB = "hub:"
TEXT_COLUMNS = ("text", "content", "document", "story")
LARGEST_BYTES = 200_000_000  # as much as our own corpus; --tokens decides how much of it is seen


def find_corpus(name: str, cache: Path, *, largest_bytes: int = LARGEST_BYTES) -> Path:
    """The file of a corpus, fetched first if it is a data set of the Hub.

    Args:
        name: A file; or `hub:OWNER/NAME` or `hub:OWNER/NAME:CONFIG`, e.g. `hub:wikimedia/wikipedia:20231101.simple`.
        cache: Folder where what was fetched is kept.
        largest_bytes: How much text of a data set is taken.

    Raises:
        ModelUnavailable: The package that reads data sets is not installed.
        UnsuitableCorpus: The data set cannot be had, or has no column of text.
        UnwritableFolder: The cache cannot be written.
    """
    if not name.startswith(HUB):
        return Path(name)
    dataset, _, config = name.removeprefix(HUB).partition(":")
    stored = cache / (re.sub(r"[^\w.-]+", "-", f"{dataset}-{config}").strip("-") + ".txt")
    if not stored.exists():
        with whole_file(stored) as part, part.open("w", encoding="utf-8") as file:
            for document in _stream(dataset, config or None, largest_bytes):
                file.write(document + "\n\n")
    return stored


def _stream(dataset: str, config: str | None, largest_bytes: int) -> Iterator[str]:
    """Documents with one paragraph a line, until there are enough bytes."""
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise ModelUnavailable("Data sets of the Hub need another package: pip install -e '.[train]'") from error
    try:
        rows = iter(load_dataset(dataset, config, split="train", streaming=True))
        first = next(rows)
    except StopIteration:
        raise UnsuitableCorpus(f"The data set {dataset} is empty.") from None
    except Exception as error:  # its own errors, and those of a dozen file formats and of the network
        raise UnsuitableCorpus(
            f"The data set {dataset} cannot be had ({type(error).__name__}: {str(error)[:200]}). Check its name and "
            f"the network, or name a file."
        ) from error
    column = next((name for name in (*TEXT_COLUMNS, *first) if isinstance(first.get(name), str)), None)
    if column is None:
        raise UnsuitableCorpus(f"The data set {dataset} has no column of text; it has: {', '.join(first)}.")
    left_bytes, row = largest_bytes, first
    while row is not None and left_bytes > 0:
        document = "\n".join(
            line.strip() for line in (row[column] or "").replace("\0", " ").splitlines() if line.strip()
        )
        left_bytes -= len(document.encode())
        if document:
            yield document
        row = next(rows, None)
