"""Real sentences to measure on: those of the evaluation data, or the labelled ones that ship where there are none."""

import gzip
import json
import os
import random
from pathlib import Path

from explorer.analysis.sense_sentences import read_sense_sentences, sense_words

ROOT = Path(__file__).parents[1]
EVAL = Path(os.environ.get("EXPLORER_EVAL_DATA", ROOT / "../shared/eval"))
TEXT = "# text = "
SEMCOR = EVAL / "semcor_dev.jsonl.gz"


def read_semcor() -> list[dict]:
    """Uses of words with their senses: lemma, pos, sense, index, words; none where the data is not at hand."""
    if not SEMCOR.is_file():
        return []
    with gzip.open(SEMCOR, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read_treebank_sentences() -> list[str]:
    """The different sentences of UD English EWT, in their order; none where the data is not at hand."""
    path = EVAL / "ud_ewt_dev.conllu.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return list(dict.fromkeys(line[len(TEXT) :].strip() for line in lines if line.startswith(TEXT)))


def read_sentences(count: int) -> list[str]:
    """Different sentences in random order; longer ones are made of two where there are not enough.

    Args:
        count: How many.
    """
    found = [" ".join(use["words"]).replace("_", " ") for use in read_semcor()]
    found += read_treebank_sentences()
    for name in ("sentence_polarity.tsv", "questions.tsv"):
        path = EVAL / "classification" / name
        if path.is_file():
            found += [line.partition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    if not found:
        found = [entry.sentence for word in sense_words() for entry in read_sense_sentences(word)]
    sentences = list(
        dict.fromkeys(sentence for sentence in found if len(sentence.split()) > 3 and sentence.isprintable())
    )
    draw = random.Random(0)
    draw.shuffle(sentences)
    pool = len(sentences)
    seen = set(sentences)
    while len(sentences) < count:
        both = f"{sentences[draw.randrange(pool)]} {sentences[draw.randrange(pool)]}"
        if both not in seen:
            seen.add(both)
            sentences.append(both)
    return sentences[:count]
