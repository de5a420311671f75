"""A tuned model as one file: what its folder holds (safetensors, card, recipe as a script), sent as it is packed.

Its base goes with it, in a folder of its own, where nobody else could fetch it.
"""

from __future__ import annotations

import logging
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from explorer.errors import ExplorerError
from explorer.models.registry import Registry
from explorer.training.jobs.naming import find_start
from explorer.training.jobs.store import JobStore
from explorer.training.tuning.bases import BASE, base_files, find_base

ADDRESS = "/tuned/{job}/{run:int}.zip"
JOB = re.compile(r"[0-9a-f]{12}")
BLOCK_BYTES = 2**20
LOG = logging.getLogger("explorer")


def download_address(job: str, run: int) -> str:
    """Where the page has the file, relative to its own address.

    Args:
        job: Id of the job; whoever has it may have the model.
        run: Index of the run.
    """
    return f"tuned/{job}/{run}.zip"


def download_route(registry: Registry, store: JobStore) -> Route:
    """The route that sends it.

    Args:
        registry: The models on offer, from which tuned ones started.
        store: Of all jobs.
    """
    find_model, room = partial(find_start, registry, store.shelf), store.shelf.folder / "bases"

    def send(request: Request) -> Response:
        job, run = request.path_params["job"], request.path_params["run"]
        if not JOB.fullmatch(job):
            return PlainTextResponse("There is no such job.", status_code=404)
        try:
            folder = store.model_folder(job, run)
        except ExplorerError as error:
            return PlainTextResponse(str(error), status_code=404)
        name = f"tuned-{job}-{run}"
        headers = {"content-disposition": f'attachment; filename="{name}.zip"'}
        return StreamingResponse(
            pack_model(folder, find_or_warn(folder), name), media_type="application/zip", headers=headers
        )

    def find_or_warn(folder: Path) -> Path | None:
        try:
            return find_base(folder, find_model, room)
        except ExplorerError as error:  # the model is whole without it; its recipe says what it lacks
            LOG.warning("%s goes without its base: %s", folder, error)
            return None

    return Route(ADDRESS, send)


def pack_model(folder: Path, base: Path | None, name: str) -> Iterator[bytes]:
    """A tuned model as a zip archive, bit by bit; nothing is compressed, as weights hardly can be.

    Args:
        folder: Its files, those in folders of its own too.
        base: Its base, of which only the files that load it go along; None = it goes without.
        name: Of the folder within the archive.
    """
    sink = _Sink()
    own = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    files = {path.relative_to(folder).as_posix(): path for path in own}
    if base is not None:
        files |= {f"{BASE}/{path.name}": path for path in base_files(base)}
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for within, path in sorted(files.items()):
            with path.open("rb") as file, archive.open(f"{name}/{within}", "w", force_zip64=True) as entry:
                while block := file.read(BLOCK_BYTES):
                    entry.write(block)
                    yield sink.take()
    yield sink.take()


class _Sink:
    """What a ZipFile writes to where it cannot go back: holds what was not taken yet."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, block: bytes) -> int:
        self._blocks.append(bytes(block))
        return len(block)

    def flush(self) -> None:
        """Nothing to do: what is held is taken from here."""

    def take(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)
