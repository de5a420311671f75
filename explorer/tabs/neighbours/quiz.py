"""View: a quiz in the form of the lecture's question; the visitor guesses first, then the model."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.sense_quiz import (
    QuizAnswer,
    SenseQuestion,
    answer_by_words,
    answer_question,
    has_point,
    make_question,
    question_forms,
    question_uses,
)
from explorer.figures.notes import note
from explorer.figures.quiz import KEY_NOTE, Round, answer_sheet, question_key, question_sheet, quiz_score
from explorer.figures.sentences import caption
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.kinds import told
from explorer.tabs.messages import QUIET, in_place
from explorer.tabs.neighbours.material import read_uses, source_words
from explorer.tabs.neighbours.view import Desk
from explorer.tabs.neighbours.which_vector import choose, read_vector
from explorer.tabs.seeds import MOST_SEED, READ, read_seed, tidy_seed
from explorer.tabs.taking_away import download_links, name_after, table_links
from explorer.tabs.views import View

PAPER = "https://arxiv.org/abs/1802.05365"
ON_LOAD = """
element.addEventListener('click', event => {
  const choice = event.target.closest('button[data-guess]');
  if (choice) trigger('select', {guess: choice.dataset.guess});
});
"""
MOST_ROUNDS = 200  # that a score is kept of
FIRST = 1
NEXT = f"typed => ({READ} + 1) % {MOST_SEED + 1}"
ALONE = "input embeddings of the word by itself"


@dataclass(frozen=True)
class Guessed:
    """A button of the sheet.

    Attributes:
        guess: What it stands for.
    """

    guess: str


def build(registry: Registry, desk: Desk) -> View:
    """Lay out the view."""
    with gr.Tab("Quiz", id="quiz") as tab:
        sheet = gr.HTML(padding=False, js_on_load=ON_LOAD, elem_classes="result", elem_id="quiz-sheet")
        with gr.Row(elem_classes="controls quiz-controls"):
            another = gr.Button("Another question", size="sm", elem_id="quiz-another", scale=0, min_width=160)
            seed = gr.Number(  # without bounds: Gradio answers what is beyond them with a bare error
                FIRST, precision=0, label="Question number", elem_id="quiz-number", scale=0, min_width=290,
                info="0 to 999,999. Same number, same question.",
            )  # fmt: skip
        score = gr.HTML(padding=False, elem_id="quiz-score")
        foot = gr.HTML(padding=False)
        guess = gr.Textbox("", visible="hidden", elem_id="quiz-guess")
        rounds = gr.State(())

    @in_place(registry, outputs=4, ability=Ability.EMBED)
    def draw(
        models: Registry, model: str, word: str, own: str, seed: float, guess: str, rounds: tuple, *values: object
    ) -> tuple:
        uses = read_uses(word, own)
        question = make_question(uses, seed=read_seed(seed))
        guessed = read_guess(guess, word, question)
        if guessed is None:
            return question_sheet(word, question, uses), quiz_score(rounds), _foot(word, own, question), gr.skip()
        answer = _ask(models, model, uses, question, *values)
        static = _ask_without_sentence(models, model, uses, question)
        words = answer_by_words(question, uses)
        kept = add_round(rounds, question_key(word, question), guessed == question.right, answer, words)
        drawn = answer_sheet(question, uses, guessed, answer, static, words)
        return drawn, quiz_score(kept), _foot(word, own, question, (answer, static, words)), kept

    def _ask(models: Registry, model: str, uses: LabelledUses, question: SenseQuestion, *values: object) -> QuizAnswer:
        vector = read_vector(*values)
        asked = question_uses(question, uses)
        if vector.adjust == "none":  # only these sentences need be read
            vectors, words = choose(desk.vectors.embed(models, model, asked, vector.pieces), *values)
        else:
            every, words = choose(desk.vectors.embed(models, model, uses, vector.pieces), *values)
            vectors = every[[question.query, *question.choices]]
        return answer_question(question, asked, vectors, model=model, vector=words)

    def _ask_without_sentence(models: Registry, model: str, uses: LabelledUses, question: SenseQuestion) -> QuizAnswer:
        forms = question_forms(question, uses)
        vectors = desk.vectors.embed(models, model, forms).vectors[0]
        return answer_question(question, forms, vectors, model=model, vector=ALONE)

    inputs = [desk.model, desk.word, desk.own, seed, guess, rounds, *desk.which.inputs]
    outputs = [sheet, score, foot, rounds]
    pressed = sheet.select(_take_guess, None, guess, trigger_mode="multiple", **QUIET)
    shown = pressed.then(draw, inputs, [desk.message, *outputs], **QUIET)
    tidy_seed(seed)
    another.click(None, seed, seed, js=NEXT, **QUIET)
    return View(tab, draw, inputs, outputs, {"question": seed}, runs=[shown])


def read_guess(guess: str, word: str, question: SenseQuestion) -> int | None:
    """The visitor's choice, counted from 0; None where this question has none yet."""
    key, _, place = (guess if isinstance(guess, str) else "").rpartition(":")
    known = [str(number) for number in range(len(question.choices))]
    return known.index(place) if key == question_key(word, question) and place in known else None


def add_round(
    rounds: tuple[Round, ...], key: str, is_right: bool, answer: QuizAnswer, words: QuizAnswer
) -> tuple[Round, ...]:
    """The score with a question; one that was answered before counts as it did then."""
    if any(one.key == key for one in rounds):
        return rounds
    added = Round(key, is_right, has_point(answer), has_point(words), len(answer.cosines))
    return (*rounds, added)[-MOST_ROUNDS:]


def _take_guess(event: gr.EventData) -> str:
    return told(event, Guessed).guess


def _foot(word: str, own: str, question: SenseQuestion, answers: tuple[QuizAnswer, ...] = ()) -> str:
    """What was asked and measured, and, once guessed, all of it to take away."""
    parts = [f"question {question.seed}", source_words(word, own)]
    parts += [f"{answer.model}: {answer.vector}" for answer in answers]
    parts += ["cosine to sentence 1", f"n = {len(question.choices)} choices"] if answers else []
    links = download_links(answers, name_after("quiz", [word])) if answers else table_links({}, "quiz")
    return note(KEY_NOTE) + caption(parts, PAPER) + links
