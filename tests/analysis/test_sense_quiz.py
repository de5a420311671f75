"""Questions of the quiz: one right choice, by the labels; answers by cosine, against plain loops."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.exporting import to_tables
from explorer.analysis.labelled_uses import LabelledUses, gather_uses, shipped_uses
from explorer.analysis.sense_quiz import (
    answer_by_words,
    answer_question,
    has_point,
    make_question,
    question_forms,
    question_uses,
)
from explorer.analysis.sense_sentences import sense_words
from explorer.errors import UnsuitableText


def form(uses, number):
    start, end = uses.positions[number]
    return uses.sentences[number][start:end].lower()


@pytest.mark.parametrize("word", sense_words())
def test_exactly_one_choice_has_the_sense_of_sentence_1(word):
    uses = shipped_uses(word)
    senses = set(uses.senses)
    same_form = decoys = 0
    for seed in range(20):
        question = make_question(uses, seed=seed)
        sense = uses.senses[question.query]
        assert [uses.senses[choice] == sense for choice in question.choices].count(True) == 1
        assert uses.senses[question.choices[question.right]] == sense
        assert len({question.query, *question.choices}) == 5, "all different"
        others = [uses.senses[choice] for choice in question.choices if uses.senses[choice] != sense]
        assert len(set(others)) == min(3, len(senses) - 1), "of as many other senses as there are"
        same_form += sum(form(uses, choice) == form(uses, question.query) for choice in question.choices)
        if question.decoy is not None:
            decoys += 1
            decoy = question.choices[question.decoy]
            assert uses.senses[decoy] != sense and question.shared
            for shared in question.shared:
                assert all(shared in uses.sentences[number].casefold() for number in (question.query, decoy))
    assert decoys >= 10, "most sentences share a rare word with one of another sense"
    assert same_form > 0.4 * 80, "the form gives nothing away where it need not"


def test_a_seed_is_a_question_and_other_seeds_are_others():
    uses = shipped_uses("play")
    assert make_question(uses, seed=7) == make_question(uses, seed=7)
    questions = [make_question(uses, seed=seed) for seed in range(60)]
    assert len({question.query for question in questions}) > 40
    places = Counter(question.right for question in questions)
    assert set(places) == {0, 1, 2, 3} and max(places.values()) < 30, "the right one stands anywhere"


def test_the_decoy_shares_the_rarest_words():
    lines = [
        "a\tthe zebra and the {play}", "a\tone more {play} of ours", "b\tthe zebra likes this {play} well",
        "b\tthe {play} there", "c\tsome {play} or other", "c\tno {play} today",
    ]  # fmt: skip
    uses = gather_uses(lines)
    question = next(one for seed in range(50) if (one := make_question(uses, seed=seed)).query == 0)
    assert question.choices[question.decoy] == 2 and "zebra" in question.shared
    assert question.choices[question.right] == 1


def test_two_senses_and_three_sentences_are_enough():
    uses = gather_uses(["a\tmy {play} here", "a\tyour {play} there", "b\this {play} again"])
    question = make_question(uses, seed=3)
    assert sorted((question.query, *question.choices)) == [0, 1, 2]
    assert uses.senses[question.choices[question.right]] == "a"


@pytest.mark.parametrize(
    "lines",
    [
        ["a {play} here", "another {play} there"],  # no label
        ["a\ta {play} here", "a\tanother {play} there"],  # one sense
        ["a\ta {play} here", "b\tanother {play} there"],  # no two of one
        ["a\ta {play} here", "a\ta {play} here", "b\tanother {play}"],  # the same sentence
    ],
)
def test_too_few_labels_are_said(lines):
    with pytest.raises(UnsuitableText, match=r"A quiz needs (different|.*Write a sense and \| before each)"):
        make_question(gather_uses(lines), seed=0)


@pytest.mark.parametrize("seed", [-1, 2**32, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(UnsuitableText, match="seed"):
        make_question(shipped_uses("play"), seed=seed)


def test_unlabelled_sentences_are_never_asked_about():
    uses = shipped_uses("mouse")
    half = replace(uses, senses=tuple(sense if number % 2 else "" for number, sense in enumerate(uses.senses)))
    for seed in range(20):
        question = make_question(half, seed=seed)
        assert all(half.senses[number] for number in (question.query, *question.choices))


def test_vectors_answer_by_the_highest_cosine():
    uses = shipped_uses("bank")
    random = np.random.default_rng(1)
    for seed in range(10):
        question = make_question(uses, seed=seed)
        asked = question_uses(question, uses)
        assert asked.sentences == tuple(uses.sentences[number] for number in (question.query, *question.choices))
        vectors = random.standard_normal((5, 8)).astype(np.float32)
        answer = answer_question(question, asked, vectors, model="tiny", vector="layer 0")
        by_hand = [float(vectors[0] @ one / np.linalg.norm(vectors[0]) / np.linalg.norm(one)) for one in vectors[1:]]
        np.testing.assert_allclose(answer.cosines, by_hand, atol=1e-6)
        assert answer.choice == int(np.argmax(by_hand)) and not answer.same
        assert (answer.model, answer.vector, answer.seed, answer.right) == ("tiny", "layer 0", seed, question.right)
        rows = to_tables(answer)["quiz"][1:]
        assert [row[6] for row in rows] == list(answer.cosines)
        assert [row[7] for row in rows].index(True) == answer.right
        assert [row[8] for row in rows].index(True) == answer.choice


def test_the_word_by_itself_says_nothing_where_its_form_is_the_same():
    uses = LabelledUses(
        ("Play it", "play on", "a play", "the play", "plays"), ((0, 4), (0, 4), (2, 6), (4, 8), (0, 5)), tuple("aabbb")
    )
    question = replace(make_question(uses, seed=0), query=0, choices=(1, 2, 3), right=0)
    forms = question_forms(question, uses)
    assert forms.sentences == ("play",) * 4 and forms.positions == ((0, 4),) * 4
    answer = answer_question(question, forms, np.ones((4, 3), dtype=np.float32), model="tiny", vector="")
    assert answer.same and answer.cosines == pytest.approx((1, 1, 1))
    assert not any(row[8] for row in to_tables(answer)["quiz"][1:])
    other = replace(question, choices=(1, 4))
    assert question_forms(other, uses).sentences == ("play", "play", "plays")
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    answer = answer_question(other, question_forms(other, uses), vectors, model="tiny", vector="")
    assert not answer.same and answer.cosines == pytest.approx((1, 0)) and answer.choice == 0


def test_two_choices_as_near_as_each_other_are_a_tie():
    uses = shipped_uses("bank")
    question = make_question(uses, seed=1)
    asked = question_uses(question, uses)
    vectors = np.array([[1, 0], [0, 1], [1, 0.001], [1, 1], [1, -0.001]], dtype=np.float32)
    answer = answer_question(question, asked, vectors, model="tiny", vector="")
    assert answer.tied == (1, 3) and not answer.same
    assert [row[8] for row in to_tables(answer)["quiz"][1:]] == [False, True, False, True]
    vectors[4] = (1, 0.1)
    assert answer_question(question, asked, vectors, model="tiny", vector="").tied == ()


def test_a_bag_of_words_answers_by_the_words_it_shares():
    lines = [
        "a\tthe zebra ran to the {play}", "a\tone more {play} of ours", "b\tthe zebra likes this {play} well",
        "b\tthe {play} there", "c\tsome {play} or other", "c\tno {play} today",
    ]  # fmt: skip
    uses = gather_uses(lines)
    question = next(one for seed in range(50) if (one := make_question(uses, seed=seed)).query == 0)
    answer = answer_by_words(question, uses)
    assert answer.choice == question.decoy and not has_point(answer), "what the decoy is for"
    assert answer.query == uses.sentences[0] and answer.model == "bag of words"
    strangers = gather_uses(["a\tred {play}", "a\tblue {play}", "b\tgreen {play}", "b\tpale {play}"])
    nothing = answer_by_words(make_question(strangers, seed=3), strangers)
    assert nothing.same and not has_point(nothing) and set(nothing.cosines) == {0.0}


def test_a_bag_of_words_is_no_better_than_lot_at_questions_made_against_it():
    points = [
        has_point(answer_by_words(make_question(uses, seed=seed), uses))
        for uses in map(shipped_uses, sense_words())
        for seed in range(10)
    ]
    assert len(points) == 120 and sum(points) < len(points) / 4
