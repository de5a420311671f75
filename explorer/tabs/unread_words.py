"""What a model did not read of what a visitor typed: words that its vocabulary lacks, and what is beyond its length."""

from collections.abc import Sequence
from functools import partial

from explorer import analysis
from explorer.figures.notes import note, unread_note
from explorer.models.registry import Registry


def told_unread(models: Registry, name: str, *texts: str, most: int = 0, is_named: bool = False) -> str:
    """A note on tokens that the model does not know, and on those behind the last that is read; "" = it reads all.

    Args:
        models: Where models run.
        name: Of the model.
        texts: As they were typed.
        most: Tokens that are read of them; 0 = all.
        is_named: Whether the note names the model: of several.

    Raises:
        ExplorerError: The model cannot be had, or a text cannot be cut into tokens.
    """
    pieces = [piece for text in texts for piece in models.run(name, partial(analysis.tokenize_text, text=text)).pieces]
    unknown = sum(piece.is_unknown for piece in pieces)
    which = {"model": name} if is_named else {}
    told = unread_note(unknown, len(pieces), **which) if unknown else ""
    if 0 < most < len(pieces):
        told += note(f"Only the first {most:,} of the {len(pieces):,} tokens are read, as in training.")
    return told


def told_unread_by(models: Registry, names: Sequence[str], text: str) -> str:
    """The same of each of several models that read a text, by name; of one alone, or of one twice, without."""
    others = list(dict.fromkeys(names))
    return "".join(told_unread(models, name, text, is_named=len(others) > 1) for name in others)
