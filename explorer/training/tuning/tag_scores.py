"""What is said of any tagger: phrases found, as seqeval counts them, and every judgement."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from explorer.errors import UnsuitableCorpus, quoted
from explorer.training.tuning.class_scores import one_sided
from explorer.training.tuning.examples import TaggedWords
from explorer.training.tuning.results import Judged, wrong_first
from explorer.training.tuning.task import Measured

OUTSIDE = "O"
UNSEEN = -1  # in the place of a tag's index: the word has no tag that is known
NOTHING = "no phrase"
MEMORY = "each word's most frequent tag"

WordProbabilities = Sequence[Float[np.ndarray, " label"] | None]  # None = the word was cut off


def find_tags(train: Sequence[TaggedWords], held_out: Sequence[TaggedWords]) -> tuple[str, ...]:
    """The tags: O first, then by what they are of.

    Raises:
        UnsuitableCorpus: There are fewer than two to learn.
    """
    tags = {tag for example in train for tag in example.tags}
    if len(tags) < 2:
        only = f"All words to learn from are tagged {quoted(next(iter(tags)))}" if tags else "No word is tagged"
        raise UnsuitableCorpus(f"{only}: tag some phrases, as B-NAME for their first word and I-NAME for the others.")
    tags |= {tag for example in held_out for tag in example.tags}
    return tuple(sorted(tags, key=lambda tag: (tag != OUTSIDE, tag[2:], tag)))


def measure_tags(
    examples: Sequence[TaggedWords], probabilities: Sequence[WordProbabilities], labels: tuple[str, ...]
) -> Measured:
    """F1, precision and recall of phrases, accuracy of words, counts of words, and every sentence.

    Args:
        examples: What was judged.
        probabilities: Of each tag, for each word; parallel to examples. A word that was cut off counts as outside.
        labels: Parallel to the probabilities.

    Source: seqeval, https://github.com/chakki-works/seqeval
    """
    from seqeval.metrics import f1_score, precision_score, recall_score
    from sklearn.metrics import accuracy_score, confusion_matrix

    predicted = [
        [OUTSIDE if one is None else labels[int(one.argmax())] for one in sentence] for sentence in probabilities
    ]
    judged = []
    for example, tags, sentence in zip(examples, predicted, probabilities, strict=True):
        sure = [float(one.max()) for one in sentence if one is not None]
        judged.append(
            Judged(
                text=" ".join(example.words),
                gold=show_phrases(example.words, example.tags),
                predicted=show_phrases(example.words, tags),
                probability=float(np.mean(sure)) if sure else 0.0,
                is_right=_phrases(example.tags) == _phrases(tags) if example.tags else None,
            )
        )
    gold = [list(example.tags) for example in examples]
    if not all(gold):  # a visitor's own sentences have no right answer
        return Measured({}, (), wrong_first(judged))
    flat_gold, flat = [tag for tags in gold for tag in tags], [tag for tags in predicted for tag in tags]
    scores = {
        "f1": float(f1_score(gold, predicted, zero_division=0)),
        "precision": float(precision_score(gold, predicted, zero_division=0)),
        "recall": float(recall_score(gold, predicted, zero_division=0)),
        "accuracy": float(accuracy_score(flat_gold, flat)),
    }
    known = [*labels, OUTSIDE] if OUTSIDE not in labels else list(labels)
    counts = confusion_matrix(flat_gold, flat, labels=known)[: len(labels), : len(labels)]
    return Measured(scores, tuple(tuple(row) for row in counts.tolist()), wrong_first(judged))


def show_phrases(words: Sequence[str], tags: Sequence[str]) -> str:
    """The phrases of a sentence as a person reads them: "Ada Lovelace (PER), London (LOC)".

    Args:
        words: Of the sentence.
        tags: Parallel to words; () = they are not known.
    """
    if not tags:
        return ""
    found = [f"{' '.join(words[start : end + 1])} ({kind})" for kind, start, end in _phrases(tags)]
    return ", ".join(found) or NOTHING


def _phrases(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """What each is of, its first word and its last, as F1 counts them: a phrase may begin with I-."""
    from seqeval.metrics.sequence_labeling import get_entities

    return get_entities(list(tags))


def tag_baselines(train: Sequence[TaggedWords], held_out: Sequence[TaggedWords]) -> dict[str, float]:
    """F1 without any model: each word gets the tag that it has most often, a new word none."""
    from seqeval.metrics import f1_score

    seen: dict[str, Counter] = defaultdict(Counter)
    for example in train:
        for word, tag in zip(example.words, example.tags, strict=True):
            seen[word][tag] += 1
    guessed = [
        [seen[word].most_common(1)[0][0] if word in seen else OUTSIDE for word in example.words] for example in held_out
    ]
    return {MEMORY: float(f1_score([list(example.tags) for example in held_out], guessed, zero_division=0))}


def tag_remarks(train: Sequence[TaggedWords], held_out: Sequence[TaggedWords]) -> list[str]:
    """Tags that are in one part only."""
    learnt, measured = ({tag for example in part for tag in example.tags} for part in (train, held_out))
    return one_sided(learnt, measured, "No held-out word is tagged", "No word to learn from is tagged")
