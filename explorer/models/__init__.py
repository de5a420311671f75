"""What models exist, and how to send an analysis to one.

Models need torch, and the page must be there before torch is: places where models run are imported when first used.
"""

from importlib import import_module

from explorer.models.backend import Backend, LoadedModel
from explorer.models.card import (
    Ability,
    Bundled,
    HubRepository,
    InstalledPackage,
    LocalFolder,
    ModelCard,
    PublishedFile,
    PublishedFiles,
)
from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.models.status import Budget, ModelStatus

NEED_TORCH = {
    "LocalBackend": "explorer.models.local",
    "RayServeBackend": "explorer.models.ray_serve",
    "Row": "explorer.models.batching",
    "load_model": "explorer.models.loading",
    "masked_logits": "explorer.models.batching",
}

__all__ = [  # noqa: F822 - the names of NEED_TORCH come from __getattr__
    "CATALOGUE",
    "Ability",
    "Backend",
    "Budget",
    "Bundled",
    "HubRepository",
    "InstalledPackage",
    "LoadedModel",
    "LocalBackend",
    "LocalFolder",
    "ModelCard",
    "ModelStatus",
    "PublishedFile",
    "PublishedFiles",
    "RayServeBackend",
    "Registry",
    "Row",
    "load_model",
    "masked_logits",
]


def __getattr__(name: str) -> object:
    if name not in NEED_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(NEED_TORCH[name]), name)
