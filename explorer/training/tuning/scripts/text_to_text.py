"""Fine-tune an encoder-decoder to rewrite texts, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text, target
                                              or, of classes that are written: part, text, label, second_text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

With the method "lora" it needs peft as well.
"""

import torch
from torch import nn
from torch.nn import functional as F
from transformers import AutoModelForSeq2SeqLM, GenerationConfig

from explorer.training.tuning.scripts.matching import normalise
from explorer.training.tuning.scripts.running import RECIPE, Task, in_batches, main, pad

NOTHING, MORE_TOKENS = -100, 4


class Rewriting(Task):
    """Reads a text, after the recipe's prefix, and writes another; a class is a text like any other."""

    auto_class = AutoModelForSeq2SeqLM

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__(network, tokenizer, rows)
        config = network.config
        self.labels = sorted({row["label"] for row in rows if "label" in row})
        self.score_name = "accuracy" if self.labels else "exact_match"
        self.begin_id, self.pad_id = config.decoder_start_token_id, tokenizer.pad_token_id or 0
        self.end_id = config.eos_token_id if config.eos_token_id is not None else tokenizer.eos_token_id

    def read(self, row: dict) -> dict:
        """Ids of what is read and of what is to be written."""
        asked, target = row["text"], row["label"] if self.labels else row["target"]
        if row.get("second_text"):
            asked = f"sentence1: {asked} sentence2: {row['second_text']}"
        ids = self.tokenizer(target, add_special_tokens=False)["input_ids"]
        item = self.encode(RECIPE["prefix"] + asked)
        gold = self.tokenizer.decode(ids, skip_special_tokens=True).strip()  # as this tokenizer spells it
        return item | {"target": [*ids[: self.limit - 1], self.end_id], "gold": gold}

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Mean cross-entropy of the tokens that are to be written."""
        ids, seen = pad([item["readings"][0] for item in items], self.pad_id, self.device)
        targets, there = pad([item["target"] for item in items], self.pad_id, self.device)
        begin = torch.full_like(targets[:, :1], self.begin_id)
        before = torch.cat([begin, targets[:, :-1]], dim=1)  # what the decoder reads while it writes
        output = self.network(input_ids=ids, attention_mask=seen, decoder_input_ids=before, use_cache=False)
        wanted = targets.masked_fill(there == 0, NOTHING)
        return F.cross_entropy(output.logits.float().transpose(1, 2), wanted, ignore_index=NOTHING)

    def write(self, items: list[dict]) -> list[str]:
        """Always the likeliest next token."""
        ids, seen = pad([item["readings"][0] for item in items], self.pad_id, self.device)
        options = GenerationConfig(
            max_new_tokens=max(len(item["target"]) for item in items) + MORE_TOKENS,
            do_sample=False,
            decoder_start_token_id=self.begin_id,
            eos_token_id=self.end_id,
            pad_token_id=self.pad_id,
        )
        made = self.network.generate(ids, attention_mask=seen, generation_config=options).tolist()
        return [self.tokenizer.decode(row, skip_special_tokens=True).strip() for row in made]

    def score(self, items: list[dict]) -> float:
        """Share of what is written that is right, but for case, articles and punctuation where it is no class."""
        spell = str if self.labels else normalise
        right = 0
        for some in in_batches(items):
            written = zip(self.write(some), some, strict=True)
            right += sum(spell(text) == spell(item["gold"]) for text, item in written)
        return right / len(items)


if __name__ == "__main__":
    main(Rewriting)
