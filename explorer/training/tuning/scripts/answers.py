"""Fine-tune an encoder to find answers in a passage, as the Language model explorer did; needs torch, transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), question, passage, answer, start
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

The answer stands word for word in the passage; start says where, in characters, if it is there more than once. With
the method "lora" it needs peft as well.
"""

from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from explorer.training.tuning.scripts.encoders import EncoderTask, LinearHead
from explorer.training.tuning.scripts.matching import normalise
from explorer.training.tuning.scripts.running import in_batches, main

MOST_ANSWER_TOKENS = 30


def overlap(predicted: str, gold: str) -> float:
    """F1 of two answers' words."""
    found, wanted = normalise(predicted).split(), normalise(gold).split()
    shared = (Counter(found) & Counter(wanted)).total()
    return 2 * shared / (len(found) + len(wanted)) if found or wanted else 1.0


class Answers(EncoderTask):
    """Two scores for each token of the passage, as the answer's first and last; the first token stands for "not here".

    A passage that is too long is read in windows that overlap by half.
    """

    score_name = "f1"

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__(network, tokenizer, rows)
        self.head = LinearHead(self.body, 2)

    def read(self, row: dict) -> dict:
        """Ids and types of each window, which of its tokens are the passage's and where they stand, and the answer."""
        passage, answer, near = row["passage"], row["answer"], int(row.get("start") or 0)
        marks = self.tokenizer.num_special_tokens_to_add(pair=True)
        asked = self.tokenizer(row["question"], add_special_tokens=False, return_offsets_mapping=True)
        kept = asked["offset_mapping"][: self.limit - self.limit // 4 - marks]  # of a very long question the beginning
        room = max(1, self.limit - len(kept) - marks)
        encoded = self.tokenizer(
            row["question"][: kept[-1][1]] if kept else "",
            passage,
            truncation="only_second",
            max_length=self.limit,
            stride=room - max(1, room // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        starts = [at for at in range(len(passage)) if answer and passage.startswith(answer, at)]
        start = min(starts, key=lambda at: abs(at - near), default=-1)
        windows = []
        for number, offsets in enumerate(encoded["offset_mapping"]):
            places = [place for place, part in enumerate(encoded.sequence_ids(number)) if part == 1]
            spans = [tuple(offsets[place]) for place in places]
            windows.append({"places": [0, *places], "spans": spans, "target": [0, 0]})
            covers = starts and spans[0][0] <= start and start + len(answer) <= spans[-1][1]
            if covers:
                holding = [n for n, (first, last) in enumerate(spans) if first < start + len(answer) and last > start]
                windows[-1]["target"] = [holding[0] + 1, holding[-1] + 1]
        return {
            "readings": encoded["input_ids"],
            "types": encoded["token_type_ids"],
            "windows": windows,
            "passage": passage,
            "answer": answer,
        }

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item the tokens of all its windows, [layer, token, dim]."""
        readings = [ids for item in items for ids in item["readings"]]
        states, _ = self.states(readings, [types for item in items for types in item["types"]])
        found = iter(states.unbind(dim=1))
        return [torch.cat([next(found)[:, window["places"]] for window in item["windows"]], dim=1) for item in items]

    def logs(self, items: list[dict]) -> list[list[torch.Tensor]]:
        """Log-probabilities of the places of each item's windows, [place, 2]."""
        sizes = [len(window["places"]) for item in items for window in item["windows"]]
        parts = iter(self.head(torch.cat(self.vectors(items), dim=1)).split(sizes))
        return [[next(parts).log_softmax(dim=0) for _ in item["windows"]] for item in items]

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Mean of the windows, then of the questions whose answer is there."""
        losses = []
        for item, logs in zip(items, self.logs(items), strict=True):
            targets = [torch.tensor(window["target"], device=self.device) for window in item["windows"]]
            of_windows = [F.nll_loss(log.T, target) for log, target in zip(logs, targets, strict=True)]
            losses.append(torch.stack(of_windows).mean())
        known = [float(any(any(window["target"]) for window in item["windows"])) for item in items]
        return (torch.stack(losses) * torch.tensor(known, device=self.device)).sum() / max(1.0, sum(known))

    def find(self, item: dict, logs: list[torch.Tensor]) -> str:
        """The likeliest answer of all windows."""
        best, found = -float("inf"), ""
        for window, log in zip(item["windows"], logs, strict=True):
            sums = log[1:, 0, None] + log[None, 1:, 1]  # [first, last]
            allowed = torch.ones_like(sums, dtype=torch.bool).triu().tril(MOST_ANSWER_TOKENS - 1)
            value, place = sums.masked_fill(~allowed, -float("inf")).flatten().max(dim=0)
            if value > best:
                first, last = divmod(int(place), len(window["spans"]))
                best = float(value)
                found = item["passage"][window["spans"][first][0] : window["spans"][last][1]].strip()
        return found

    def score(self, items: list[dict]) -> float:
        """Mean F1 of words."""
        found = [self.find(*one) for some in in_batches(items, 8) for one in zip(some, self.logs(some), strict=True)]
        return sum(overlap(one, item["answer"]) for one, item in zip(found, items, strict=True)) / len(items)


if __name__ == "__main__":
    main(Answers)
