"""How the bundled models were made, and how a visitor fine-tunes one; nothing is imported before it is asked for."""

from importlib import import_module

NEED_TORCH = {
    "fine_tune": "explorer.training.tuning.fine_tuning",
    "judge_texts": "explorer.training.tuning.applying",
}

__all__ = ["fine_tune", "judge_texts"]  # noqa: F822 - they come from __getattr__


def __getattr__(name: str) -> object:
    if name not in NEED_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(NEED_TORCH[name]), name)
