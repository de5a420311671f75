"""The models that this project trained, on documents kept apart: against chance, frequency, full precision.

Every number is about the same rows and the same corruption for all models of one vocabulary.

    python benchmarks/pretraining.py [--corpus FILE] [--only NAME] [--full FOLDER=NAME] [--blimp-pairs 20] [--json]
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from measuring import describe_machine, print_table
from skills import Skills, measure_skills, read_blimp

from explorer.models.backend import LoadedModel
from explorer.models.card import Bundled, ModelCard
from explorer.models.catalogue import CATALOGUE
from explorer.models.loading import load_model
from explorer.models.memory import choose_device
from explorer.models.progress import ignore
from explorer.settings import settings
from explorer.training.causal import bits_per_byte
from explorer.training.corpus import Corpus, load_corpus
from explorer.training.masker import Masker
from explorer.training.objectives import (
    MEASURED_TOKENS,
    TAUGHT_BY,
    Measured,
    format_score,
    held_out_rows,
    measure_held_out,
)
from explorer.training.spans import find_words
from explorer.training.starting import start_network

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("EXPLORER_CORPUS", ROOT / "../shared/corpus/wikipedia.txt.xz"))
LENGTHS = (64, 128)


def objective_of(card: ModelCard) -> str | None:
    """What a bundled model was trained for; None = it is not one of ours."""
    if not isinstance(card.source, Bundled):
        return None
    return next((objective for ability, objective in TAUGHT_BY.items() if ability in card.abilities), None)


def contestants(only: str, full: tuple[Path, str] | None, device: str) -> Iterator[tuple[str, str, LoadedModel]]:
    """Name, objective and model, one in memory at a time; behind each kind of network one of random weights."""
    twins = set()
    for card in CATALOGUE:
        if (objective := objective_of(card)) is None or only not in card.name:
            continue
        model = load_model(card, device=device, progress=ignore)
        yield card.name, objective, model
        if full and full[1] == card.name:
            start = start_network(objective, str(full[0]), cache=full[0])
            yield f"{card.name} in full precision", objective, replace(model, network=start.network.to(device).eval())
        if (kind := (objective, model.network.config.to_json_string())) not in twins:
            twins.add(kind)
            torch.manual_seed(0)
            twin = type(model.network)(model.network.config).to(device).eval()
            yield f"random weights (as {card.name})", objective, replace(model, network=twin)


def measure_unigram(objective: str, model: LoadedModel, corpus: Corpus, tokens: int) -> Iterator[Measured]:
    """What a model gets that expects tokens as often as training documents have them, whatever it reads."""
    counts = 1 + np.bincount(corpus.train[0].ids, minlength=len(model.tokenizer))  # add-one smoothing
    log_probabilities = torch.from_numpy(np.log(counts / counts.sum()))
    for length in LENGTHS:
        rows = held_out_rows(
            corpus.held_out[0], model.tokenizer, objective=objective, length_tokens=length, tokens=tokens
        )
        if rows is None:
            continue
        scores: dict[str, float] = {}
        if objective == "masked":
            _, picked = Masker(model.tokenizer).mask(rows, torch.Generator().manual_seed(0))
            targets = rows[picked]
            for k in (1, 5):
                best = log_probabilities.topk(k).indices
                scores[f"top-{k}"] = torch.isin(targets, best).double().mean().item()
        elif objective == "span":
            best = log_probabilities.argmax().item()
            words = [[row[a:b] for a, b in find_words(model.tokenizer, row)] for row in rows.tolist()]
            targets = torch.tensor([token for row in words for word in row for token in word])
            scores["exact match"] = float(np.mean([word == [best] for row in words for word in row]))
        else:
            targets = rows[:, 1:].flatten() if objective == "causal" else rows.flatten()
        loss = -log_probabilities[targets].mean().item()
        if objective in ("causal", "bilm"):
            scores["bits per byte"] = bits_per_byte(loss, corpus.held_out[0].bytes_per_token)
        yield Measured("in any context", length, len(targets), {"loss": loss, **scores}, corpus.names[0])


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="corpus file whose held-out documents are used")
    parser.add_argument("--cache", type=Path, default=Path("runs/tokens"), help="folder of tokenized corpora")
    parser.add_argument("--tokens", type=int, default=MEASURED_TOKENS, help="how much text is measured, per length")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--full", help="FOLDER=NAME: a model before its weights were rounded, measured beside NAME")
    parser.add_argument("--blimp-pairs", type=int, default=20, help="pairs of each of BLiMP's paradigms; 0 = none")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = read_options()
    if not options.corpus.exists():
        print(f"Skipped: there is no corpus file {options.corpus}. Name one with --corpus or EXPLORER_CORPUS.")
        return
    full = None
    if options.full:
        folder, _, name = options.full.partition("=")
        full = Path(folder), name
    machine, device = describe_machine(), choose_device(settings().device)
    blimp = read_blimp(options.blimp_pairs)
    reports: dict[str, list[Measured]] = {}
    skills: list[Skills] = []
    for name, objective, model in contestants(options.only, full, device):
        corpus = load_corpus([options.corpus], model.tokenizer, options.cache)
        unigram = f"unigram, {len(model.tokenizer):,} tokens, {objective}"
        if unigram not in reports and objective != "replaced":
            reports[unigram] = list(measure_unigram(objective, model, corpus, options.tokens))
        reports[name] = [
            measured
            for length in LENGTHS
            for measured in measure_held_out(
                objective,
                model.network,
                model.tokenizer,
                corpus,
                length_tokens=length,
                tokens_per_file=options.tokens,
            )
        ]
        skills.append(measure_skills(name, model, blimp))

    if options.json:
        held_out = [{"model": name, **asdict(each)} for name, some in reports.items() for each in some]
        about = {"machine": machine, "device": device, "corpus": options.corpus.name}
        json.dump(about | {"held_out": held_out, "skills": [asdict(each) for each in skills]}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in (machine | {"device": device}).items()))
    print_table(
        f"Held-out documents of {options.corpus.name}",
        ("model", "what is predicted", "tokens per row", "scores", "n"),
        [
            (
                name,
                each.what,
                each.length_tokens,
                ", ".join(f"{score} {format_score(score, value)}" for score, value in each.scores.items()),
                f"{each.count:,}",
            )
            for name, some in reports.items()
            for each in some
        ],
    )
    print_table(
        'Pairs of the kind "queen" above "king"; BLiMP, by (pseudo-)log-likelihood',
        ("model", "pairs right", "BLiMP", "n"),
        [
            (
                each.model,
                "-" if each.pairs_right is None else f"{each.pairs_right}/{each.pairs}",
                "-" if each.blimp is None else f"{each.blimp:.1%}",
                f"{each.blimp_pairs:,}",
            )
            for each in skills
        ],
    )


if __name__ == "__main__":
    main()
