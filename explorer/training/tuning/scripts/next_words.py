"""Let a causal model learn a domain, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

With the method "lora" it needs peft as well.
"""

import math

import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM

from explorer.training.tuning.scripts.running import in_batches, main
from explorer.training.tuning.scripts.windows import DomainTask


class NextWords(DomainTask):
    """Every token but the first of a window is to be predicted from those before it, and where the text ends."""

    auto_class = AutoModelForCausalLM
    score_name = "bits_per_byte"
    learns_ends = True

    def losses(self, items: list[dict], *, has_ends: bool = True) -> torch.Tensor:
        """Cross-entropy of each token, those that tell an end included or not."""
        ids, there = self.pad_windows(items)
        logits = self.network(input_ids=ids, attention_mask=there, use_cache=False, return_dict=True).logits
        predicted, window = there[:, 1:].bool(), -1
        for item in items:
            window += len(item["readings"])
            if item["has_end"] and not has_ends:
                predicted[window, len(item["readings"][-1]) - 2] = False
        return F.cross_entropy(logits[:, :-1][predicted].float(), ids[:, 1:][predicted], reduction="none")

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Their mean."""
        return self.losses(items).mean()

    def score(self, items: list[dict]) -> float:
        """Bits per byte, which compares models of different tokenizers; an end is no part of a text."""
        nats = sum(self.losses(some, has_ends=False).sum().item() for some in in_batches(items, 8))
        return nats / math.log(2) / sum(item["bytes"] for item in items)


if __name__ == "__main__":
    main(NextWords)
