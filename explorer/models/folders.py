"""Where the files of a card are on this machine, and whether they are what the card says."""

import json
import shutil
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.errors import FileMetadataError

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.card import (
    Bundled,
    HubRepository,
    InstalledPackage,
    LocalFolder,
    ModelCard,
    PublishedFile,
    PublishedFiles,
)
from explorer.models.download import check_checksum, download_file
from explorer.models.hub import check_size, download
from explorer.models.hub_errors import explained, is_offline_message
from explorer.models.model_files import choose_weights
from explorer.models.progress import Progress, Report
from explorer.settings import ASSETS

FLOAT32_BYTES = 4
HDF5_BEGINS = b"\x89HDF\r\n\x1a\n"  # the format's signature
_checked: set[tuple[Path, int, int, str]] = set()


def find_folder(card: ModelCard, progress: Report) -> Path:
    """The folder that holds a card's files, downloaded first where they are published elsewhere.

    Args:
        card: What is wanted; for a Bundled delta, its folder holds what to add to find_base's weights.
        progress: Told the bytes that come.

    Raises:
        ModelUnavailable: The files are not here and cannot be had now.
        ModelRefused: Unsafe, too large, or not what the card says.
    """
    match card.source:
        case HubRepository():
            return download(card, progress)
        case PublishedFiles():
            return _download_published(card, progress)
        case InstalledPackage() as package:
            return _package_folder(card, package)
        case Bundled(folder=folder):
            return _existing(card, ASSETS / "models" / folder, "Get a fresh copy of the project.")
        case LocalFolder(path=path):
            return _existing(card, Path(path), "Check how it is spelled.")


def find_base(card: ModelCard) -> Path | None:
    """The folder with the weights that a Bundled delta is added to; None for every other card.

    Args:
        card: What is wanted.

    Raises:
        ModelUnavailable: The package that holds it is not installed.
        ModelRefused: Its weights have another checksum.
    """
    source = card.source
    if not isinstance(source, Bundled) or source.base is None:
        return None
    folder = _package_folder(card, source.base)
    if source.base_sha256:
        check_once(folder / "model.safetensors", source.base_sha256, card.name)
    return folder


def find_weights(card: ModelCard, folder: Path) -> tuple[Path, ...]:
    """The weights files of a folder, first an index if there is one, checked against the card.

    Args:
        card: Says which formats may be loaded, and the checksum if it is known.
        folder: In the format of save_pretrained.

    Raises:
        ModelRefused: No weights in a safe format, too large, or another checksum.
    """
    names = choose_weights((file.name for file in folder.iterdir() if file.is_file()), card.weights_format, card.name)
    files = tuple(folder / name for name in names)
    check_size(sum(file.stat().st_size for file in files), card.name)
    if card.weights_sha256 and files[0].suffix == f".{card.weights_format}":
        check_once(files[0], card.weights_sha256, card.name)
    return files


def check_once(file: Path, sha256: str, name: str) -> None:
    """As check_checksum, but a file that has not changed since it was found right is not read again.

    Args:
        file: The file.
        sha256: What it should have, in hexadecimal.
        name: The model, for the error message.

    Raises:
        ModelRefused: It has another.
    """
    state = file.stat()
    key = (file.resolve(), state.st_size, state.st_mtime_ns, sha256)
    if key not in _checked:
        check_checksum(file, sha256, name)
        _checked.add(key)


def _package_folder(card: ModelCard, package: InstalledPackage) -> Path:
    spec = find_spec(package.module)  # looks for it without running it
    for place in spec.submodule_search_locations or () if spec else ():
        if (folder := Path(place) / package.folder).is_dir():
            return folder
    raise ModelUnavailable(
        f"{card.name} is not installed. The operator gets it with: pip install '.[{package.extra}]' "
        f"in the folder of this project."
    )


def _existing(card: ModelCard, folder: Path, advice: str) -> Path:
    if not folder.is_dir():
        raise ModelUnavailable(f"The folder of {card.name} does not exist. {advice}")
    return folder


def _download_published(card: ModelCard, progress: Report) -> Path:
    source = card.source
    folder = published_folder(source)
    check_size(card.weights_bytes or FLOAT32_BYTES * (card.parameters or 0), card.name)
    if all((folder / file.name).exists() for file in source.files):
        return folder
    if constants.is_offline_mode():
        raise ModelUnavailable(is_offline_message(card.name))
    with explained(card.name):
        for file in source.files:
            download_file(
                source.base_url + file.name,
                folder / file.name,
                lock=folder.parent / ".locks" / f"{file.name}.lock",
                name=card.name,
                size_bytes=file.size_bytes,
                check=partial(_check_published, file=file, name=card.name),
                headers={},
                report=lambda done_bytes: progress(Progress(done_bytes, card.weights_bytes or 0, "downloading")),
            )
    return folder


def _check_published(path: Path, file: PublishedFile, name: str) -> None:
    """Raise what explained() understands if a download is not even of the right kind, e.g. a login page."""
    if file.sha256:
        check_checksum(path, file.sha256, name)
    if file.name.endswith(".json"):
        json.loads(path.read_bytes())
    with path.open("rb") as opened:
        if file.name.endswith(".hdf5") and opened.read(len(HDF5_BEGINS)) != HDF5_BEGINS:
            raise FileMetadataError("no HDF5 file")


def discard_published(source: PublishedFiles) -> None:
    """Delete what was downloaded from a published address, and what was made of it: the next to ask gets it anew."""
    shutil.rmtree(published_folder(source), ignore_errors=True)


def published_folder(source: PublishedFiles) -> Path:
    """Where files of a published address are kept once they were downloaded, beside the Hub's cache."""
    return Path(constants.HF_HUB_CACHE).parent / "explorer" / _folder_name(source.base_url)


def _folder_name(base_url: str) -> str:
    """The last part of an address, which names what is published there."""
    name = base_url.rstrip("/").rpartition("/")[2]
    if not name or name.startswith("."):
        raise ModelRefused(f"{base_url} does not end in a name.")
    return name
