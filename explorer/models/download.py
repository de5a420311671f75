"""Download one file so that nothing is fetched twice: an attempt that was cut is continued by the next one.

The Hub's own client throws an unfinished file away when it gives up, and so starts a large model from nothing again.
"""

import hashlib
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2
from huggingface_hub.errors import FileMetadataError
from huggingface_hub.utils import WeakFileLock, get_session, hf_raise_for_status

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.hub_errors import disk_is_full_message

FRUITLESS_ATTEMPTS = 4  # in a row; one that brings bytes does not count
PAUSE_SECONDS = 0.5  # doubled after each of them
TIMEOUT_SECONDS = 15.0
SPARE_BYTES = 64 * 2**20  # left free on the disk


def download_file(
    url: str,
    target: Path,
    *,
    lock: Path,
    name: str,
    size_bytes: int | None,
    check: Callable[[Path], None],
    headers: Mapping[str, str],
    report: Callable[[int], None],
) -> None:
    """Download a file, going on from what an earlier attempt left beside it.

    Args:
        url: Where it is.
        target: Where it goes; does not exist before it is complete and was checked.
        lock: Held meanwhile, since another process of this machine may want the same file.
        name: The model, for error messages.
        size_bytes: Its size; None = ask the server.
        check: Raises what is wrong with a complete file, which is deleted then.
        headers: Sent along, e.g. an authorization.
        report: Called with the number of bytes on the disk so far.

    Raises:
        ModelUnavailable: The disk is full.
        FileMetadataError: Something else answers in place of the server, such as the login page of a network.
        httpx2.HTTPError: The server cannot be reached, or cut the connection again and again.
    """
    for folder in (target.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".incomplete")
    with WeakFileLock(lock):
        if target.exists():
            return
        headers = {**headers, "Accept-Encoding": "identity"}  # a range of a compressed body would not fit
        if size_bytes is None:
            size_bytes = _ask_size(url, headers)
        if _size(partial) > size_bytes:
            partial.unlink()
        if shutil.disk_usage(target.parent).free < size_bytes - _size(partial) + SPARE_BYTES:
            raise ModelUnavailable(disk_is_full_message(name))
        _complete(url, partial, size_bytes, headers, report)
        try:
            check(partial)
        except Exception:
            partial.unlink()  # else the next attempt would find the same wrong bytes
            raise
        partial.replace(target)


def check_checksum(file: Path, sha256: str, name: str) -> None:
    """Compare a file with its checksum.

    Args:
        file: The file.
        sha256: What it should have, in hexadecimal.
        name: The model, for the error message.

    Raises:
        ModelRefused: It has another.
    """
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise ModelRefused(
            f"The weights of {name} are not the published ones: their checksum is {found[:12]}… and should be "
            f"{sha256[:12]}…. They were not loaded. Try again to get a fresh copy; "
            f"if it happens twice, choose another model."
        )


def _complete(
    url: str, partial: Path, size_bytes: int, headers: Mapping[str, str], report: Callable[[int], None]
) -> None:
    fruitless = 0
    while (have := _size(partial)) < size_bytes:
        report(have)
        try:
            _continue(url, partial, have, size_bytes, headers, report)
        except httpx2.TransportError:
            fruitless = 0 if _size(partial) > have else fruitless + 1
            if fruitless == FRUITLESS_ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS * 2**fruitless)
        else:
            if _size(partial) != size_bytes:
                raise httpx2.RemoteProtocolError(f"the file should have {size_bytes} bytes, not {_size(partial)}")
    report(size_bytes)


def _continue(
    url: str, partial: Path, have: int, size_bytes: int, headers: Mapping[str, str], report: Callable[[int], None]
) -> None:
    asked = {**headers, "Range": f"bytes={have}-"} if have else dict(headers)
    with get_session().stream("GET", url, headers=asked, timeout=TIMEOUT_SECONDS) as response:
        hf_raise_for_status(response)
        if response.status_code != 206:  # the server sends all of it again
            have = 0
        before = have
        if have + int(response.headers.get("Content-Length", size_bytes - have)) != size_bytes:
            raise FileMetadataError("The server sends a file of another size.")
        with partial.open("ab" if have else "wb") as file:
            for chunk in response.iter_bytes():
                if have + len(chunk) > size_bytes:
                    file.truncate(before)  # what came in earlier attempts may be right
                    raise FileMetadataError("The server sends more than the file has.")
                file.write(chunk)
                have += len(chunk)
                report(have)


def _ask_size(url: str, headers: Mapping[str, str]) -> int:
    response = get_session().head(url, headers=dict(headers), timeout=TIMEOUT_SECONDS)
    hf_raise_for_status(response)
    return int(response.headers["Content-Length"])


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
