"""The bundled models that do not fill blanks: they load, and do what they were trained for."""

from functools import partial

import pytest
import torch

from explorer.analysis import fill_spans, score_text
from explorer.models.backend import LoadedModel
from explorer.models.catalogue import SPAN_MODEL
from explorer.models.catalogue.minis import MINIS
from explorer.training.tracing import answer_prompts

CAUSAL = "MiniLM (causal)"
WAY_TO_DRAW = {"method": "sampling", "seed": 17}
PAIRS = (
    ("The children are playing in the garden.", "The children is playing in the garden."),
    ("She has never been to London.", "She has never be to London."),
    ("He wanted to see the man.", "He wanted to the see man."),
    ("Many people live in this city.", "Many person live in this city."),
    ("He was born in 1920 and died in 1985.", "He born was in 1920 and in died 1985."),
)
WRITES = ("GPT mini", "BERT mini", "ELMo mini")  # which say how likely a text is


@pytest.fixture
def ask(shipped_registry):
    """Ask the causal model something."""
    return lambda question: shipped_registry.run(CAUSAL, question)


def answer(model: LoadedModel, objective: str) -> tuple[tuple[str, str], ...]:
    return answer_prompts(objective, model.network, model.tokenizer)


def log_likelihood(model: LoadedModel, text: str) -> float:
    ids = torch.tensor([model.tokenizer(text).input_ids])
    log_probabilities = model.network(ids).logits[0, :-1].log_softmax(dim=-1)
    return log_probabilities.gather(1, ids[0, 1:, None]).sum().item()


def test_grammatical_sentences_are_likelier(ask):
    right = ask(lambda model: [log_likelihood(model, good) > log_likelihood(model, bad) for good, bad in PAIRS])
    assert sum(right) >= 4


def test_no_token_sees_a_later_one(ask):
    def compare(model: LoadedModel) -> bool:
        ids = torch.tensor([model.tokenizer("The dog ran into the house.").input_ids])
        changed = ids.clone()
        changed[0, -2:] = 2000
        one, other = (model.network(each).logits[0, :-2] for each in (ids, changed))
        return torch.allclose(one, other, atol=1e-4)

    assert ask(compare)


def test_a_text_is_gone_on_with_from_its_last_word(ask):
    def write(model: LoadedModel) -> tuple[list[int], str]:
        inputs = model.tokenizer("He was born in", return_tensors="pt").input_ids
        written = model.network.generate(inputs, max_new_tokens=1, do_sample=False, pad_token_id=0)
        return inputs[0].tolist(), model.tokenizer.decode(written[0, inputs.shape[1] :])

    ids, word = ask(write)
    assert ids[-1] != 102  # [SEP] would tell the model that the text is over
    assert word.strip() in ("the", "london", "new", "a", "18") or word.strip().isdigit()


def test_the_span_model_writes_what_is_missing_and_where_it_ends(shipped_registry):
    found = shipped_registry.run(SPAN_MODEL, partial(fill_spans, text="He was born in New ___ and died in 1985."))
    assert "york" in [choice.text for choice in found.spans[0].choices[:2]]
    assert found.completions[0].log_probability > -5
    few, many = (
        shipped_registry.run(SPAN_MODEL, partial(fill_spans, text="The man ___ the door.", count=count))
        for count in (4, 20)
    )
    assert few.spans[0].choices == many.spans[0].choices[:4], "the likeliest, however few are shown"


@pytest.mark.slow
def test_the_search_loses_no_sentence_behind_beginnings_that_are_longer(shipped_registry):
    def fill(text, **options):
        return shipped_registry.run(SPAN_MODEL, partial(fill_spans, text=text, count=20, **options))

    searched, drawn = (fill("She opened the ___ and found a ___.", **way) for way in ({}, WAY_TO_DRAW))
    found = {one.text: one.log_probability for one in searched.completions}
    likely = {one.text: one.log_probability for one in drawn.completions if one.log_probability > min(found.values())}
    assert likely and likely.keys() <= found.keys()
    assert likely == pytest.approx({text: found[text] for text in likely}, abs=1e-4)
    searched = fill("The teacher picked up the ___ and began to ___.")
    first, second = (span.choices[0] for span in searched.spans)
    best = searched.completions[0]
    assert best.fills == (first.text, second.text)
    assert best.log_probability == pytest.approx(first.log_probability + second.log_probability, abs=0.01)


def test_the_family_from_nothing_shares_one_vocabulary(shipped_registry):
    vocabularies = [shipped_registry.run(card.name, lambda model: model.tokenizer.get_vocab()) for card in MINIS]
    assert all(vocabulary == vocabularies[0] for vocabulary in vocabularies)


@pytest.mark.parametrize("name", WRITES)
def test_the_family_from_nothing_expects_sentences_rather_than_their_words_in_disorder(shipped_registry, name):
    for good, bad in (
        ("He was one of the first to come to the house.", "To one house the was first come to he the of."),
        ("She was in the city for the first time.", "In was city for she first the time the."),
    ):
        bits = [shipped_registry.run(name, partial(score_text, text=text)).surprisal_bits for text in (good, bad)]
        assert bits[0] < 0.85 * bits[1]


def test_t5_mini_reads_what_stands_around_a_gap(shipped_registry):
    answers = dict(shipped_registry.run("T5 mini", partial(answer, objective="span")))
    assert answers["She opened the door and ___ into the room."] == "went"
    assert answers["He was born in New ___."] == "York"


def test_electra_mini_suspects_the_word_that_does_not_fit(shipped_registry):
    answers = shipped_registry.run("ELECTRA mini", partial(answer, objective="replaced"))
    assert [said.partition(":")[0] for _, said in answers] == ["Tuesday", "yellow", "yesterday"]
