"""How the vectors of models that learnt from the same text use their space, and how far cosines agree with people.

The first table has each layer's anisotropy on the sentences of UD English EWT, or with --ours on those that ship: a
token is a point, special tokens are left out, all pairs count. "Largest" is the share of the mean cosine that is due to
the one dimension that adds most to it. The others have Spearman's rank correlation, times 100, of cosines with people's
scores, as the vectors are and after cures fitted on the texts of the pairs: the STS benchmark's development set and
SimLex-999, both read from EXPLORER_EVAL_DATA. "Best" is the layer that is best on these pairs, which flatters it.

    python benchmarks/spaces.py [--model NAME ...] [--ours] [--json]
"""

import argparse
import json
from collections.abc import Iterator
from functools import partial

from corpora import EVAL, read_treebank_sentences
from measuring import describe_machine, print_table
from transformers.utils import logging

import explorer
from explorer.analysis import compare_similarity, find_rogue_dimensions, measure_anisotropy
from explorer.analysis.anisotropy_results import Anisotropy, RogueDimensions, SimilarityScores
from explorer.analysis.exporting import to_json
from explorer.analysis.own_corpus import OWN_CORPUS, read_own_corpus
from explorer.analysis.pair_files import read_pair_file
from explorer.models.registry import Registry

MODELS = (
    "all-MiniLM-L6-v2", "MiniLM (masked)", "MiniLM (causal)", "MiniLM (span)", "GPT mini", "ELMo mini", "BERT mini",
    "T5 mini", "ELECTRA mini",
)  # fmt: skip
METRICS = {
    "mean cosine": "mean_cosine",
    "self-similarity, adjusted": "self_similarity_adjusted",
    "intra-sentence, adjusted": "intra_sentence_similarity_adjusted",
    "explainable variance, adjusted": "maximum_explainable_variance_adjusted",
    "IsoScore": "isoscore",
    "effective rank": "effective_rank",
    "first 3 components": "top_3_variance",
}
PAIRS = {
    "STS benchmark, development set": "sts/stsb-en-dev.csv",
    "SimLex-999": "wordsim/EN-SIMLEX-999.txt",
}
POOLINGS = ("cls", "mean", "max")
CURES = ("none", "mean_removal", "z_score", "all_but_the_top", "whitening")


def space_rows(spaces: Anisotropy, rogues: RogueDimensions) -> Iterator[list[str]]:
    """One row for each layer of a model."""
    for index, layer in enumerate(spaces.layers):
        values = [spaces.metrics[key][index] for key in METRICS.values()]
        cells = ["" if one is None else f"{one:.1f}" if abs(one) >= 10 else f"{one:.3f}" for one in values]
        yield [spaces.model, str(layer), *cells, f"{rogues.shares[index][0]:.0%} ({rogues.top[index][0]})"]


def similarity_rows(scores: SimilarityScores) -> Iterator[list[str]]:
    """One row for each pooling: the last layer and the best one, by cure."""
    for pooling in POOLINGS:
        cells = []
        for cure in CURES:
            found = {one.layer: one.spearman for one in scores.scores if (one.pooling, one.cure) == (pooling, cure)}
            known = {layer: value for layer, value in found.items() if value is not None}
            best = max(known, key=known.__getitem__, default=None)
            last = known.get(scores.layer_count - 1)
            said = "–" if last is None else f"{100 * last:.1f}"
            cells.append(said if best is None else f"{said} (best {100 * known[best]:.1f}, layer {best})")
        yield [scores.model, pooling, *cells]


def compare_pairs(registry: Registry, models: list[str], name: str, file: str) -> list[SimilarityScores]:
    """What cosines and people say of one set of pairs; nothing where it is not at hand."""
    if not (EVAL / file).is_file():
        print(f"\n{name} is not at {EVAL / file}: left out.")
        return []
    pairs = read_pair_file(EVAL / file)
    ask = partial(compare_similarity, pairs=pairs, name=name, poolings=POOLINGS, cures=CURES)
    return [registry.run(model, ask) for model in models]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="several times; else MiniLM in its forms, and the minis")
    parser.add_argument("--ours", action="store_true", help="the sentences that ship instead of the treebank's")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    registry, models = explorer.open_registry(), options.model or list(MODELS)
    real = [] if options.ours else read_treebank_sentences()
    corpus = {
        "sentences": real or read_own_corpus(),
        "corpus": "UD English EWT, development set" if real else OWN_CORPUS,
    }
    spaces = [registry.run(model, partial(measure_anisotropy, **corpus)) for model in models]
    rogues = [registry.run(model, partial(find_rogue_dimensions, places=0, **corpus)) for model in models]
    similarity = {name: compare_pairs(registry, models, name, file) for name, file in PAIRS.items()}
    if options.json:
        found = {"spaces": spaces, "rogue_dimensions": rogues, "similarity": similarity}
        print(json.dumps({"machine": describe_machine()} | to_json(found)))
        return
    rows = [row for space, rogue in zip(spaces, rogues, strict=True) for row in space_rows(space, rogue)]
    print_table(str(spaces[0].protocol), ["model", "layer", *METRICS, "largest (which)"], rows)
    for name, scores in similarity.items():
        if scores:
            rows = [row for score in scores for row in similarity_rows(score)]
            print_table(f"{name}: {scores[0].pairs:,} pairs, Spearman x 100", ["model", "pooling", *CURES], rows)


if __name__ == "__main__":
    main()
