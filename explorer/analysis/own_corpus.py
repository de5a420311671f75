"""The corpus that is measured where a visitor gives none: all sentences that come with the explorer."""

from functools import cache

from explorer.analysis.sense_sentences import read_sense_sentences, sense_words
from explorer.analysis.treebank import read_own_sentences

OWN_CORPUS = "The explorer's own sentences (uses of 12 ambiguous words, and a small treebank)"


@cache
def read_own_corpus() -> tuple[str, ...]:
    """Sentences written for this project, each once: those that are labelled with senses, then those with a grammar."""
    labelled = [entry.sentence for word in sense_words() for entry in read_sense_sentences(word)]
    return tuple(dict.fromkeys([*labelled, *(one.text for one in read_own_sentences())]))
