"""Models of the Hugging Face Hub: which names are safe, what a repository holds, and getting it onto this machine."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from huggingface_hub import (
    HfApi,
    constants,
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.errors import HFValidationError
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import build_hf_headers, validate_repo_id

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.card import HubRepository, ModelCard
from explorer.models.download import check_checksum, download_file
from explorer.models.hub_errors import explained, is_gated_message, is_no_id_message, is_offline_message
from explorer.models.model_files import (
    SMALL_FILES,
    TOKENIZER_FILES,
    are_all_shards,
    check_small_files,
    choose_weights,
    weights_names,
)
from explorer.models.named_room import claim, note_use, stay
from explorer.models.progress import Progress, Report
from explorer.models.status import format_bytes
from explorer.settings import GIB, settings

ANSWER_SECONDS = 15.0


@dataclass(frozen=True)
class HubFile:
    """One file of a repository.

    Attributes:
        name: Path inside the repository.
        size_bytes: Its size.
        sha256: Its checksum; None for small files, which the Hub does not keep one of.
    """

    name: str
    size_bytes: int
    sha256: str | None


@dataclass(frozen=True)
class HubListing:
    """What a repository holds, known before anything is downloaded.

    Attributes:
        id: Its name; the Hub may have moved it since it was asked for.
        commit: The commit that this is the state of.
        files: All files.
        licence: As its authors tagged it; None = they did not.
        parameters: Number of weights, from the headers of safetensors files; None = unknown.
        is_gated: Whether its authors want an agreement first.
    """

    id: str
    commit: str
    files: tuple[HubFile, ...]
    licence: str | None
    parameters: int | None
    is_gated: bool

    def names(self) -> set[str]:
        """Names of all files."""
        return {file.name for file in self.files}

    def sizes_bytes(self) -> dict[str, int]:
        """Sizes of all files, by name."""
        return {file.name: file.size_bytes for file in self.files}


def check_id(id: str) -> None:
    """Let through only what can be the name of a Hub repository.

    Args:
        id: What somebody typed.

    Raises:
        ModelRefused: It is not such a name.
    """
    try:
        validate_repo_id(id)
    except HFValidationError as error:
        raise ModelRefused(is_no_id_message(id)) from error


def list_files(id: str, revision: str) -> HubListing:
    """Ask the Hub what a repository holds.

    Args:
        id: Name of the repository.
        revision: Commit or branch.

    Raises:
        ModelRefused: The name is unsafe.
        ModelUnavailable: Offline, missing, private, or the Hub does not answer.
    """
    check_id(id)
    with explained(id):
        info = HfApi().model_info(id, revision=revision, files_metadata=True, token=token(), timeout=ANSWER_SECONDS)
    files = []
    for sibling in info.siblings or ():
        if sibling.size is None:
            raise ModelUnavailable(f"The Hub does not say how large the files of {id} are. Choose another model.")
        files.append(HubFile(sibling.rfilename, sibling.size, sibling.lfs.sha256 if sibling.lfs else None))
    licence = info.card_data.get("license") if info.card_data else None
    return HubListing(
        id=info.id,
        commit=info.sha,
        files=tuple(files),
        licence=str(licence) if licence else None,
        parameters=info.safetensors.total if info.safetensors else None,
        is_gated=bool(info.gated),
    )


def check_size(size_bytes: int, name: str) -> None:
    """Refuse a model that is larger than the operator allows.

    Args:
        size_bytes: Of its files.
        name: The model, for the error message.

    Raises:
        ModelRefused: It is too large.
    """
    limit_bytes = int(settings().largest_model_gib * GIB)
    if size_bytes > limit_bytes:
        raise ModelRefused(
            f"{name} takes {format_bytes(size_bytes)}, and this explorer loads models of at most "
            f"{format_bytes(limit_bytes)} (EXPLORER_LARGEST_MODEL_GIB). Choose a smaller model."
        )


def find_cached(source: HubRepository, weights_format: str) -> Path | None:
    """The folder of a repository that was downloaded before, if all of it is there; never asks the network.

    Args:
        source: Repository and revision; a branch means the commit it pointed to when it was first downloaded.
        weights_format: What the card allows.
    """
    config = try_to_load_from_cache(source.id, "config.json", revision=source.revision)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    names = {file.name for file in folder.iterdir() if file.exists()}
    formats = {"safetensors", weights_format}  # "bin" allows either
    has_weights = any(are_all_shards(weights_names(names, kind)) for kind in formats)
    return folder if has_weights and names & set(TOKENIZER_FILES) else None


def download(card: ModelCard, progress: Report) -> Path:
    """The folder with the files of a card's repository, downloaded unless they are here.

    Args:
        card: Its source is a HubRepository.
        progress: Told the bytes that have come.

    Raises:
        ModelRefused: Unsafe name or format, too large, or another checksum than the card's.
        ModelUnavailable: Offline, missing, gated, cut, or the disk, or the room of visitors' models, is full.
    """
    source = card.source
    check_id(source.id)
    stay(source)
    if folder := find_cached(source, card.weights_format):
        return folder
    if constants.is_offline_mode():
        raise ModelUnavailable(is_offline_message(card.name))
    listing = list_files(source.id, source.revision)
    files = _choose_files(card, listing)
    if listing.is_gated and not settings().hub_token:
        raise ModelUnavailable(is_gated_message(card.name))
    total_bytes, done_bytes = sum(file.size_bytes for file in files), 0
    pinned = replace(source, revision=listing.commit)
    if source.is_named:
        claim(pinned, total_bytes, card.name)
    else:
        stay(pinned)

    def report(file_bytes: int, before_bytes: int) -> None:
        note_use(source)
        progress(Progress(before_bytes + file_bytes, total_bytes, "downloading"))

    with explained(card.name):
        for file in files:  # the weights come last, so that a folder with weights has all
            report(0, done_bytes)
            path = _download(card, listing.commit, file, partial(report, before_bytes=done_bytes))
            done_bytes += file.size_bytes
        if source.revision != listing.commit:
            _remember(source, listing.commit)
    return path.parent


def _choose_files(card: ModelCard, listing: HubListing) -> tuple[HubFile, ...]:
    by_name = {file.name: file for file in listing.files}
    weights = [by_name[name] for name in choose_weights(by_name, card.weights_format, card.name)]
    if "config.json" not in by_name or not set(TOKENIZER_FILES) & set(by_name):
        raise ModelRefused(f"{card.name} has no config.json or no tokenizer. Choose a model made for transformers.")
    files = (*(by_name[name] for name in SMALL_FILES if name in by_name), *weights)
    check_small_files({file.name: file.size_bytes for file in files}, card.name)
    check_size(sum(file.size_bytes for file in files), card.name)
    published = weights[0].sha256
    if card.weights_sha256 and published and weights[0].name.endswith(card.weights_format):
        if published != card.weights_sha256:
            raise ModelRefused(
                f"The Hub's weights of {card.name} are not those of its card: their checksum is {published[:12]}… and "
                f"should be {card.weights_sha256[:12]}…. They were not downloaded. Choose another model."
            )
    return files


def _download(card: ModelCard, commit: str, file: HubFile, report: Callable[[int], None]) -> Path:
    """One file into the Hub's cache, where other programs find it too; large ones so that they can be continued."""
    if file.sha256:
        repository = _cache_of(card.source)
        download_file(
            hf_hub_url(card.source.id, file.name, revision=commit),
            repository / "blobs" / file.sha256,  # the cache's place for a file of this checksum
            lock=repository.parent / ".locks" / repository.name / f"{file.sha256}.lock",  # the Hub client's own
            name=card.name,
            size_bytes=file.size_bytes,
            check=partial(check_checksum, sha256=file.sha256, name=card.name),
            headers=build_hf_headers(token=token()),
            report=report,
        )
        return Path(hf_hub_download(card.source.id, file.name, revision=commit, token=token()))
    return fetch_small(card.source.id, commit, file)


def fetch_small(id: str, commit: str, file: HubFile) -> Path:
    """One of the files that the Hub keeps no checksum of, in its cache.

    Args:
        id: Name of the repository.
        commit: Its state.
        file: As listed.

    Raises:
        ModelRefused: It is of another size than the listing said, on which all limits rest.
    """
    size_bytes = get_hf_file_metadata(hf_hub_url(id, file.name, revision=commit), token=token()).size
    if size_bytes != file.size_bytes:
        raise ModelRefused(f"The {file.name} of {id} is not of the size that its Hub lists. Choose another model.")
    return Path(hf_hub_download(id, file.name, revision=commit, token=token()))


def _remember(source: HubRepository, commit: str) -> None:
    """Record what a branch pointed to, as the cache does, so that it stays what results were made with."""
    refs = _cache_of(source) / "refs"
    refs.mkdir(parents=True, exist_ok=True)
    (refs / source.revision).write_text(commit)


def _cache_of(source: HubRepository) -> Path:
    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=source.id, repo_type="model")


def token() -> bool | None:
    """None = the operator's token, if there is one; False = ask as anybody would."""
    return None if settings().hub_token else False
