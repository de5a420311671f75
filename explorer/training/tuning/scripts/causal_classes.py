"""Fine-tune a causal model to classify texts or pairs, as the Language model explorer did; needs torch, transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text, label, second_text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

With the method "lora" it needs peft as well.
"""

import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM

from explorer.training.tuning.scripts.classification import Classification
from explorer.training.tuning.scripts.running import RECIPE, main, pad


class CausalClassification(Classification):
    """The last token has read everything: its vector goes through the linear layer."""

    auto_class = AutoModelForCausalLM

    def read(self, row: dict) -> dict:
        """A pair is read as one text, with a mark between."""
        text = row["text"]
        if row.get("second_text"):
            between = self.tokenizer.sep_token or self.tokenizer.eos_token or "\n"
            text = f"{text} {between} {row['second_text']}"
        return self.encode(text) | {"target": self.labels.index(row["label"])}

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item [layer, dim]."""
        states, there = self.states([item["readings"][0] for item in items])
        return list(states[:, torch.arange(len(items)), there.sum(dim=1) - 1].unbind(dim=1))

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Cross-entropy of the classes, and a share of that of every next word."""
        share = RECIPE["auxiliary_weight"]
        if not self.moves or not share:
            return super().loss(items)
        ids, there = pad([item["readings"][0] for item in items], self.network.config.pad_token_id or 0, self.device)
        output = self.network(ids, attention_mask=there, output_hidden_states=True, return_dict=True)
        last = output.hidden_states[-1][torch.arange(len(items)), there.sum(dim=1) - 1]
        predicted = there[:, 1:].bool()
        of_words = F.cross_entropy(output.logits[:, :-1][predicted].float(), ids[:, 1:][predicted])
        return F.cross_entropy(self.head(last[None].float()), self.targets(items)) + share * of_words


if __name__ == "__main__":
    main(CausalClassification)
