"""Agreement with people against loops; the pairs that ship against the sets they must not repeat."""

import csv
import re

import numpy as np
import pytest

from explorer.analysis import compare_similarity
from explorer.analysis.pair_agreement import RESAMPLES, best_layer, rank_pairs, score_pairs
from explorer.analysis.pair_files import ScoredPair
from explorer.analysis.pair_results import PairCosines
from explorer.analysis.rank_correlation import measure_spearman
from explorer.analysis.shipped_pairs import SHIPPED_PAIRS, read_shipped_pairs
from explorer.analysis.similarity import measure_pairs
from tests.analysis.test_embeddings import own
from tests.analysis.test_similarity import PAIRS
from tests.models.small_models import EVAL


def found(cosines, scores, **changes):
    """Two cures and as many layers as there are rows of cosines."""
    pairs = tuple(ScoredPair(f"a{place}", f"b{place}", float(score)) for place, score in enumerate(scores))
    given = {
        "model": "M", "name": "made", "pairs": pairs,
        "texts": 2 * len(scores), "dim": 4, "fitted_on": "nothing", "fit_texts": 9, "own_pooling": "",
        "layers": (0, 1), "layer_count": 2, "poolings": ("mean",), "cures": ("none", "rank"),
        "cosines": np.array(cosines, dtype=float),
    }  # fmt: skip
    return PairCosines(**(given | changes))


def made(pairs=12):
    random = np.random.default_rng(3)
    scores = random.integers(0, 6, pairs).astype(float)
    cosines = np.stack([scores * share + random.normal(size=pairs) for share in (0, 0.5, 1, 2)])
    return found(cosines.reshape(1, 2, 2, pairs), scores)


def plain_ranks(numbers):
    return [1 + sum(other < one for other in numbers) + (sum(other == one for other in numbers) - 1) / 2
            for one in numbers]  # fmt: skip


def test_intervals_are_those_of_pairs_drawn_again():
    data, count = made(), 12
    result = score_pairs(data, seed=4)
    people = plain_ranks([pair.score for pair in data.pairs])
    drawn = np.random.default_rng(4).multinomial(count, [1 / count] * count, RESAMPLES)
    by_place = {(one.cure, one.layer): one for one in result.scores}
    draws = {}
    for cure, rows in zip(data.cures, data.cosines[0], strict=True):
        for layer, cosines in zip(data.layers, rows, strict=True):
            ranks = plain_ranks(cosines.tolist())
            values = []
            for times in drawn:
                again = [place for place, number in enumerate(times) for _ in range(number)]
                values.append(np.corrcoef([ranks[i] for i in again], [people[i] for i in again])[0, 1])
            draws[cure, layer] = np.array(values)
            one = by_place[cure, layer]
            assert one.spearman == pytest.approx(np.corrcoef(ranks, people)[0, 1])
            assert [one.low, one.high] == pytest.approx(np.percentile(values, [2.5, 97.5]).tolist())
    for layer in data.layers:
        change = by_place["rank", layer].change
        assert change.value == pytest.approx(by_place["rank", layer].spearman - by_place["none", layer].spearman)
        ends = np.percentile(draws["rank", layer] - draws["none", layer], [2.5, 97.5])
        assert [change.low, change.high] == pytest.approx(ends.tolist()), "drawn together"
    assert "seed 4" in result.intervals and by_place["none", 0].change.value == 0
    assert best_layer(result, "mean", "rank") == 1


def test_equal_cosines_have_neither_number_nor_interval():
    data = found(np.stack([[0.5] * 4, [0.1, 0.2, 0.3, 0.4]] * 2).reshape(1, 2, 2, 4), [1, 2, 3, 4])
    first, second, *_ = score_pairs(data).scores
    assert (first.spearman, first.low, first.high, first.change) == (None,) * 4
    assert (second.spearman, second.low, second.high) == (1, pytest.approx(1), pytest.approx(1))


def test_pairs_are_ranked_by_how_far_model_and_people_part():
    data = found(np.tile([0.9, 0.1, 0.5, 0.4], (1, 2, 2, 1)), [5, 4, 1, 0])
    ranked = rank_pairs(data, pooling="mean", cure="rank", layer=7, kinds=("x", "x", "y", "y"))
    assert [(one.first, one.by_score, one.by_model, one.shift) for one in ranked.pairs] == [
        ("a1", 2, 4, -2), ("a2", 3, 2, 1), ("a3", 4, 3, 1), ("a0", 1, 1, 0),
    ]  # fmt: skip
    assert ranked.vector == "layer 1, pooling mean, ranks"
    assert [(one.kind, one.pairs, one.shift) for one in ranked.kinds] == [("y", 2, 1), ("x", 2, -1)]
    assert rank_pairs(data, pooling="mean", cure="none", layer=0).kinds == ()


def test_cosines_give_the_scores_of_the_comparison():
    cures, others = ("none", "mean_removal", "whitening", "rank"), ["the home is in paris", "play walk run", "he is"]
    model = own("word_piece")
    data = measure_pairs(model, pairs=PAIRS, cures=cures, fit_texts=others, fitted_on="three texts")
    assert data.cosines.shape == (3, 4, 3, 5) and not data.cosines.flags.writeable
    assert (data.fitted_on, data.fit_texts, data.texts, data.dim) == ("three texts", 3, 9, 24)
    compared = compare_similarity(model, pairs=PAIRS, cures=cures, fit_texts=others)
    people = np.array([pair.score for pair in data.pairs])
    rows = data.cosines.reshape(-1, 5)
    assert [one.spearman for one in compared.scores] == [measure_spearman(row, people) for row in rows]


@pytest.mark.parametrize("key", SHIPPED_PAIRS)
def test_shipped_pairs_span_their_scale(key):
    shipped = read_shipped_pairs(key)
    most = {"sentences": 5, "words": 10}[key]
    scores = np.array([pair.score for pair in shipped.pairs])
    assert len(shipped.pairs) == len(shipped.kinds) >= 80 and all(shipped.kinds)
    assert min(shipped.kinds.count(kind) for kind in set(shipped.kinds)) >= 10
    assert 0 <= scores.min() < 0.1 * most and 0.95 * most < scores.max() <= most
    assert (np.histogram(scores, bins=5, range=(0, most))[0] >= 8).all(), "no part of the scale stands empty"
    texts = [frozenset((pair.first, pair.second)) for pair in shipped.pairs]
    assert len(set(texts)) == len(texts) and all(len(one) == 2 for one in texts)
    if key == "words":
        assert all(re.fullmatch("[a-z]+", text) for pair in texts for text in pair)


def plain(text):
    return " ".join(re.findall(r"[a-z]+", text.lower()))


def test_shipped_pairs_are_of_no_published_set():
    files = sorted((EVAL / "wordsim").glob("*.txt"))
    sentences = EVAL / "sts" / "stsb-en-dev.csv"
    if not files or not sentences.exists():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    published = [line.split("\t")[:2] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    with sentences.open(encoding="utf-8", newline="") as lines:
        published += [row[:2] for row in csv.reader(lines)]
    known = {frozenset(map(plain, pair)) for pair in published}
    assert len(known) > 2_500
    for key in SHIPPED_PAIRS:
        for pair in read_shipped_pairs(key).pairs:
            assert frozenset((plain(pair.first), plain(pair.second))) not in known, pair
