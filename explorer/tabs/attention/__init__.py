"""Tab: which tokens a model looks at, head by head, and what a head is for."""

from explorer.tabs.attention.tab import build

__all__ = ["build"]
