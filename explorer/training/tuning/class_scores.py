"""What is said of any classifier: its scores, its baselines, and a linear one fitted to vectors."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from explorer.analysis.word_bags import TOKEN
from explorer.errors import UnsuitableCorpus, quoted
from explorer.training.tuning.examples import LabelledText
from explorer.training.tuning.results import Judged, wrong_first
from explorer.training.tuning.task import Measured

MOST_BASELINE_EXAMPLES = 20_000  # a bag of words is fitted to no more
REGULARISATIONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # C of scikit-learn's LogisticRegression; the best is taken
FOLDS = 3  # of the cross-validation that tells which
LEAST_SPREAD = 1e-3  # of the median: some networks have dimensions that never change
SMALL_SET_REGULARISATION = 0.01  # where a class has fewer examples than folds
BAG_OF_WORDS = "logistic regression on words"
MOST_FREQUENT = "most frequent class"


def find_labels(train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> tuple[str, ...]:
    """The classes, in alphabetical order.

    Raises:
        UnsuitableCorpus: There are fewer than two to learn.
    """
    counts = Counter(example.label for example in train)
    if len(counts) < 2:
        only = f"All examples to learn from are {quoted(next(iter(counts)))}" if counts else "There are no examples"
        raise UnsuitableCorpus(f"{only}: add examples of at least one other class.")
    return tuple(sorted(counts | Counter(example.label for example in held_out)))


def target_of(example: LabelledText, labels: tuple[str, ...]) -> int:
    """Index of its class; -1 = it has none, as a visitor's own sentence."""
    return labels.index(example.label) if example.label in labels else -1


def measure_classes(
    examples: Sequence[LabelledText], probabilities: Sequence[Float[np.ndarray, " label"]], labels: tuple[str, ...]
) -> Measured:
    """Accuracy, macro F1, counts, and every judgement.

    Args:
        examples: What was judged.
        probabilities: Of each class; parallel to examples.
        labels: Parallel to the probabilities.
    """
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    table = np.stack(list(probabilities))
    predicted = table.argmax(axis=1)
    judged = [
        Judged(
            text=" — ".join(part for part in (example.text, example.second_text) if part),
            gold=example.label,
            predicted=labels[best],
            probability=float(row[best]),
            probabilities=tuple(float(value) for value in row),
            is_right=labels[best] == example.label if example.label else None,
        )
        for example, row, best in zip(examples, table, predicted, strict=True)
    ]
    gold = [target_of(example, labels) for example in examples]
    if min(gold) < 0:  # a visitor's own sentences have no right answer
        return Measured({}, (), wrong_first(judged))
    numbers = list(range(len(labels)))
    present = sorted(set(gold) | set(predicted.tolist()))
    scores = {
        "accuracy": float(accuracy_score(gold, predicted)),
        "macro_f1": float(f1_score(gold, predicted, labels=present, average="macro", zero_division=0)),
    }
    confusion = tuple(tuple(row) for row in confusion_matrix(gold, predicted, labels=numbers).tolist())
    return Measured(scores, confusion, wrong_first(judged))


def class_baselines(train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> dict[str, float]:
    """Accuracy without any model: always the most frequent class; logistic regression on words and pairs of words.

    A mark, such as the full stop behind a word, is a word of its own.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    frequent = Counter(example.label for example in train).most_common(1)[0][0]
    baselines = {MOST_FREQUENT: sum(example.label == frequent for example in held_out) / len(held_out)}
    some = train[:MOST_BASELINE_EXAMPLES]
    labels = [example.label for example in some]
    if len(set(labels)) > 1:
        words = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), token_pattern=TOKEN.pattern), LogisticRegression(C=10.0, max_iter=1000)
        )
        words.fit([_bag(example) for example in some], labels)
        baselines[BAG_OF_WORDS] = float(
            words.score([_bag(example) for example in held_out], [example.label for example in held_out])
        )
    return baselines


def class_remarks(train: Sequence[LabelledText], held_out: Sequence[LabelledText]) -> list[str]:
    """Classes that are in one part only."""
    learnt, measured = ({example.label for example in part} for part in (train, held_out))
    return one_sided(learnt, measured, "No held-out example of", "No example to learn from of")


def one_sided(learnt: set[str], measured: set[str], not_measured: str, not_learnt: str) -> list[str]:
    """What to say of labels that are in one part only.

    Args:
        learnt: Labels of the examples to learn from.
        measured: Of those held out.
        not_measured: Words before the labels that are not held out.
        not_learnt: Words before those that are not learnt.
    """
    missing = ((not_measured, sorted(learnt - measured)), (not_learnt, sorted(measured - learnt)))
    return [f"{words}: {', '.join(labels)}." for words, labels in missing if labels]


def fit_linear(
    vectors: Float[np.ndarray, "row dim"], targets: Int[np.ndarray, " row"], labels: int, seed: int
) -> tuple[Float[np.ndarray, "label dim"], Float[np.ndarray, " label"]]:
    """Logistic regression, as smooth as cross-validation wants it, as a linear layer over the vectors as they are.

    Args:
        vectors: What the frozen network says of each example.
        targets: Index of each one's class.
        labels: How many classes; one without an example is never chosen.
        seed: Of the folds.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    mean, spread = vectors.mean(axis=0, dtype=np.float64), vectors.std(axis=0, dtype=np.float64)
    spread = np.maximum(spread, LEAST_SPREAD * max(float(np.median(spread)), 1e-9))
    standard = (vectors - mean) / spread
    fitted = LogisticRegression(C=SMALL_SET_REGULARISATION, max_iter=1000, tol=1e-3)
    if min(np.unique(targets, return_counts=True)[1]) >= FOLDS:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        search = GridSearchCV(fitted, {"C": REGULARISATIONS}, scoring="neg_log_loss", cv=folds, refit=False)
        fitted.set_params(**search.fit(standard, targets).best_params_)
    fitted.fit(standard, targets)
    weight, bias = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:  # scikit-learn keeps one row of two classes; softmax wants both
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    weight = weight / spread
    bias = bias - weight @ mean
    whole = np.zeros((labels, vectors.shape[1]), dtype=np.float32)
    shifts = np.full(labels, -1e4, dtype=np.float32)
    whole[fitted.classes_], shifts[fitted.classes_] = weight, bias
    return whole, shifts


def _bag(example: LabelledText) -> str:
    return f"{example.text} {example.second_text}".lower()
