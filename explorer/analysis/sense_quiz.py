"""A quiz made from labelled sentences: which of these uses means the same as the one in sentence 1?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from explorer.analysis.blanks import check_option
from explorer.analysis.labelled_uses import LabelledUses, pick_uses
from explorer.analysis.neighbours import find_neighbours, prepare_points
from explorer.analysis.word_bags import TOKEN, compare_bags, weigh_words
from explorer.errors import UnsuitableText

CHOICES = 4
LEAST_CHOICES = 2
MOST_SEED = 2**32 - 1
TRIES = 24  # uses that are looked at for the one that means the same
SAME = 1e-6  # cosines that differ by less are the same
TIED = 1e-4  # of a model's two best: less is what rounding makes of the same vector
RARE_SHARE = 0.06  # a word that more of the sentences have says nothing about what a sentence is about
BAG, AROUND = "bag of words", "the words around the use, weighed by rarity"  # who answers, and by what
RARE_COUNT = 2  # but so many may have it however few sentences there are


@dataclass(frozen=True)
class SenseQuestion:
    """One use, and some to choose from: exactly one of them has its sense.

    Attributes:
        query: Which use sentence 1 is about.
        choices: Which uses there are to choose from.
        right: Which of the choices has the sense of the query, counted from 0.
        decoy: Which of the choices shares most words with sentence 1, and means something else; None = none shares any.
        shared: Words that the decoy shares with sentence 1, besides the word itself; in their order there.
        seed: It was made with.
    """

    query: int
    choices: tuple[int, ...]
    right: int
    decoy: int | None
    shared: tuple[str, ...]
    seed: int


@dataclass(frozen=True)
class QuizAnswer:
    """What vectors say to a question.

    Attributes:
        model: Whose they are.
        vector: Which of each use, in words.
        seed: Of the question.
        query: Sentence 1.
        sentences: To choose from.
        cosines: Of each to sentence 1, in [-1, 1].
        choice: The one at the highest cosine, the first of those; counted from 0.
        right: The one that has the sense of sentence 1.
        same: Whether all are equally near, so that the vectors say nothing.
        tied: Those within 1e-4 of the highest cosine where there are several, counted from 0; () = one stands out.
    """

    model: str
    vector: str
    seed: int
    query: str
    sentences: tuple[str, ...]
    cosines: tuple[float, ...]
    choice: int
    right: int
    same: bool
    tied: tuple[int, ...] = ()


def make_question(uses: LabelledUses, *, seed: int = 0) -> SenseQuestion:
    """Make a question; the answer key is the sense that a person gave each sentence.

    Where there are enough uses, all choices have the form that the query has, so that "plays" is not told from "played"
    by its ending, and come from different senses. One choice is a decoy: of the uses of other senses it shares the
    rarest words with sentence 1.

    Args:
        uses: Labelled with two senses or more, one of which has two uses or more; unlabelled ones are left out.
        seed: 0 or more; the same question for the same seed and uses.

    Raises:
        UnsuitableText: The seed is none, or there are too few labelled uses.
    """
    check_option("seed", seed, MOST_SEED, least=0)
    random = np.random.default_rng(seed)
    labelled = [number for number, sense in enumerate(uses.senses) if sense]
    counts = Counter(uses.senses[number] for number in labelled)
    askable = [sense for sense, count in counts.items() if count > 1]
    if not askable or len(counts) < LEAST_CHOICES:
        raise UnsuitableText(
            "A quiz needs sentences labelled with two senses at least, one of them with two sentences or more. Write a "
            "sense and | before each sentence."
        )
    bags = [_words_beside(uses, number) for number in range(len(uses.sentences))]
    held_by = Counter(word for number in labelled for word in bags[number])
    most = max(RARE_COUNT, RARE_SHARE * len(labelled))
    rarity = {word: math.log(len(labelled) / count) for word, count in held_by.items() if count <= most}

    def shared_rarity(one: int, other: int) -> float:
        return math.fsum(rarity.get(word, 0.0) for word in bags[one].keys() & bags[other].keys())

    sense = askable[random.integers(len(askable))]
    query = int(random.choice([number for number in labelled if uses.senses[number] == sense]))
    others = _shuffled(
        [number for number in labelled if uses.sentences[number] != uses.sentences[query]], random
    )  # the same sentence twice would give itself away
    alike = [number for number in others if uses.senses[number] == sense]
    wrong = [number for number in others if uses.senses[number] != sense]
    if not alike or not wrong:
        raise UnsuitableText("A quiz needs different sentences of one sense, and one of another. Give more.")
    form = _form(uses, query)
    same_form = [number for number in alike if _form(uses, number) == form][:TRIES] or alike[:TRIES]
    right = min(same_form, key=lambda number: shared_rarity(query, number))  # words alone must not tell
    alike_decoys = [number for number in wrong if _form(uses, number) == form and shared_rarity(query, number) > 0]
    decoy = max(alike_decoys or wrong, key=lambda number: shared_rarity(query, number))
    has_decoy = shared_rarity(query, decoy) > 0
    chosen = [decoy] if has_decoy else []
    while len(chosen) < CHOICES - 1 and len(chosen) < len(wrong):
        taken = Counter(uses.senses[number] for number in chosen)
        left = [number for number in wrong if number not in chosen]
        chosen.append(min(left, key=lambda number: (taken[uses.senses[number]], _form(uses, number) != form)))
    choices = _shuffled([right, *chosen], random)
    shared = tuple(word for word in bags[query] if word in bags[decoy] and word in rarity) if has_decoy else ()
    return SenseQuestion(
        query, tuple(choices), choices.index(right), choices.index(decoy) if has_decoy else None, shared, seed
    )


def question_uses(question: SenseQuestion, uses: LabelledUses) -> LabelledUses:
    """The uses of a question alone, the query first.

    Args:
        question: Of make_question.
        uses: It was made from.
    """
    return pick_uses(uses, (question.query, *question.choices))


def question_forms(question: SenseQuestion, uses: LabelledUses) -> LabelledUses:
    """The same without their sentences, in lower case: all that static vectors see of them.

    Args:
        question: Of make_question.
        uses: It was made from.
    """
    forms = tuple(_form(uses, number) for number in (question.query, *question.choices))
    return LabelledUses(forms, tuple((0, len(form)) for form in forms), ("",) * len(forms))


def answer_question(
    question: SenseQuestion, asked: LabelledUses, vectors: Float[np.ndarray, "point dim"], *, model: str, vector: str
) -> QuizAnswer:
    """Answer a question by vectors alone: the choice at the highest cosine to the query.

    Args:
        question: Of make_question.
        asked: Its uses: question_uses.
        vectors: One of each, the query's first.
        model: Whose they are.
        vector: In words, which vectors these are: vectors.describe_vectors.
    """
    near = find_neighbours(vectors[0], prepare_points(vectors[1:]), k=len(question.choices))
    cosines = np.empty(len(question.choices))
    cosines[near.indices[0]] = near.cosines[0]
    return _answer(question, asked, cosines, int(near.indices[0, 0]), model, vector)


def answer_by_words(question: SenseQuestion, uses: LabelledUses) -> QuizAnswer:
    """Answer a question without a model: the choice whose other words are nearest to those of the query.

    The baseline of the quiz. Questions are made so that it is mostly wrong: of the uses that would be right, the one
    is asked for that shares least with sentence 1, and a decoy shares most.

    Args:
        question: Of make_question.
        uses: It was made from; how rare a word is, is counted in all of them.
    """
    cosines = compare_bags(weigh_words(uses.sentences, uses.positions), question.query)[list(question.choices)]
    return _answer(question, question_uses(question, uses), cosines, int(cosines.argmax()), BAG, AROUND)


def has_point(answer: QuizAnswer) -> bool:
    """Whether an answer is right and alone: of a tie, or where all are equally near, there is none."""
    return answer.choice == answer.right and not answer.same and not answer.tied


def _answer(
    question: SenseQuestion,
    asked: LabelledUses,
    cosines: Float[np.ndarray, " choice"],
    choice: int,
    model: str,
    vector: str,
) -> QuizAnswer:
    best = tuple(np.flatnonzero(cosines > cosines.max() - TIED).tolist())
    return QuizAnswer(
        model,
        vector,
        question.seed,
        asked.sentences[0],
        asked.sentences[1:],
        tuple(cosines.tolist()),
        choice,
        question.right,
        bool(np.ptp(cosines) < SAME),
        best if len(best) > 1 else (),
    )


def _form(uses: LabelledUses, number: int) -> str:
    start, end = uses.positions[number]
    return uses.sentences[number][start:end].lower()


def _words_beside(uses: LabelledUses, number: int) -> dict[str, None]:
    """The words of a sentence without the use, each once, in their order."""
    sentence, (start, end) = uses.sentences[number], uses.positions[number]
    words = TOKEN.findall(f"{sentence[:start]} {sentence[end:]}")
    return dict.fromkeys(word.casefold() for word in words if word[0].isalnum())


def _shuffled(numbers: Sequence[int], random: np.random.Generator) -> list[int]:
    return [int(number) for number in random.permutation(numbers)] if numbers else []
