"""The pairs of sentences and of words that come with the explorer, written and scored for it. Free of torch."""

from functools import cache

from explorer.analysis.pair_files import read_pairs
from explorer.analysis.pair_results import PairSet
from explorer.settings import ASSETS

FOLDER = ASSETS / "pairs"
SHIPPED_PAIRS = {  # file -> what it is called
    "sentences": "The explorer's own sentence pairs",
    "words": "The explorer's own word pairs",
}


@cache
def read_shipped_pairs(key: str) -> PairSet:
    """Pairs with the scores that their author gave them, and what each is about.

    Args:
        key: Of SHIPPED_PAIRS.
    """
    lines = (FOLDER / f"{key}.tsv").read_text(encoding="utf-8").splitlines()
    return PairSet(SHIPPED_PAIRS[key], read_pairs(lines), tuple(line.split("\t")[0] for line in lines[1:]))
