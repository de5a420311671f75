"""The quiz as a sheet: sentence 1, choices to press, and, once guessed, what the model says. HTML, all escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.sense_quiz import SAME, QuizAnswer, SenseQuestion, has_point
from explorer.figures.sense_marks import SenseMark, mark_senses, sense_label
from explorer.figures.style import decimals
from explorer.figures.use_marks import cosine_bar, use_sentence

LETTERS = "ABCD"
MOST_DIGITS = 6  # what is the same to SAME is told apart by no more
KEY_NOTE = "The answer key is the label that a person gave each sentence; the model knows no labels, and may be wrong."


@dataclass(frozen=True)
class Round:
    """A question that was answered.

    Attributes:
        key: Of the question: question_key.
        visitor: Whether the visitor was right.
        model: Whether the model that was chosen then was right.
        words: Whether a bag of words was.
        choices: How many there were.
    """

    key: str
    visitor: bool
    model: bool
    words: bool
    choices: int


def question_key(word: str, question: SenseQuestion) -> str:
    """What tells a question from all others on the page."""
    return f"{word}/{question.seed}/{question.query}/{'.'.join(map(str, question.choices))}"


def question_sheet(word: str, question: SenseQuestion, uses: LabelledUses) -> str:
    """A question with its choices as buttons.

    Args:
        word: As the visitor typed it.
        question: Of sense_quiz.make_question.
        uses: It was made from.
    """
    key = question_key(word, question)
    rows = "".join(
        f"<li><button type='button' class='quiz-choice' data-guess='{escape(key)}:{place}'>"
        f"<span class='letter'>{LETTERS[place]}</span>{_sentence(uses, number)}</button></li>"
        for place, number in enumerate(question.choices)
    )
    ask = f"Which of these is nearest to sentence 1: in which does {_word(uses, question)} mean the same?"
    return f"{_query(uses, question)}<p class='quiz-ask'>{ask}</p><ol class='quiz'>{rows}</ol>"


def answer_sheet(
    question: SenseQuestion,
    uses: LabelledUses,
    guess: int,
    answer: QuizAnswer,
    static: QuizAnswer,
    words: QuizAnswer,
) -> str:
    """The same once the visitor has guessed: senses, both cosines of each choice, and a verdict.

    Args:
        question: Of sense_quiz.make_question.
        uses: It was made from.
        guess: The visitor's choice.
        answer: Of the model, in context.
        static: Of the same model, by the word alone.
        words: Of a bag of words.
    """
    marks = mark_senses(uses.senses)
    rows = "".join(_row(question, uses, marks, place, guess, answer, static) for place in range(len(question.choices)))
    legend = (
        "<p class='quiz-legend'><span><span class='cosine'><i style='--c:1'></i></span> "
        f"{escape(answer.model)}, {escape(answer.vector)}</span> "
        "<span><span class='cosine static'><i style='--c:1'></i></span> the word by itself, without its sentence</span>"
        "</p>"
    )
    verdict = _verdict(question, guess, answer, static, words)
    sense = sense_label(uses.senses[question.query], marks)
    return f"{_query(uses, question, sense)}{verdict}<ol class='quiz'>{rows}</ol>{legend}"


def quiz_score(rounds: Sequence[Round]) -> str:
    """How often the visitor, the model and a bag of words were right, and chance; nothing before the first guess."""
    if not rounds:
        return ""
    count = len(rounds)
    visitor, model = sum(one.visitor for one in rounds), sum(one.model for one in rounds)
    words, chance = sum(one.words for one in rounds), sum(1 / one.choices for one in rounds)
    questions = "1 question" if count == 1 else f"{count} questions"
    return (
        f"<p class='quiz-score'>So far, {questions}: <b>you {visitor}</b> · <b>the model {model}</b> "
        f"<span class='quiet'>(whichever was chosen when you guessed)</span> · a bag of words {words} · "
        f"chance {chance:.2f} <span class='quiet'>(the first guess at a question counts)</span></p>"
    )


def _row(
    question: SenseQuestion,
    uses: LabelledUses,
    marks: dict[str, SenseMark],
    place: int,
    guess: int,
    answer: QuizAnswer,
    static: QuizAnswer,
) -> str:
    number = question.choices[place]
    tags = ["means the same"] if place == question.right else []
    tags += ["your guess"] if place == guess else []
    if place in answer.tied and not answer.same:
        tags.append("a tie for the model")
    elif place == answer.choice and not answer.same:
        tags.append("the model’s choice")
    said = "".join(f"<span class='tag'>{tag}</span>" for tag in tags)
    bars = cosine_bar(answer.cosines[place], digits=_digits(answer)) + cosine_bar(static.cosines[place], " static")
    return (
        f"<li class='quiz-choice{' right' if place == question.right else ''}'><span class='letter'>{LETTERS[place]}"
        f"</span><span>{_sentence(uses, number)}<span class='quiz-foot'>{sense_label(uses.senses[number], marks)}{said}"
        f"<span class='quiz-bars'>{bars}</span></span></span></li>"
    )


def _digits(answer: QuizAnswer) -> int:
    """Decimals that tell the nearest from the next one, so that no choice is made between equal numbers."""
    first = max(answer.cosines)
    rest = [one for one in answer.cosines if first - one >= SAME]
    if not rest:
        return 2
    telling = (count for count in range(2, MOST_DIGITS) if decimals(first, count) != decimals(max(rest), count))
    return next(telling, MOST_DIGITS)


def _verdict(question: SenseQuestion, guess: int, answer: QuizAnswer, static: QuizAnswer, words: QuizAnswer) -> str:
    right = LETTERS[question.right]
    you = f"right, it is {right}" if guess == question.right else f"wrong: it is {right}"
    model = "says nothing: all are equally near"
    if answer.tied and len(answer.tied) < len(answer.cosines):
        model = f"gets no point: {_letters(answer.tied)} are equally near, a tie"
    elif not answer.tied and not answer.same:
        is_right = answer.choice == question.right
        model = "is right, too" if is_right and guess == question.right else "is right" if is_right else "is wrong"
        model += "" if is_right else f": it takes {LETTERS[answer.choice]}{_why(question, answer)}"
    alone = "Without the sentence all are equally near: that is what one vector for each word can say."
    nearest = [LETTERS[place] for place, one in enumerate(static.cosines) if max(static.cosines) - one < SAME]
    if not static.same:
        alone = f"Without the sentence only the form counts: {' and '.join(nearest)} "
        alone += "has the form that is nearest." if len(nearest) == 1 else "are equally near."
    kind = "right" if guess == question.right else "wrong"
    return (
        f"<p class='quiz-verdict {kind}' role='status'><b>You are {you}.</b> <b>The model {model}.</b> "
        f"<span class='quiet'>{alone} {_by_words(words)}</span></p>"
    )


def _by_words(words: QuizAnswer) -> str:
    """What the other words of each sentence say, understood by nobody."""
    if words.same:
        return "A bag of words says nothing: by the other words of each sentence, all are equally near."
    if words.tied:
        return f"A bag of words, the other words of each sentence, is undecided between {_letters(words.tied)}."
    verdict = "is right" if has_point(words) else "is wrong"
    return f"A bag of words, the other words of each sentence, {verdict}: it takes {LETTERS[words.choice]}."


def _letters(places: Sequence[int]) -> str:
    letters = [LETTERS[place] for place in places]
    return f"{', '.join(letters[:-1])} and {letters[-1]}"


def _why(question: SenseQuestion, answer: QuizAnswer) -> str:
    if answer.choice != question.decoy:
        return ""
    words = ", ".join(f"“<bdi>{escape(word)}</bdi>”" for word in question.shared)
    return f", the decoy, which shares {words} with sentence 1"


def _query(uses: LabelledUses, question: SenseQuestion, sense: str = "") -> str:
    return (
        f"<p class='near-query'><span class='kind'>Sentence 1</span>{_sentence(uses, question.query)}"
        f"{' ' + sense if sense else ''}</p>"
    )


def _word(uses: LabelledUses, question: SenseQuestion) -> str:
    start, end = uses.positions[question.query]
    return f"“<bdi>{escape(uses.sentences[question.query][start:end])}</bdi>”"


def _sentence(uses: LabelledUses, number: int) -> str:
    return use_sentence(uses.sentences[number], uses.positions[number])
