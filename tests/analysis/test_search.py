"""The searches against enumeration: every combination of a small vocabulary, scored the plain way."""

import itertools

import pytest
import torch
from transformers import BertTokenizer

from explorer.analysis.beams import fill_independently, fill_left_to_right, fill_most_confident_first
from explorer.analysis.blanks import parse_blanks
from explorer.analysis.joint import NARROWEST_BEAM, fill_jointly
from explorer.analysis.search import Start, allowed_log_probabilities, forbidden_ids, run_search, widest
from explorer.models.batching import Row, masked_logits
from tests.analysis.tiny_models import loaded, log_probabilities, tiny_bert

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat dog sat is on mat".split()
FILLS = range(5, len(WORDS))
COMBINATIONS = list(itertools.product(FILLS, repeat=3))
TEXT = "the ___ is ___ on ___"
SEEDS = range(6)


def toy(seed):
    tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(WORDS)})
    return loaded(tiny_bert(tokenizer, seed), tokenizer)


@torch.inference_mode()
def start_of(model, text=TEXT):
    parsed = parse_blanks(model, text)
    [logits] = masked_logits(model, [Row(parsed.ids, parsed.positions)])
    forbidden = forbidden_ids(model, logits.shape[-1])
    return Start(parsed, allowed_log_probabilities(logits, forbidden), forbidden)


@torch.inference_mode()
def found_by(model, search):
    [found] = run_search(model, [search], len(WORDS))
    return found


def jointly(model, start, count):
    return found_by(model, fill_jointly(start, count)).fillings


def conditionals(model, text, contexts):
    """ln p at one blank of each context, from one pass: (blank, fills of all blanks, None = open) -> [vocab]."""
    rows = [text.with_fills(fills) for _, fills in contexts]
    scores = log_probabilities(model, rows, [text.positions[blank] for blank, _ in contexts])
    return dict(zip(contexts, scores, strict=True))


def opened(fills, *blanks):
    return tuple(None if blank in blanks else fill for blank, fill in enumerate(fills))


def pseudo_log_likelihoods(model, text):
    """Scores of all combinations: each fill given all the others."""
    contexts = {(blank, opened(fills, blank)) for fills in COMBINATIONS for blank in range(3)}
    expected = conditionals(model, text, list(contexts))
    return {
        fills: sum(float(expected[blank, opened(fills, blank)][fills[blank]]) for blank in range(3))
        for fills in COMBINATIONS
    }


def chain_rule(model, text, order):
    """Scores of all combinations: each fill given those before it in an order."""
    contexts = {(blank, opened(fills, *order[i:])) for fills in COMBINATIONS for i, blank in enumerate(order)}
    expected = conditionals(model, text, list(contexts))
    return {
        fills: sum(float(expected[blank, opened(fills, *order[i:])][fills[blank]]) for i, blank in enumerate(order))
        for fills in COMBINATIONS
    }


def best(scores, count):
    return sorted(scores.items(), key=lambda item: -item[1])[:count]


def assert_fillings(fillings, expected):
    assert [filling.ids for filling in fillings] == [fills for fills, _ in expected]
    for filling, (_, score) in zip(fillings, expected, strict=True):
        assert filling.score == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_independent_is_the_exact_n_best_of_the_product(seed):
    model = toy(seed)
    start = start_of(model)
    marginals = log_probabilities(model, [start.text.ids] * 3, start.text.positions)
    scores = {fills: sum(float(marginals[blank, fill]) for blank, fill in enumerate(fills)) for fills in COMBINATIONS}
    assert_fillings(fill_independently(start, 40), best(scores, 40))
    assert len(fill_independently(start, 1000)) == len(COMBINATIONS)


@pytest.mark.parametrize("seed", SEEDS)
def test_left_to_right_of_full_width_is_enumeration(seed):
    model = toy(seed)
    start = start_of(model)
    fillings = found_by(model, fill_left_to_right(start, len(COMBINATIONS)))
    assert len(fillings) == len(COMBINATIONS)
    assert_fillings(fillings[:50], best(chain_rule(model, start.text, (0, 1, 2)), 50))


@pytest.mark.parametrize("seed", SEEDS)
def test_most_confident_first_of_width_one_is_greedy(seed):
    model = toy(seed)
    start = start_of(model)
    fills, score = [None] * 3, 0.0
    while None in fills:
        contexts = [(blank, tuple(fills)) for blank in range(3) if fills[blank] is None]
        offers = []
        for (blank, _), scores in conditionals(model, start.text, contexts).items():
            allowed = scores[FILLS[0] :]
            offers.append((float(allowed.max()), blank, FILLS[int(allowed.argmax())]))
        gain, blank, fill = max(offers)
        score += gain
        fills[blank] = fill
    assert_fillings(found_by(model, fill_most_confident_first(start, 1)), [(tuple(fills), score)])


@pytest.mark.parametrize("seed", SEEDS)
def test_most_confident_first_scores_by_the_chain_rule_in_some_order(seed):
    model = toy(seed)
    start = start_of(model)
    orders = [chain_rule(model, start.text, order) for order in itertools.permutations(range(3))]
    for filling in found_by(model, fill_most_confident_first(start, 10)):
        assert min(abs(filling.score - scores[filling.ids]) for scores in orders) < 1e-4


@pytest.mark.parametrize("seed", range(20))
def test_joint_finds_the_true_optimum_of_the_pseudo_log_likelihood(seed):
    model = toy(seed)
    start = start_of(model)
    scores = pseudo_log_likelihoods(model, start.text)
    fillings = jointly(model, start, 5)
    assert_fillings(fillings[:1], best(scores, 1))
    assert len({fills for fills, _ in best(scores, 5)} & {filling.ids for filling in fillings}) >= 4
    for filling in fillings:
        assert filling.score == pytest.approx(scores[filling.ids], abs=1e-4)


def test_joint_is_at_least_as_good_as_what_it_started_from():
    model = toy(1)
    start = start_of(model)
    scores = pseudo_log_likelihoods(model, start.text)
    [top, *_] = jointly(model, start, 3)
    for fillings in (
        fill_independently(start, 3),
        found_by(model, fill_left_to_right(start, 3)),
        found_by(model, fill_most_confident_first(start, 3)),
    ):
        assert top.score >= max(scores[filling.ids] for filling in fillings) - 1e-4


MANY = "the ___ is ___ on ___ ___ the ___ ___ is ___ ___ ___ ___"


def count_rows(model):
    rows = []
    model.network.register_forward_pre_hook(lambda _, __, given: rows.append(len(given["input_ids"])), with_kwargs=True)
    return rows


def test_joint_is_bounded_with_many_blanks(monkeypatch):
    model = toy(2)
    start = start_of(model, MANY)
    rows = count_rows(model)
    free = found_by(model, fill_jointly(start, 5))
    assert sum(rows) < 2000
    monkeypatch.setattr("explorer.analysis.joint.CONTEXTS_PER_COMPLETION", 1)
    rows.clear()
    bounded = found_by(model, fill_jointly(start, 5))
    assert sum(rows) < 500
    assert len(bounded.fillings) == 5 and bounded.is_cut
    assert free.fillings[0].score >= bounded.fillings[0].score


@pytest.mark.parametrize("count", [1, 5, 20, 50])
def test_joint_reads_no_more_tokens_than_it_may_but_scores_what_is_asked_for(monkeypatch, count):
    model = toy(2)
    start = start_of(model, MANY)
    blanks, tokens = len(start.text.positions), len(start.text.ids)
    free = found_by(model, fill_jointly(start, count))
    rows = count_rows(model)
    for affordable in (10, 200, 500, 1000):
        monkeypatch.setattr("explorer.analysis.search.MOST_TOKENS", affordable * tokens)
        rows.clear()
        found = found_by(model, fill_jointly(start, count))
        least = max(2 * NARROWEST_BEAM * (blanks - 1), affordable // 2) + count * blanks
        assert sum(rows) <= max(affordable, least)
        assert len(found.fillings) == count
        assert found.is_cut or affordable > least
        assert found.fillings[0].score <= free.fillings[0].score + 1e-4


def test_a_search_of_few_blanks_is_not_cut():
    model = toy(0)
    assert not found_by(model, fill_jointly(start_of(model), 5)).is_cut


def test_the_width_that_can_be_afforded(monkeypatch):
    monkeypatch.setattr("explorer.analysis.search.MOST_TOKENS", 1000)
    assert widest(20, 5, 10, 5) == 20
    assert widest(20, 5, 10, 10) == 10
    assert widest(20, 5, 10, 100) == 5
    assert widest(3, 5, 10, 100) == 3
    assert widest(3, 5, 0, 100) == 3


def test_searches_of_many_texts_run_together_answer_as_alone():
    model = toy(0)
    texts = [TEXT, "the ___ ___", "___ is ___ on the ___"]
    alone = [jointly(model, start_of(model, text), 3) for text in texts]
    with torch.inference_mode():
        together = run_search(model, [fill_jointly(start_of(model, text), 3) for text in texts], len(WORDS))
    for found, expected in zip(together, alone, strict=True):
        assert_fillings(found.fillings, [(filling.ids, filling.score) for filling in expected])


def test_steps_are_shared():
    """Ten texts take as many calls of the model as one, if each asks for little."""

    def calls(count):
        model = toy(0)
        made = []
        model.network.register_forward_pre_hook(lambda *_: made.append(1))
        with torch.inference_mode():
            starts = [start_of(model) for _ in range(count)]
            made.clear()
            run_search(model, [fill_left_to_right(start, 2) for start in starts], len(WORDS))
        return len(made)

    assert calls(10) == calls(1) == 2
