"""What can be had without any model: words are words, whatever mark stands beside them."""

from explorer.training.tuning.class_scores import BAG_OF_WORDS, class_baselines
from explorer.training.tuning.examples import LabelledText, ScoredPair
from explorer.training.tuning.similarity_scores import SHARED_WORDS, similarity_baselines

WORDS = {"good": "pos", "lovely": "pos", "nasty": "neg", "awful": "neg"}


def test_a_word_before_a_full_stop_is_the_word_amid_a_sentence():
    things = ("film", "book", "song")
    train = [LabelledText(f"The {thing} was {word}.", label) for thing in things for word, label in WORDS.items()]
    held_out = [LabelledText(f"What a {word} play!", label) for word, label in WORDS.items()]
    found = class_baselines(train, held_out)
    assert found[BAG_OF_WORDS] == 1.0 and found["most frequent class"] == 0.5


def test_words_in_common_are_found_before_a_mark():
    scored = [(f"A {word}.", f"So {word} it is", 5.0) for word in WORDS]
    scored += [(f"A {word}.", f"So {other} it is", 0.0) for word, other in (("good", "nasty"), ("awful", "lovely"))]
    assert similarity_baselines([ScoredPair(*one) for one in scored])[SHARED_WORDS] > 0.8
