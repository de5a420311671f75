"""What to compute. Each analysis takes a loaded model and returns a frozen result.

Analyses need torch, and the page must be there before torch is: names are imported when first used.
"""

import sys
from importlib import import_module
from types import ModuleType

ANALYSES = {
    "fill_blanks": "explorer.analysis.fill_blanks",
    "fill_blanks_batch": "explorer.analysis.fill_blanks",
    "reveal_blanks": "explorer.analysis.reveal_blanks",
    "rank_candidates": "explorer.analysis.rank_candidates",
    "contrast_texts": "explorer.analysis.contrast_texts",
    "tokenize_text": "explorer.analysis.tokenize_text",
}


def __getattr__(name: str) -> object:
    if name not in ANALYSES:
        raise AttributeError(f"there is no analysis {name!r}; choose one of: {', '.join(ANALYSES)}")
    return getattr(import_module(ANALYSES[name]), name)


class _Package(ModuleType):
    """Importing analysis/fill_blanks.py would put that module in the place of the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in ANALYSES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
