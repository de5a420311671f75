"""Tab: fine-tune a model on labelled examples, and see what changed."""

from explorer.tabs.fine_tune.tab import build

__all__ = ["build"]
