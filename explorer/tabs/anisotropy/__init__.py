"""Tab: how far all vectors of a model point the same way, what causes it, and what cures it."""

from explorer.tabs.anisotropy.tab import build

__all__ = ["build"]
