"""How well answers agree with the right ones, as SQuAD counts it."""

import re
import string
from collections import Counter
from collections.abc import Sequence

from explorer.training.tuning.answer_windows import place_of_answer
from explorer.training.tuning.examples import AnsweredQuestion
from explorer.training.tuning.results import Judged, wrong_first
from explorer.training.tuning.task import Measured

NEAREST_SENTENCE = "the sentence most like the question"
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """An answer without case, punctuation, articles and surplus spaces.

    Args:
        text: Any answer.

    Source: Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def is_exact(predicted: str, gold: str) -> bool:
    """Whether two answers are the same but for what normalise_answer takes away."""
    return normalise_answer(predicted) == normalise_answer(gold)


def overlap_f1(predicted: str, gold: str) -> float:
    """Harmonic mean of precision and recall of an answer's words, in [0, 1]; 1 if both are empty.

    Args:
        predicted: The model's answer.
        gold: The right one.

    Source: Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250
    """
    found, wanted = normalise_answer(predicted).split(), normalise_answer(gold).split()
    if not found or not wanted:
        return float(found == wanted)
    shared = sum((Counter(found) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(found), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def measure_answers(examples: Sequence[AnsweredQuestion], found: Sequence[tuple[tuple[int, int], float]]) -> Measured:
    """F1 and exact match, and every question.

    Args:
        examples: What was asked.
        found: Where in the passage the answer was found, and its probability; parallel to examples.
    """
    judged, exact, overlap = [], [], []
    for example, ((start, end), probability) in zip(examples, found, strict=True):
        answer = example.passage[start:end].strip()
        exact.append(is_exact(answer, example.answer))
        asked, is_right = f"{example.question} — {example.passage}", exact[-1] if example.answer else None
        judged.append(Judged(asked, example.answer, answer, probability, is_right=is_right))
        overlap.append(overlap_f1(answer, example.answer))
    if not all(example.answer for example in examples):  # a visitor's own questions have no right answer
        return Measured({}, (), wrong_first(judged))
    scores = {"f1": sum(overlap) / len(overlap), "exact_match": sum(exact) / len(exact)}
    return Measured(scores, (), wrong_first(judged))


def answer_baselines(held_out: Sequence[AnsweredQuestion]) -> dict[str, float]:
    """F1 without any model: the sentence of the passage that shares most words with the question."""
    scores = []
    for example in held_out:
        asked = set(normalise_answer(example.question).split())
        sentences = re.split(r"(?<=[.!?])\s+", example.passage)
        nearest = max(sentences, key=lambda sentence: len(asked & set(normalise_answer(sentence).split())))
        scores.append(overlap_f1(nearest, example.answer))
    return {NEAREST_SENTENCE: sum(scores) / len(scores)}


def answer_remarks(examples: Sequence[AnsweredQuestion]) -> list[str]:
    """Answers that do not stand in their passages."""
    missing = sum(place_of_answer(example) is None for example in examples)
    if not missing:
        return []
    which = "One answer does" if missing == 1 else f"{missing:,} answers do"
    return [f"{which} not stand word for word in the passage: nothing is learned from such questions."]
