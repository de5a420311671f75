"""Files that are whole or not there, and a message where they cannot be written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from explorer.errors import UnwritableFolder


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Explain what goes wrong while a folder is written to.

    Args:
        folder: Named by the message.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        # Where the disk is full, torch and safetensors raise errors of their own, which only their texts tell apart.
        if not isinstance(error, OSError) and not any(said in str(error) for said in ("inline_container", "I/O error")):
            raise
        reason = error.strerror if isinstance(error, OSError) else "a file could not be written to its end"
        raise UnwritableFolder(
            f"Nothing more can be written to {folder} ({reason}): make room there, or choose another folder."
        ) from error


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write beside the file, then move: an interrupt or a full disk leaves the last whole file in place.

    Args:
        path: The file; its folder is made if need be.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")  # of each process that may be writing the same
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
