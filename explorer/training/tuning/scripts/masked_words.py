"""Let a masked model learn a domain, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

For the score each token of a held-out text is masked once. With the method "lora" it needs peft as well.
"""

import math
import zlib

import torch
from torch.nn import functional as F
from transformers import AutoModelForMaskedLM

from explorer.training.tuning.scripts.running import main
from explorer.training.tuning.scripts.windows import DomainTask

MASK_SHARE, ROUNDS = 0.15, 7


class MaskedWords(DomainTask):
    """Of 15 % of the tokens 80 % become the mask, 10 % another token, 10 % stay; all of them are to be predicted."""

    auto_class = AutoModelForMaskedLM
    score_name = "perplexity"

    def losses(
        self, ids: torch.Tensor, there: torch.Tensor, picked: torch.Tensor, random: torch.Generator
    ) -> torch.Tensor:
        """Cross-entropy of each token that was picked; the random numbers are drawn on the CPU."""
        fate = torch.rand(ids.shape, generator=random).to(self.device)
        others = torch.randint(len(self.tokenizer), ids.shape, generator=random).to(self.device)
        inputs = ids.masked_fill(picked & (fate < 0.8), self.tokenizer.mask_token_id)
        inputs = torch.where(picked & (fate >= 0.8) & (fate < 0.9), others, inputs)
        logits = self.network(input_ids=inputs, attention_mask=there, return_dict=True).logits[picked].float()
        return F.cross_entropy(logits, ids[picked], reduction="none")

    def is_special(self, ids: torch.Tensor) -> torch.Tensor:
        """Where the tokenizer's marks stand."""
        return torch.isin(ids, torch.tensor(self.tokenizer.all_special_ids, device=ids.device))

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Their mean over tokens picked at random; 0 where none was picked."""
        ids, there = self.pad_windows(items)
        random = torch.Generator().manual_seed(int(torch.randint(2**62, ())))
        chance = torch.rand(ids.shape, generator=random).to(self.device)
        losses = self.losses(ids, there, (chance < MASK_SHARE) & ~self.is_special(ids) & there.bool(), random)
        return losses.sum() / max(1, len(losses))

    def score(self, items: list[dict]) -> float:
        """Perplexity over all tokens, each masked once, the same ones together each time."""
        losses = []
        for item in items:
            random = torch.Generator().manual_seed(zlib.crc32(repr(item["readings"]).encode()))
            for reading in item["readings"]:
                ids = torch.tensor([reading])
                special = self.is_special(ids)
                ranks = torch.rand(ids.shape, generator=random).masked_fill(special, 2.0).argsort(dim=1).argsort(dim=1)
                for number in range(ROUNDS):
                    picked = ((ranks % ROUNDS == number) & ~special).to(self.device)
                    losses.append(self.losses(ids.to(self.device), torch.ones_like(picked).long(), picked, random))
        return math.exp(torch.cat(losses).mean())


if __name__ == "__main__":
    main(MaskedWords)
