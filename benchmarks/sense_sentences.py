"""How far the words around a use give its sense away, for the labelled sentences that ship.

    python benchmarks/sense_sentences.py [WORD ...] [--cues] [--json]

Beside the bag of words stand two other things that a sentence shows: the form of the use, and where in the sentence it
stands (in its first, middle or last third); the guess is the sense that most sentences have that share it. Words
whose senses are verbs and nouns cannot help telling some of them by their forms.

With --cues: for every sense the words that are much more common in it than elsewhere, and the sentences that their
words give away. Rewrite those.
"""

import argparse
import json
from collections import Counter
from collections.abc import Hashable, Sequence

from measuring import print_table

from explorer.analysis.sense_sentences import (
    TOKEN,
    SenseSentence,
    guess_by_bag_of_words,
    measure_bag_of_words,
    measure_chance,
    measure_most_frequent_sense,
    read_sense_sentences,
    sense_words,
)


def measure_word(word: str) -> dict[str, object]:
    sentences = read_sense_sentences(word)
    return {
        "word": word,
        "sentences": len(sentences),
        "senses": len({entry.sense for entry in sentences}),
        "forms": len({entry.form.casefold() for entry in sentences}),
        "chance": round(measure_chance(sentences), 3),
        "most frequent sense": round(measure_most_frequent_sense(sentences), 3),
        "bag of words": round(measure_bag_of_words(sentences), 3),
        "form": round(measure_cue(sentences, [entry.form.casefold() for entry in sentences]), 3),
        "place": round(measure_cue(sentences, [3 * entry.start // len(entry.sentence) for entry in sentences]), 3),
    }


def measure_cue(sentences: Sequence[SenseSentence], cues: Sequence[Hashable]) -> float:
    """Share of sentences with the sense that most of those with the same cue have, themselves included."""
    together = Counter((cue, entry.sense) for cue, entry in zip(cues, sentences, strict=True))
    best = Counter({cue: 0 for cue in cues})
    for (cue, _), number in together.items():
        best[cue] = max(best[cue], number)
    return best.total() / len(sentences)


def print_cues(sentences: Sequence[SenseSentence]) -> None:
    guesses = guess_by_bag_of_words(sentences)
    elsewhere = Counter(token for entry in sentences for token in tokens(entry))
    for sense in dict.fromkeys(entry.sense for entry in sentences):
        mine = [(entry, guess) for entry, guess in zip(sentences, guesses, strict=True) if entry.sense == sense]
        counts = Counter(token for entry, _ in mine for token in tokens(entry))
        cues = [f"{token} {n}/{elsewhere[token]}" for token, n in counts.most_common() if n > 2 * elsewhere[token] / 5]
        given_away = [entry for entry, guess in mine if guess == sense]
        print(f"\n{sense}: {len(given_away)} of {len(mine)} given away")
        print("  cues: " + ", ".join(cue for cue in cues if not cue.endswith(("1/1", "1/2"))))
        for entry in given_away:
            print(f"  {entry.sentence}")


def tokens(entry: SenseSentence) -> set[str]:
    around = f"{entry.sentence[: entry.start]} {entry.sentence[entry.end :]}"
    return {token.casefold() for token in TOKEN.findall(around)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="all, if none is given")
    parser.add_argument("--cues", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    words = given.words or list(sense_words())
    rows = [measure_word(word) for word in words]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print_table("Senses by bag of words", list(rows[0]), [list(row.values()) for row in rows])
    for word in words if given.cues else ():
        print(f"\n{word}")
        print_cues(read_sense_sentences(word))


if __name__ == "__main__":
    main()
