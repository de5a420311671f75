"""Sentences that one word decides, in the vocabulary of tests.analysis.tiny_models."""

from transformers import BertTokenizer

from explorer.models.backend import LoadedModel
from explorer.training.tuning.examples import ExampleSet, LabelledText
from tests.analysis.tiny_models import WORDPIECES, loaded, tiny_bert

WORDS = "the a dog play playing walk run is in on new york he she king".split()


def tiny_encoder() -> LoadedModel:
    """Two layers, 24 wide, with weights small enough to learn."""
    tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(WORDPIECES)})
    return loaded(tiny_bert(tokenizer, initializer_range=0.1), tokenizer, name="tiny bert")


def labelled(count: int, *, pairs: bool = False) -> tuple[LabelledText, ...]:
    """Sentences with "cat" are animal, those with "queen" royal; each has both neighbours of a few words."""
    examples = []
    for number in range(count):
        word, label = (("cat", "animal"), ("queen", "royal"))[number % 2]
        around = [WORDS[(number * 7 + step) % len(WORDS)] for step in range(2 + number % 4)]
        text = " ".join([*around[:1], word, *around[1:]])
        examples.append(LabelledText(text, label, "he is happy" if pairs else ""))
    return tuple(examples)


def example_set(train: int = 48, held_out: int = 16, *, task: str = "classification") -> ExampleSet:
    """A set that a tiny network learns in a second."""
    examples = labelled(train + held_out, pairs=task == "pairs")
    return ExampleSet("animals and royals", task, examples[:train], examples[train:])
