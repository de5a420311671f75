"""What models do with sentences made to test them: minimal pairs of grammar, and words that topic alone gets wrong."""

import gzip
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.models.card import Ability
from explorer.training.rows import edges

ROOT = Path(__file__).parents[1]
BLIMP = Path(os.environ.get("EXPLORER_EVAL_DATA", ROOT / "../shared/eval")) / "blimp_dev.jsonl.gz"

# A sentence, the right word, and the word around it that a model repeats which only knows the topic.
PAIRS = (
    ("He is the king and she is the ___.", "queen", "king"),
    ("Paris is the capital of ___.", "France", "Paris"),
    ("His father is an actor, and his ___ is a singer.", "mother", "father"),
    ("The brother and the ___ grew up in the same house.", "sister", "brother"),
    ("Berlin is the largest city in ___.", "Germany", "Berlin"),
    ("In Italy most people speak ___.", "Italian", "Italy"),
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
        pairs_right: How many of the pairs come right; None = the model fills no blanks.
        pairs: How many of them its vocabulary can spell.
        blimp: Share of BLiMP's pairs whose grammatical sentence is the likelier one, in [0, 1]; None = not measured.
        blimp_pairs: How many that is about.
        paradigms: The same share for each paradigm.
    """

    model: str
    pairs_right: int | None
    pairs: int
    blimp: float | None
    blimp_pairs: int
    paradigms: dict[str, float]


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
    """The pairs, if the model fills blanks; and BLiMP, if it says how likely a sentence is."""
    fills = Ability.FILL_BLANKS in model.card.abilities
    right, spelled = count_pairs(model) if fills else (None, 0)
    score = next((how for ability, how in LIKELIHOODS.items() if ability in model.card.abilities), None)
    if not blimp or score is None:
        return Skills(name, right, spelled, None, 0, {})
    paradigms = {}
    for paradigm, pairs in blimp.items():
        flat = score(model, [sentence for pair in pairs for sentence in pair]).view(-1, 2)
        paradigms[paradigm] = (flat[:, 0] > flat[:, 1]).double().mean().item()
    count = sum(len(pairs) for pairs in blimp.values())
    share = sum(paradigms[paradigm] * len(pairs) for paradigm, pairs in blimp.items()) / count
    return Skills(name, right, spelled, share, count, paradigms)


def count_pairs(model: LoadedModel) -> tuple[int, int]:
    """How many pairs have the right word above the repeated one, and how many the vocabulary can spell."""
    right = spelled = 0
    tokenizer = model.tokenizer
    for sentence, *words in PAIRS:
        ids = tokenizer(sentence.replace("___", tokenizer.mask_token)).input_ids
        spellings = [tokenizer(f" {word}", add_special_tokens=False).input_ids for word in words]
        if any(len(spelling) != 1 for spelling in spellings):
            continue
        (logits,) = masked_logits(model, [Row(tuple(ids), (ids.index(tokenizer.mask_token_id),))])
        spelled += 1
        right += int(logits[0, spellings[0][0]] > logits[0, spellings[1][0]])
    return right, spelled


def pseudo_log_likelihoods(model: LoadedModel, sentences: Sequence[str]) -> Tensor:
    """Sum over the tokens of a sentence of their log-probability with that token alone masked, in nats; [sentence].

    Source: Salazar et al. 2020, https://arxiv.org/abs/1910.14659
    """
    rows, owners, targets = [], [], []
    before, after = (len(side) for side in edges(model.tokenizer))
    for owner, ids in enumerate(model.tokenizer(list(sentences)).input_ids):
        for position in range(before, len(ids) - after):
            masked = (*ids[:position], model.tokenizer.mask_token_id, *ids[position + 1 :])
            rows.append(Row(masked, (position,)))
            owners.append(owner)
            targets.append(ids[position])
    logits = torch.cat(masked_logits(model, rows)).log_softmax(dim=-1).cpu()
    of_tokens = logits.gather(1, torch.tensor(targets)[:, None])[:, 0]
    return torch.zeros(len(sentences)).index_add(0, torch.tensor(owners), of_tokens)


@torch.inference_mode()
def log_likelihoods(model: LoadedModel, sentences: Sequence[str]) -> Tensor:
    """Sum over the tokens of a sentence of their log-probability given those before, in nats; [sentence]."""
    return _sum_of_tokens(model, sentences, lambda ids: [(model.network(ids[:, :-1]).logits, ids[:, 1:])])


@torch.inference_mode()
def both_ways_log_likelihoods(model: LoadedModel, sentences: Sequence[str]) -> Tensor:
    """The same from the left and from the right, added."""

    def predict(ids: Tensor) -> list[tuple[Tensor, Tensor]]:
        output = model.network(ids)
        return [(output.forward_logits, ids), (output.backward_logits, ids)]

    return _sum_of_tokens(model, sentences, predict)


def _sum_of_tokens(
    model: LoadedModel, sentences: Sequence[str], predict: Callable[[Tensor], list[tuple[Tensor, Tensor]]]
) -> Tensor:
    totals = []
    for sentence in sentences:
        ids = torch.tensor([model.tokenizer(sentence).input_ids], device=model.network.device)
        parts = [
            logits.float().log_softmax(dim=-1).gather(2, targets[:, :, None]).sum() for logits, targets in predict(ids)
        ]
        totals.append(sum(parts).cpu())
    return torch.stack(totals)


LIKELIHOODS = {
    Ability.FILL_BLANKS: pseudo_log_likelihoods,
    Ability.GENERATE: log_likelihoods,
    Ability.PREDICT_BOTH_WAYS: both_ways_log_likelihoods,
}
