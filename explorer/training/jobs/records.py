"""What a job keeps on disk, as JSON, and back: whole files, and a log of lines whose last may be torn."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from explorer.training.jobs.results import JobSpec, LoggedStep
from explorer.training.tuning import examples as kinds
from explorer.training.tuning.examples import Example, ExampleSet
from explorer.training.writing import whole_file, writing_to

Record = TypeVar("Record")
UNREADABLE = (OSError, ValueError, ValidationError, KeyError, TypeError, RecursionError)


@dataclass(frozen=True)
class Asked:
    """What never changes of a job.

    Attributes:
        number: Counts the jobs of a folder, so that their order does not hang on the clock.
        created_at: Unix time, in seconds.
        spec: What is to be done.
    """

    number: int
    created_at: float
    spec: JobSpec


@dataclass(frozen=True)
class Standing:
    """How a job stands.

    Attributes:
        state: "stopping" is not kept: it is running, and there is a request to stop it.
        number: Counts arrivals in line: a job that is resumed arrives again.
        message: Why it failed or ended early, and what to do next; "" = nothing to say.
        ended_at: Unix time, in seconds; 0 = it has not ended.
        device: Where it runs; the lock of that device's worker tells whether anybody works on it.
        seconds: On the device since it arrived.
        problems: Of each run that cannot be done, why, since it arrived.
    """

    state: Literal["waiting", "running", "stopped", "done", "failed"]
    number: int
    message: str = ""
    ended_at: float = 0.0
    device: str = ""
    seconds: float = 0.0
    problems: dict[int, str] = field(default_factory=dict)


@cache
def _adapter(kind: type) -> TypeAdapter:
    return TypeAdapter(kind)


def write_record(path: Path, record: object) -> None:
    """Keep a dataclass, or a dict of them, whole or not at all.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    text = json.dumps(record if isinstance(record, dict | list) else asdict(record), ensure_ascii=False)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", errors="surrogatepass")


def read_record(path: Path, kind: type[Record]) -> Record | None:
    """What write_record kept; None = there is none, or it is damaged."""
    try:
        return parse_record(json.loads(path.read_text(encoding="utf-8", errors="surrogatepass")), kind)
    except UNREADABLE:
        return None


def parse_record(found: Any, kind: type[Record]) -> Record:
    """A dataclass from what JSON holds of it.

    Raises:
        ValidationError: Something is missing, or is of another type.
    """
    return _adapter(kind).validate_python(found)


class RecentRecords:
    """Files as they were read last; read again only when they have changed.

    Args:
        most: So many are remembered; the longest unused leave.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Path, tuple[object, Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, file: Path, kind: type) -> Any:
        """What the file holds; None = it is not there, or damaged."""
        version = _version(file)
        if version is None:
            return None
        with self._lock:
            if (known := self._held.get(file)) and known[0] == version:
                self._held.move_to_end(file)
                return known[1]
        content = read_record(file, kind)
        self._keep(file, version, content)
        return content

    def put(self, file: Path, content: object) -> None:
        """Take this for what the file holds until it changes."""
        self._keep(file, _version(file), content)

    def _keep(self, file: Path, version: object, content: object) -> None:
        with self._lock:
            self._held[file] = version, content
            self._held.move_to_end(file)
            while len(self._held) > self._most:
                self._held.popitem(last=False)


def _version(file: Path) -> object:
    """What tells one version of a file from another; None = it is not there."""
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def write_examples(path: Path, examples: ExampleSet) -> None:
    """Keep examples: each is a row that starts with its kind. Raises as write_record does."""
    write_record(
        path,
        {"name": examples.name, "task": examples.task, "notes": examples.notes}
        | {part: [_row(one) for one in getattr(examples, part)] for part in ("train", "held_out")},
    )


def read_examples(path: Path) -> ExampleSet | None:
    """What write_examples kept; None = there is none, or it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
        parts = {part: tuple(map(_example, found[part])) for part in ("train", "held_out")}
        return ExampleSet(found["name"], found["task"], notes=tuple(found.get("notes", ())), **parts)
    except UNREADABLE:
        return None


def _row(example: Example) -> list:
    return [type(example).__name__, *(getattr(example, field.name) for field in fields(example))]


def _example(row: list) -> Example:
    kind = getattr(kinds, row[0], None)
    if kind is None or not hasattr(kind, "__dataclass_fields__"):
        raise ValueError(row[0])
    return kind(*(tuple(value) if isinstance(value, list) else value for value in row[1:]))


def append_step(path: Path, logged: LoggedStep) -> None:
    """Add a line to a log; what a process that was ended left of its last line goes first.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    line = json.dumps({"run": logged.run, "step": asdict(replace(logged.step, outcome=None))}).encode() + b"\n"
    with writing_to(path.parent), path.open("ab+") as file:
        end = file.seek(0, 2)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line)


def read_steps(path: Path) -> tuple[LoggedStep, ...]:
    """The lines of a log, but for what is torn or damaged."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return ()
    return tuple(_parsed(lines[:-1]))  # after the last line end comes nothing, or a torn line


def _parsed(lines: Iterable[bytes]) -> Iterable[LoggedStep]:
    for line in lines:
        try:
            step = parse_record(json.loads(line), LoggedStep)
        except UNREADABLE:
            continue
        yield step


def rewrite_steps(path: Path, steps: Iterable[LoggedStep]) -> None:
    """Put other steps in the place of a log: those that a checkpoint does not know of happen again.

    Raises:
        UnwritableFolder: The disk is full, or the folder may not be written.
    """
    with whole_file(path) as part, part.open("wb") as file:
        for one in steps:
            file.write(json.dumps(asdict(one)).encode() + b"\n")
