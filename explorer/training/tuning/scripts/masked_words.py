"""Let a masked model learn a domain, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

The score depends a little on which words are masked. With the method "lora" it needs peft as well.
"""

import math
import zlib

import torch
from torch.nn import functional as F
from transformers import AutoModelForMaskedLM

from explorer.training.tuning.scripts.running import main
from explorer.training.tuning.scripts.windows import DomainTask

MASK_SHARE, MASKINGS = 0.15, 3


class MaskedWords(DomainTask):
    """Of 15 % of the tokens 80 % become the mask, 10 % another token, 10 % stay; all of them are to be predicted."""

    auto_class = AutoModelForMaskedLM
    score_name = "perplexity"

    def losses(self, items: list[dict], generator: torch.Generator | None = None) -> torch.Tensor:
        """Cross-entropy of each token that was picked."""
        ids, there = self.pad_windows(items)
        chance, fate = (torch.rand(ids.shape, generator=generator).to(self.device) for _ in range(2))
        others = torch.randint(len(self.tokenizer), ids.shape, generator=generator).to(self.device)
        special = torch.isin(ids, torch.tensor(self.tokenizer.all_special_ids, device=self.device))
        picked = (chance < MASK_SHARE) & ~special & there.bool()
        inputs = ids.masked_fill(picked & (fate < 0.8), self.tokenizer.mask_token_id)
        inputs = torch.where(picked & (fate >= 0.9), others, inputs)
        logits = self.network(input_ids=inputs, attention_mask=there, return_dict=True).logits[picked].float()
        return F.cross_entropy(logits, ids[picked], reduction="none")

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Their mean; 0 where none was picked."""
        losses = self.losses(items)
        return losses.sum() / max(1, len(losses))

    def score(self, items: list[dict]) -> float:
        """Perplexity of several maskings of each text, the same ones each time."""
        losses = []
        for item in items:
            generator = torch.Generator().manual_seed(zlib.crc32(repr(item["readings"]).encode()))
            losses += [self.losses([item], generator) for _ in range(MASKINGS)]
        return math.exp(torch.cat(losses).mean())


if __name__ == "__main__":
    main(MaskedWords)
