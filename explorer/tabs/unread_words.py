"""What a model did not read of what a visitor typed: words that its vocabulary lacks, and what is beyond its length."""

from functools import partial

from explorer import analysis
from explorer.figures.notes import note, unread_note
from explorer.models.registry import Registry


def told_unread(models: Registry, name: str, *texts: str, most: int = 0) -> str:
    """A note on tokens that the model does not know, and on those behind the last that is read; "" = it reads all.

    Args:
        models: Where models run.
        name: Of the model.
        texts: As they were typed.
        most: Tokens that are read of them; 0 = all.

    Raises:
        ExplorerError: The model cannot be had, or a text cannot be cut into tokens.
    """
    pieces = [piece for text in texts for piece in models.run(name, partial(analysis.tokenize_text, text=text)).pieces]
    unknown = sum(piece.is_unknown for piece in pieces)
    told = unread_note(unknown, len(pieces)) if unknown else ""
    if 0 < most < len(pieces):
        told += note(f"Only the first {most:,} of the {len(pieces):,} tokens are read, as in training.")
    return told
