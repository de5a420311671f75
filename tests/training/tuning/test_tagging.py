"""Tags of words: every way learns a toy rule, and the scores are seqeval's."""

import numpy as np
import pytest
from seqeval.metrics import classification_report

from explorer.errors import UnsuitableCorpus, UnsuitableText
from explorer.training.tuning.examples import TaggedWords
from explorer.training.tuning.tag_scores import find_tags, measure_tags, show_phrases, tag_baselines
from tests.training.tuning.toy_tasks import make_set, run, tagged, tiny_model

TOY = make_set("tagging", tagged, 96, 32)


@pytest.mark.parametrize("method", ["full", "frozen", "layers"])
def test_a_toy_rule_is_learnt(method):
    outcome = run(tiny_model("masked"), TOY, method=method, epochs=6)
    assert outcome.scores["f1"] == 1.0
    assert list(outcome.scores) == ["f1", "precision", "recall", "accuracy"]
    assert outcome.labels == ("O", "B-ANIMAL", "I-ANIMAL", "B-PERSON")
    words = sum(len(example.words) for example in TOY.held_out)
    assert sum(map(sum, outcome.confusion)) == words
    assert all(one.gold == one.predicted for one in outcome.judged)
    assert len(outcome.judged) == len(TOY.held_out)
    assert (len(outcome.mix) == 3) == (method == "layers")


@pytest.mark.parametrize("objective", ["causal", "span", "bilm"])
def test_other_networks_learn_it_too(objective):
    outcome = run(tiny_model(objective), TOY, epochs=10)
    assert outcome.scores["f1"] > 0.9


def test_low_rank_additions_learn():
    outcome = run(tiny_model("masked"), TOY, method="lora", epochs=8, learning_rate=2e-2)
    assert outcome.scores["f1"] > 0.9


def test_scores_are_those_of_seqeval():
    labels = ("O", "B-A", "I-A", "B-B", "I-B")
    random = np.random.default_rng(0)
    examples, probabilities, predicted = [], [], []
    for _ in range(20):
        tags = tuple(labels[number] for number in random.integers(0, 5, 6))
        table = random.dirichlet(np.ones(5), 6)
        examples.append(TaggedWords(tuple("abcdef"), tags))
        probabilities.append(list(table))
        predicted.append([labels[number] for number in table.argmax(axis=1)])
    measured = measure_tags(examples, probabilities, labels)
    report = classification_report([list(one.tags) for one in examples], predicted, output_dict=True, zero_division=0)
    assert measured.scores["f1"] == pytest.approx(report["micro avg"]["f1-score"])
    assert measured.scores["precision"] == pytest.approx(report["micro avg"]["precision"])
    assert measured.scores["recall"] == pytest.approx(report["micro avg"]["recall"])
    pairs = [pair for one, tags in zip(examples, predicted, strict=True) for pair in zip(one.tags, tags, strict=True)]
    assert measured.scores["accuracy"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    for row, gold in enumerate(labels):
        for column, found in enumerate(labels):
            assert measured.confusion[row][column] == pairs.count((gold, found))
    wrong = [one for one in measured.judged if one.gold != one.predicted]
    assert measured.judged[: len(wrong)] == tuple(sorted(wrong, key=lambda one: -one.probability))


def test_a_phrase_that_begins_with_another_mark_is_the_same_phrase():
    labels, example = ("O", "B-P", "I-P"), TaggedWords(("anna", "ran"), ("B-P", "O"))
    inside, beside = ([np.eye(3)[number] for number in numbers] for numbers in ((2, 0), (1, 2)))
    measured = measure_tags([example, example], [inside, beside], labels)
    assert measured.scores["f1"] == 0.5
    assert [(one.predicted, one.is_right) for one in measured.judged] == [("anna ran (P)", False), ("anna (P)", True)]


def test_a_word_that_was_cut_off_counts_as_outside():
    measured = measure_tags(
        [TaggedWords(("anna", "ben"), ("B-P", "B-P"))], [[np.array([0.1, 0.9]), None]], ("O", "B-P")
    )
    assert measured.scores["recall"] == 0.5
    assert measured.judged[0].predicted == "anna (P)"


def test_long_sentences_are_cut_and_said_to_be():
    outcome = run(tiny_model("masked"), TOY, method="frozen", length_tokens=5)
    assert any("longer than 5 tokens" in note for note in outcome.notes)
    assert outcome.scores["recall"] < 1.0


def test_phrases_are_shown_as_a_person_reads_them():
    words = ("the", "cat", "and", "anna")
    assert show_phrases(words, ("B-X", "I-X", "O", "B-Y")) == "the cat (X), anna (Y)"
    assert show_phrases(words, ("O",) * 4) == "no phrase"
    assert show_phrases(words, ()) == ""


def test_the_memory_of_words_is_a_baseline():
    train = [TaggedWords(("anna", "barks"), ("B-P", "O"))]
    held_out = [TaggedWords(("anna", "ben"), ("B-P", "B-P"))]
    assert tag_baselines(train, held_out) == {"each word's most frequent tag": pytest.approx(2 / 3)}


def test_what_cannot_be_learnt_is_refused():
    with pytest.raises(UnsuitableCorpus, match="tag some phrases"):
        find_tags([TaggedWords(("anna",), ("O",))], [])
    empty = TaggedWords((" ",), ("O",))
    with pytest.raises(UnsuitableText, match="no word"):
        run(tiny_model("masked"), make_set("tagging", lambda choose: choose.choice([tagged(choose), empty]), 20, 5))
