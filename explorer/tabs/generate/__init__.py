"""Tab: how a model writes on, token by token, and what it might have written instead."""

from explorer.tabs.generate.tab import build

__all__ = ["build"]
