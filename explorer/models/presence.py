"""Whether the files of a model are on this machine already."""

from importlib.util import find_spec

from explorer.errors import ModelUnavailable
from explorer.models.card import Ability, Bundled, HubRepository, InstalledPackage, ModelCard, PublishedFiles


def is_here(card: ModelCard) -> bool:
    """Whether the model can be loaded without the network, as far as can be told without loading it."""
    if isinstance(card.source, PublishedFiles):
        from explorer.models.folders import published_folder

        return all((published_folder(card.source) / file.name).exists() for file in card.source.files)
    if isinstance(card.source, HubRepository):
        from explorer.models.hub import find_cached

        return find_cached(card.source, card.weights_format) is not None
    package = card.source.base if isinstance(card.source, Bundled) else card.source
    return not isinstance(package, InstalledPackage) or find_spec(package.module) is not None


def is_offline() -> bool:
    """Whether the operator has forbidden the way to the Hub."""
    from huggingface_hub import constants

    return constants.is_offline_mode()


def check_can_be_had(card: ModelCard, purpose: Ability | None = None) -> None:
    """Refuse, before anything else is done, a model that is to come from the internet while the explorer is offline.

    Args:
        card: Of the model.
        purpose: What it is wanted for: the message names others that can do it; None = what it is for.

    Raises:
        ModelUnavailable: That is so.
    """
    from explorer.models.hub_errors import is_offline_message

    if is_offline() and not is_here(card):
        raise ModelUnavailable(is_offline_message(card.name, purpose))
