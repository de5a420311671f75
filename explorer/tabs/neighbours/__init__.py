"""Tab: which uses of a word a model puts near each other, and whether they mean the same."""

from explorer.tabs.neighbours.tab import build

__all__ = ["build"]
