"""BLiMP by score_texts against a plain script: one full forward pass for each sentence, or each masked token.

The sums are asserted to be the same, and so is the share of pairs whose grammatical sentence is the likelier one; the
time never is. The pairs are read from EXPLORER_EVAL_DATA.

    python benchmarks/blimp.py [--model NAME | --folder FOLDER] [--pairs-each 10] [--json]
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

import torch
from measuring import describe_machine, print_table
from skills import BLIMP, read_blimp
from transformers.utils import logging

import explorer
from explorer.analysis import score_texts
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability, LocalFolder, ModelCard
from explorer.settings import settings

TOLERANCE = 1e-3  # of sums, in nats


@dataclass(frozen=True)
class Agreement:
    """What both say of the same pairs.

    Attributes:
        model: Its name.
        pairs: How many.
        ours: Share of pairs whose grammatical sentence is likelier, in [0, 1], by score_texts.
        theirs: The same by the plain script.
        largest_difference: Of two sums, in nats.
        our_seconds: For all sentences.
        their_seconds: Likewise.
    """

    model: str
    pairs: int
    ours: float
    theirs: float
    largest_difference: float
    our_seconds: float
    their_seconds: float


@torch.inference_mode()
def plain_causal(model: LoadedModel, sentence: str) -> float:
    """One pass over the sentence behind the token that starts a text, with a head everywhere."""
    tokenizer = model.tokenizer
    ids = tokenizer(sentence, add_special_tokens=False)["input_ids"]
    if tokenizer.bos_token_id is not None:
        ids = [tokenizer.bos_token_id, *ids]
    row = torch.tensor([ids], device=model.network.device)
    scores = model.network(input_ids=row).logits[0, :-1].float().log_softmax(dim=-1)
    return scores.gather(1, row[0, 1:, None]).sum().item()


@torch.inference_mode()
def plain_masked(model: LoadedModel, sentence: str) -> float:
    """One pass for each token, with that token masked.

    Source: Salazar et al. 2020, https://arxiv.org/abs/1910.14659
    """
    encoded = model.tokenizer(sentence, return_special_tokens_mask=True)
    ids, total = encoded["input_ids"], 0.0
    for place, is_special in enumerate(encoded["special_tokens_mask"]):
        if not is_special:
            row = torch.tensor([ids], device=model.network.device)
            row[0, place] = model.tokenizer.mask_token_id
            total += model.network(input_ids=row).logits[0, place].float().log_softmax(dim=-1)[ids[place]].item()
    return total


def measure(model: LoadedModel, pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Score all sentences in both ways; an error if a sum differs."""
    plain = plain_masked if Ability.FILL_BLANKS in model.card.abilities else plain_causal
    sentences = [sentence for pair in pairs for sentence in pair]
    most = settings().most_texts
    score_texts(model, sentences[:4])
    began = time.perf_counter()
    ours = [
        score.log_probability
        for first in range(0, len(sentences), most)
        for score in score_texts(model, sentences[first : first + most])
    ]
    between = time.perf_counter()
    theirs = [plain(model, sentence) for sentence in sentences]
    ended = time.perf_counter()
    largest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    assert largest < TOLERANCE, f"sums differ by {largest} nats"
    shares = [sum(sums[i] > sums[i + 1] for i in range(0, len(sums), 2)) / len(pairs) for sums in (ours, theirs)]
    assert shares[0] == shares[1], shares
    return Agreement(model.card.name, len(pairs), *shares, largest, between - began, ended - between)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="MiniLM (causal)")
    parser.add_argument("--folder", help="instead: a causal model as save_pretrained writes it")
    parser.add_argument("--pairs-each", type=int, default=10, help="of each paradigm")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.set_verbosity_error()
    pairs = [pair for some in read_blimp(options.pairs_each).values() for pair in some]
    if not pairs:
        print(f"There are no pairs at {BLIMP}: set EXPLORER_EVAL_DATA to the folder of the evaluation data. Left out.")
        return
    registry, name = explorer.open_registry(), options.model
    if options.folder:
        name = options.folder
        abilities = frozenset({Ability.GENERATE})
        registry = registry.with_card(ModelCard(name, LocalFolder(name), "llama", abilities, "", "unknown", "", ""))
    result = registry.run(name, partial(measure, pairs=pairs))
    if options.json:
        print(json.dumps({"machine": describe_machine(), **asdict(result)}))
        return
    row = [result.model, f"{result.ours:.1%}", f"{result.theirs:.1%}", f"{result.largest_difference:.1e} nats"]
    times = [f"{result.our_seconds:.1f} s", f"{result.their_seconds:.1f} s"]
    head = ["model", "score_texts", "plain script", "largest difference", "score_texts takes", "plain script takes"]
    print_table(f"BLiMP, {result.pairs} pairs", head, [[*row, *times]])


if __name__ == "__main__":
    main()
