"""What is said of texts that a model writes: whether they are the right ones, or at least share words with them."""

from collections.abc import Mapping, Sequence

from explorer.training.tuning.answer_scores import is_exact, overlap_f1
from explorer.training.tuning.results import Judged, wrong_first
from explorer.training.tuning.task import Measured


def measure_written(asked: Sequence[str], gold: Sequence[str], written: Sequence[tuple[str, float]]) -> Measured:
    """Exact match and F1 of words, as SQuAD counts them.

    Args:
        asked: What was read; parallel to the others.
        gold: What was to be written.
        written: What was, and its probability.
    """
    judged = [
        Judged(text, right, found, probability, is_right=is_exact(found, right) if right else None)
        for text, right, (found, probability) in zip(asked, gold, written, strict=True)
    ]
    if not all(gold):  # a visitor's own texts have no right answer
        return Measured({}, (), wrong_first(judged))
    count = len(judged)
    scores = {
        "exact_match": sum(one.is_right for one in judged) / count,
        "f1": sum(overlap_f1(one.predicted, one.gold) for one in judged) / count,
    }
    return Measured(scores, (), wrong_first(judged))


def measure_written_classes(
    asked: Sequence[str], gold: Sequence[str], written: Sequence[tuple[str, float]], spelled: Mapping[str, str]
) -> Measured:
    """Accuracy by exact match, macro F1, the share of answers that are no class, and counts of the others.

    Args:
        asked: What was read; parallel to the others.
        gold: The class; "" = it is not known.
        written: What the model wrote, and its probability.
        spelled: Class as the model would write it -> class, in the order of the counts.
    """
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    predicted = [spelled.get(text, text) for text, _ in written]
    judged = [
        Judged(text, right, found, probability, is_right=found == right if right else None)
        for text, right, found, (_, probability) in zip(asked, gold, predicted, written, strict=True)
    ]
    if not all(gold):
        return Measured({}, (), wrong_first(judged))
    labels = list(spelled.values())
    present = [label for label in labels if label in gold or label in predicted]
    known = [(right, found) for right, found in zip(gold, predicted, strict=True) if found in labels]
    scores = {
        "accuracy": float(accuracy_score(gold, predicted)),
        "macro_f1": float(f1_score(gold, predicted, labels=present, average="macro", zero_division=0)),
        "unseen_answers": 1 - len(known) / len(gold),
    }
    counts = (
        confusion_matrix(*zip(*known, strict=True), labels=labels).tolist()
        if known
        else [[0] * len(labels)] * len(labels)
    )
    return Measured(scores, tuple(tuple(row) for row in counts), wrong_first(judged))
