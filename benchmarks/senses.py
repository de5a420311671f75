"""How well the layers of models tell the senses of SemCor's words apart, beside what can be had without a model.

60 lemmas of two senses or more, 20 uses or more of each sense, in running text of the Brown corpus. For each model and
layer: the share of uses whose nearest other use has the same sense, and that are nearest to the mean of the other uses
of their sense, as the mean over lemmas; the best layer of each is chosen on the same uses, which flatters it a little.
Beside them: the most frequent sense, and a bag of the sentence's words. Intervals resample lemmas. Read from
EXPLORER_EVAL_DATA; with --ours the labelled sentences that ship are taken instead.

    python benchmarks/senses.py [--model NAME ...] [--lemmas 60] [--most-uses 200] [--ours] [--json]
"""

import argparse
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from corpora import SEMCOR, read_semcor
from measuring import BOOTSTRAP_SAMPLES, describe_machine, print_table
from transformers.utils import logging

import explorer
from explorer.analysis import score_senses
from explorer.analysis.sense_results import SenseScores
from explorer.analysis.sense_sentences import read_sense_sentences, sense_words

MODELS = (
    "all-MiniLM-L6-v2", "MiniLM (masked)", "MiniLM (causal)", "MiniLM (span)", "GPT mini", "ELMo mini", "BERT mini",
    "T5 mini", "ELECTRA mini",
)  # fmt: skip


@dataclass(frozen=True)
class Uses:
    """The labelled uses of one word.

    Attributes:
        word: The lemma and its part of speech.
        sentences: One for each use.
        positions: Where it stands, in characters.
        senses: Its sense.
    """

    word: str
    sentences: list[str]
    positions: list[tuple[int, int]]
    senses: list[str]


def read_lemmas(most_lemmas: int, most_uses: int) -> list[Uses]:
    """The words of SemCor: tokens joined by spaces, and "_" within a token read as a space."""
    lemmas: dict[str, list[dict]] = defaultdict(list)
    for use in read_semcor():
        lemmas[f"{use['lemma']} ({use['pos']})"].append(use)
    found = []
    for word, uses in list(lemmas.items())[:most_lemmas]:
        some = [uses[index] for index in sorted(np.random.default_rng(0).permutation(len(uses))[:most_uses])]
        sentences, positions = [], []
        for use in some:
            words = [token.replace("_", " ") for token in use["words"]]
            start = sum(len(token) + 1 for token in words[: use["index"]])
            sentences.append(" ".join(words))
            positions.append((start, start + len(words[use["index"]])))
        found.append(Uses(word, sentences, positions, [use["sense"] for use in some]))
    return found


def read_ours() -> list[Uses]:
    """The labelled sentences that ship."""
    found = []
    for word in sense_words():
        entries = read_sense_sentences(word)
        spans = [(entry.start, entry.end) for entry in entries]
        found.append(Uses(word, [e.sentence for e in entries], spans, [e.sense for e in entries]))
    return found


def mean_of(numbers: list[float]) -> str:
    """Mean over words in per cent, and its 95 % interval when words are drawn anew."""
    drawn = np.random.default_rng(0).integers(0, len(numbers), (BOOTSTRAP_SAMPLES, len(numbers)))
    low, high = np.percentile(np.array(numbers)[drawn].mean(axis=1), [2.5, 97.5])
    return f"{100 * np.mean(numbers):.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def layer_rows(model: str, scores: list[SenseScores]) -> list[list[str]]:
    """One row for each layer: means over words."""
    rows = []
    for number, layer in enumerate(scores[0].layers):
        those = [score.layers[number] for score in scores]
        rows.append(
            [
                model,
                str(layer.layer),
                mean_of([one.nearest.value for one in those]),
                mean_of([one.centroid.value for one in those]),
                f"{np.mean([one.silhouette.value for one in those]):+.3f}",
                f"{np.mean([one.self_similarity.value for one in those]):.2f}",
                f"{np.mean([one.baseline.value for one in those if one.baseline]):.2f}",
            ]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", help="several times; else MiniLM in its forms, and the minis")
    parser.add_argument("--lemmas", type=int, default=60)
    parser.add_argument("--most-uses", type=int, default=200, help="of each lemma, drawn at random")
    parser.add_argument("--ours", action="store_true", help="the sentences that ship instead of SemCor")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    words = read_ours() if options.ours else read_lemmas(options.lemmas, options.most_uses)
    if not words:
        raise SystemExit(f"There are no uses at {SEMCOR}: set EXPLORER_EVAL_DATA to the folder of the evaluation data.")
    registry, found = explorer.open_registry(), {}
    for model in options.model or MODELS:
        found[model] = [
            registry.run(model, partial(score_senses, sentences=w.sentences, positions=w.positions, senses=w.senses))
            for w in words
        ]
    if options.json:
        scores = {model: [asdict(score) for score in all_words] for model, all_words in found.items()}
        print(json.dumps({"machine": describe_machine(), "words": [w.word for w in words], "scores": scores}))
        return
    rows = [row for model, scores in found.items() for row in layer_rows(model, scores)]
    any_model = next(iter(found.values()))
    for name, numbers in (
        ("chance of a sense", [score.chance_centroid for score in any_model]),
        ("most frequent sense", [score.most_frequent for score in any_model]),
        ("bag of words", [score.bag_of_words for score in any_model]),
    ):
        rows.append([name, "", "", mean_of(numbers), "", "", ""])
    head = ["model", "layer", "nearest use, %", "centroid, %", "silhouette", "self-similarity", "random words"]
    source = "our sentences" if options.ours else "SemCor"
    print_table(f"{source}: {len(words)} words, {sum(len(w.senses) for w in words):,} uses", head, rows)


if __name__ == "__main__":
    main()
