"""A small language of our own: who makes which sound, in documents of a few paragraphs."""

import random
from pathlib import Path

SOUNDS = {
    "dog": "barks",
    "cat": "purrs",
    "duck": "quacks",
    "cow": "moos",
    "owl": "hoots",
    "frog": "croaks",
    "horse": "neighs",
    "crow": "caws",
}
PEOPLE = ("anna", "ben", "carla", "david")
PLACES = ("garden", "barn", "field", "yard")
WORDS = ("the", "in", "and", "hears", "it", "feeds", ".", *SOUNDS, *SOUNDS.values(), *PEOPLE, *PLACES)
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)


def write_corpus(path: Path, documents: int = 300, *, seed: int = 0, paragraphs: int = 2, sentences: int = 4) -> Path:
    """Documents of 8 x 13 tokens, no two with the same first paragraph."""
    choose = random.Random(seed).choice
    texts = [
        "\n".join(" ".join(_sentence(choose) for _ in range(sentences)) for _ in range(paragraphs))
        for _ in range(documents)
    ]
    path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return path


def _sentence(choose) -> str:
    animal, person = choose(list(SOUNDS)), choose(PEOPLE)
    return f"The {animal} {SOUNDS[animal]} in the {choose(PLACES)}. {person.title()} hears it and feeds the {animal}."
