"""What the tests of loading share: a vocabulary of fifteen tokens, a network for it, and a card."""

import os
from dataclasses import replace
from pathlib import Path

from explorer.models.card import Ability, LocalFolder, ModelCard

EVAL = Path(os.environ.get("EXPLORER_EVAL_DATA", Path(__file__).parents[2] / "../shared/eval"))
VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog king queen sat on mat and".split()


def tiny_bert(config_class):
    """A configuration of two layers, 32 wide, over VOCABULARY."""
    return config_class(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )


def make_card(folder: Path | None = None, **changes) -> ModelCard:
    """A card of a small BERT in a folder, or of what the changes say."""
    card = ModelCard(
        name="Small BERT",
        source=LocalFolder(str(folder)),
        model_type="bert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="",
        licence="Apache-2.0",
        paper="",
        paper_url="",
    )
    return replace(card, **changes)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder, as a Repository of the server holds them."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
