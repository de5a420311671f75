"""Tab: what a masked language model puts into the blanks of a sentence."""

from explorer.tabs.fill_blanks.tab import build

__all__ = ["build"]
