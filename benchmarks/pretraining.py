"""The masked models that this project trained, on documents kept apart: against chance, frequency, full precision.

Every number is about the same rows and the same masks for all models of one tokenizer.

    python benchmarks/pretraining.py [--corpus FILE] [--full FOLDER] [--blimp-pairs 20] [--json]
"""

import argparse
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from measuring import describe_machine, print_table
from torch import Tensor
from transformers import AutoModelForMaskedLM, PreTrainedTokenizerBase

from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.card import Ability, Bundled
from explorer.models.catalogue import CATALOGUE
from explorer.models.delta import apply_delta, write_delta
from explorer.models.loading import load_model
from explorer.models.memory import choose_device
from explorer.models.progress import ignore
from explorer.settings import settings
from explorer.training.corpus import Corpus, load_corpus
from explorer.training.masked import MaskedReport, special_tokens
from explorer.training.masking import ALL_MASKED, BERT_CORRUPTION, MASK_SHARE, Corruption, mask_tokens
from explorer.training.reporting import MEASURED_TOKENS, held_out_rows, report_masked
from explorer.training.starting import published_weights, start_masked

ROOT = Path(__file__).parents[1]
CORPUS = Path(os.environ.get("EXPLORER_CORPUS", ROOT / "../shared/corpus/wikipedia.txt.xz"))
BLIMP = Path(os.environ.get("EXPLORER_EVAL_DATA", ROOT / "../shared/eval")) / "blimp_dev.jsonl.gz"
LENGTHS = (64, 128)
CORRUPTIONS = (BERT_CORRUPTION, ALL_MASKED, Corruption(masked=0.9, randomized=0.0))
START = "MiniLM"  # what --full was trained from

# A sentence, the right word, and the word around it that a model repeats which only knows the topic.
PAIRS = (
    ("He is the king and she is the ___.", "queen", "king"),
    ("Paris is the capital of ___.", "france", "paris"),
    ("His father is an actor, and his ___ is a singer.", "mother", "father"),
    ("The brother and the ___ grew up in the same house.", "sister", "brother"),
    ("Berlin is the largest city in ___.", "germany", "berlin"),
    ("In Italy most people speak ___.", "italian", "italy"),
    ("It is cold in winter and warm in ___.", "summer", "winter"),
    ("The night was followed by a sunny ___.", "day", "night"),
    ("The boys played football, and the ___ watched them.", "girls", "boys"),
    ("The husband and his ___ bought a house.", "wife", "husband"),
    ("He closed his left eye and opened his ___ eye.", "right", "left"),
    ("The war ended, and at last there was ___.", "peace", "war"),
)


@dataclass(frozen=True)
class Skills:
    """What a model does with sentences made to test it.

    Attributes:
        model: Its name.
        pairs_right: How many of the pairs come right.
        pairs: How many there are.
        blimp: Share of BLiMP's pairs whose grammatical sentence is the likelier one, in [0, 1]; None = not measured.
        blimp_pairs: How many that is about.
        paradigms: The same share for each paradigm.
    """

    model: str
    pairs_right: int
    pairs: int
    blimp: float | None
    blimp_pairs: int
    paradigms: dict[str, float]


def contestants(full: Path | None, device: str) -> Iterator[tuple[str, LoadedModel]]:
    """Names and models, one in memory at a time."""
    model = None
    for name, model in shipped_models(device):
        yield name, model
    if full:
        yield from with_and_without_delta(full, model, device)


def shipped_models(device: str) -> Iterator[tuple[str, LoadedModel]]:
    """The masked models in assets, each kind of network followed by one of random weights."""
    twins = set()
    for card in CATALOGUE:
        if not isinstance(card.source, Bundled) or Ability.FILL_BLANKS not in card.abilities:
            continue
        model = load_model(card, device=device, progress=ignore)
        yield card.name, model
        if (kind := model.network.config.to_json_string()) not in twins:
            twins.add(kind)
            torch.manual_seed(0)
            twin = AutoModelForMaskedLM.from_config(model.network.config).to(device).eval()
            yield f"random weights ({card.model_type})", replace(model, network=twin)


def with_and_without_delta(folder: Path, model: LoadedModel, device: str) -> Iterator[tuple[str, LoadedModel]]:
    """A trained network in full precision, and what is left of it once it went through a delta."""
    full, tokenizer = start_masked(str(folder))
    yield "full precision", replace(model, network=full.to(device).eval(), tokenizer=tokenizer)
    rebuilt, _ = start_masked(START)
    with TemporaryDirectory() as delta:
        size_bytes = write_delta(full, published_weights(START)[1], Path(delta))
        apply_delta(rebuilt, Path(delta))
    name = f"the same from a delta of {size_bytes / 1e6:.1f} MB"
    yield name, replace(model, network=rebuilt.to(device).eval(), tokenizer=tokenizer)


def measure_held_out(model: LoadedModel, corpus: Corpus, tokens: int) -> list[MaskedReport]:
    """The same rows of the held-out documents at each length, masked in each way."""
    return [
        report
        for length in LENGTHS
        for report in report_masked(
            model.network,
            model.tokenizer,
            corpus,
            length_tokens=length,
            tokens_per_file=tokens,
            corruptions=CORRUPTIONS,
        )
    ]


def measure_unigram(corpus: Corpus, tokenizer: PreTrainedTokenizerBase, tokens: int) -> Iterator[MaskedReport]:
    """A model that expects tokens as often as training documents have them (add-one smoothing), whatever it reads."""
    counts = 1 + np.bincount(corpus.train[0].ids, minlength=len(tokenizer))
    log_probabilities = torch.from_numpy(np.log(counts / counts.sum()))
    best = log_probabilities.topk(5).indices
    for length in LENGTHS:
        rows = held_out_rows(corpus.held_out[0], tokenizer, length_tokens=length, tokens=tokens)
        if rows is None:
            continue
        _, picked = mask_tokens(
            rows,
            mask_id=tokenizer.mask_token_id,
            vocab_size=len(tokenizer),
            is_special=special_tokens(tokenizer),
            share=MASK_SHARE,
            generator=torch.Generator().manual_seed(0),
        )
        wanted = rows[picked]
        top1, top5 = (torch.isin(wanted, best[:k]).double().mean().item() for k in (1, 5))
        yield MaskedReport("in any way", length, len(wanted), -log_probabilities[wanted].mean().item(), top1, top5)


def count_pairs(model: LoadedModel) -> tuple[int, int]:
    """How many pairs have the right word above the repeated one, and how many the vocabulary can spell."""
    right = spelled = 0
    for sentence, wanted, repeated in PAIRS:
        ids = model.tokenizer(sentence.replace("___", model.tokenizer.mask_token)).input_ids
        words = [model.tokenizer(word, add_special_tokens=False).input_ids for word in (wanted, repeated)]
        if any(len(word) != 1 for word in words):
            continue
        (logits,) = masked_logits(model, [Row(tuple(ids), (ids.index(model.tokenizer.mask_token_id),))])
        spelled += 1
        right += int(logits[0, words[0][0]] > logits[0, words[1][0]])
    return right, spelled


def pseudo_log_likelihoods(model: LoadedModel, sentences: Sequence[str]) -> Tensor:
    """Sum over the tokens of a sentence of their log-probability with that token alone masked, in nats; [sentence].

    Source: Salazar et al. 2020, https://arxiv.org/abs/1910.14659
    """
    rows, owners, targets = [], [], []
    for owner, ids in enumerate(model.tokenizer(list(sentences)).input_ids):
        for position in range(1, len(ids) - 1):
            masked = (*ids[:position], model.tokenizer.mask_token_id, *ids[position + 1 :])
            rows.append(Row(masked, (position,)))
            owners.append(owner)
            targets.append(ids[position])
    logits = torch.cat(masked_logits(model, rows)).log_softmax(dim=-1).cpu()
    of_tokens = logits.gather(1, torch.tensor(targets)[:, None])[:, 0]
    return torch.zeros(len(sentences)).index_add(0, torch.tensor(owners), of_tokens)


def read_blimp(pairs_each: int) -> dict[str, list[tuple[str, str]]]:
    """Grammatical and ungrammatical sentences, per paradigm.

    Source: Warstadt et al. 2020, https://arxiv.org/abs/1912.00582
    """
    paradigms: dict[str, list[tuple[str, str]]] = {}
    if pairs_each and BLIMP.exists():
        with gzip.open(BLIMP, "rt", encoding="utf-8") as lines:
            for line in map(json.loads, lines):
                some = paradigms.setdefault(line["UID"], [])
                if len(some) < pairs_each:
                    some.append((line["sentence_good"], line["sentence_bad"]))
    return paradigms


def measure_skills(name: str, model: LoadedModel, blimp: dict[str, list[tuple[str, str]]]) -> Skills:
    """The pairs and BLiMP."""
    paradigms = {}
    for paradigm, pairs in blimp.items():
        right = sum(
            int(likelihoods[0] > likelihoods[1]) for likelihoods in (pseudo_log_likelihoods(model, p) for p in pairs)
        )
        paradigms[paradigm] = right / len(pairs)
    count = sum(len(pairs) for pairs in blimp.values())
    share = sum(paradigms[name] * len(pairs) for name, pairs in blimp.items()) / count if count else None
    return Skills(name, *count_pairs(model), share, count, paradigms)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="corpus file whose held-out documents are used")
    parser.add_argument("--cache", type=Path, default=Path("runs/tokens"), help="folder of tokenized corpora")
    parser.add_argument("--tokens", type=int, default=MEASURED_TOKENS, help="how much text is measured, per length")
    parser.add_argument("--full", type=Path, help="folder of a trained model in full precision: what its delta costs")
    parser.add_argument("--blimp-pairs", type=int, default=20, help="pairs of each of BLiMP's paradigms; 0 = none")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main() -> None:
    options = read_options()
    if not options.corpus.exists():
        print(f"Skipped: there is no corpus file {options.corpus}. Name one with --corpus or EXPLORER_CORPUS.")
        return
    machine, device = describe_machine(), choose_device(settings().device)
    blimp = read_blimp(options.blimp_pairs)
    reports: dict[str, list[MaskedReport]] = {}
    skills: list[Skills] = []
    for name, model in contestants(options.full, device):
        corpus = load_corpus([options.corpus], model.tokenizer, options.cache)
        unigram = f"unigram ({len(model.tokenizer):,} tokens)"
        if unigram not in reports:
            reports[unigram] = list(measure_unigram(corpus, model.tokenizer, options.tokens))
        reports[name] = measure_held_out(model, corpus, options.tokens)
        skills.append(measure_skills(name, model, blimp))

    if options.json:
        held_out = [{"model": name, **asdict(report)} for name, some in reports.items() for report in some]
        about = {"machine": machine, "device": device, "corpus": options.corpus.name}
        json.dump(about | {"held_out": held_out, "skills": [asdict(each) for each in skills]}, sys.stdout, indent=2)
        print()
        return
    print("\n".join(f"{key}: {value}" for key, value in (machine | {"device": device}).items()))
    print_table(
        f"Held-out documents of {options.corpus.name}, 15 % of the tokens masked (mask/random/kept in percent)",
        ("model", "tokens per row", "masked as", "loss (nats)", "top-1", "top-5", "n"),
        [
            (
                name,
                r.length_tokens,
                r.masked_as,
                f"{r.loss_nats:.3f}",
                f"{r.top1:.1%}",
                f"{r.top5:.1%}",
                f"{r.picked:,}",
            )
            for name, some in reports.items()
            for r in some
        ],
    )
    print_table(
        'Pairs of the kind "queen" above "king", and BLiMP by pseudo-log-likelihood',
        ("model", "pairs right", "BLiMP", "n"),
        [
            (s.model, f"{s.pairs_right}/{s.pairs}", "-" if s.blimp is None else f"{s.blimp:.1%}", f"{s.blimp_pairs:,}")
            for s in skills
        ],
    )


if __name__ == "__main__":
    main()
