"""Whether the files of a model are on this machine already."""

from importlib.util import find_spec

from explorer.models.card import Bundled, HubRepository, InstalledPackage, ModelCard, PublishedFiles


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
