"""What can go wrong on the way to a published model, as the visitor will read it."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb

import httpx2
from huggingface_hub.errors import (
    FileMetadataError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from explorer.errors import ModelUnavailable, quoted
from explorer.models.card import Ability
from explorer.models.catalogue import CATALOGUE
from explorer.models.suggesting import suggest_models

DISK_IS_FULL = {errno.ENOSPC, errno.EDQUOT}


def is_offline_message(name: str, purpose: Ability | None = None) -> str:
    """What to say where the operator has forbidden network access and the model is not on this machine.

    Args:
        name: The model, as the visitor knows it.
        purpose: What it is wanted for; None = what it is for.
    """
    return f"{name} needs internet, which is off here. {_choose_another(name, purpose)}"


def is_gated_message(name: str) -> str:
    """What to say about a model whose authors want an agreement first.

    Args:
        name: The model, as the visitor knows it.
    """
    return (
        f"{name} is gated: its authors give it only to people who agree to their terms. Choose another model, or have "
        f"the operator accept the terms on its page of huggingface.co and set HF_TOKEN and EXPLORER_HUB_TOKEN=1."
    )


def is_no_id_message(given: str) -> str:
    """What to say about something that cannot be the name of a Hub model.

    Args:
        given: What somebody typed, of any length.
    """
    return (
        f"{quoted(given)} is not the name of a Hub model. Such names read organisation/name, "
        f"for example google-bert/bert-base-uncased."
    )


def disk_is_full_message(name: str) -> str:
    """What to say when the files do not fit on the disk.

    Args:
        name: The model, as the visitor knows it.
    """
    return (
        f"There is not enough room on this machine's disk for {name}. Choose a smaller model, or have the operator "
        f"free some space."
    )


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn the errors of a download into messages for the visitor; they never hold an address or a path.

    Args:
        name: The model, as the visitor knows it.

    Raises:
        ModelUnavailable: Instead of any error of the Hub, of the network, or of a full disk.
    """
    try:
        yield
    except (OSError, httpx2.HTTPError, ValueError) as error:
        if isinstance(error, LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # the Hub's client wraps what kept it from reaching the Hub
        message = _explain(name, error)
        if message is None:
            raise
        raise ModelUnavailable(message) from error


def _is_no_hub_message(name: str) -> str:
    return (
        f"{name} cannot be reached: something else answers in place of its server, such as the login page of "
        f"a network. Check the network. {_choose_another(name)}"
    )


def _is_of_an_address(error: ValueError) -> bool:
    """Whether it was raised where addresses are read."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return frame.f_globals["__name__"] == "urllib.parse"


def _choose_another(name: str, purpose: Ability | None = None) -> str:
    """Name models that need no network and can do what this one is for; of a visitor's model nothing is known."""
    wanted = next(
        (card for card in CATALOGUE if name in (card.name, getattr(card.source, "id", None))), CATALOGUE[0]
    ).abilities
    purpose = purpose or next(ability for ability in Ability if ability in wanted)
    return suggest_models(lambda card: not card.needs_network and purpose in card.abilities)


def _explain(name: str, error: Exception) -> str | None:
    """The message for an error, or None for one that is nobody's download: that is a fault."""
    match error:
        case OfflineModeIsEnabled():
            return is_offline_message(name)
        case GatedRepoError():
            return is_gated_message(name)
        case RepositoryNotFoundError():
            return f"The Hub has no public model {name}. Check how it is spelled; a private one cannot be used."
        case RevisionNotFoundError():
            return f"The Hub no longer has the pinned revision of {name}; its card needs another. Choose another model."
        case RemoteEntryNotFoundError():
            return f"The Hub lacks a file that {name} needs. Choose another model."
        case HfHubHTTPError() if error.response.status_code in (401, 403):
            return is_gated_message(name)
        case HfHubHTTPError():
            status = error.response.status_code
            return f"The server of {name} answered with an error ({status}). Try again in a few minutes."
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            return f"{name} cannot be reached: check the network. {_choose_another(name)}"
        case httpx2.HTTPError():
            return (
                f"The connection was cut while {name} was downloaded. What has come is kept: "
                f"ask for it again, and the download continues where it stopped."
            )
        case FileMetadataError() | json.JSONDecodeError():
            return _is_no_hub_message(name)
        case ValueError() if _is_of_an_address(error):  # to which the server sends whoever asks
            return _is_no_hub_message(name)
        case OSError() if error.errno in DISK_IS_FULL:
            return disk_is_full_message(name)
    return None
