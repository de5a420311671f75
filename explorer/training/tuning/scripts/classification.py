"""Fine-tune an encoder to classify sentences or pairs, as the Language model explorer did; needs torch, transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text, label, second_text
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

With the method "lora" it needs peft as well.
"""

import torch
from torch import nn
from torch.nn import functional as F

from explorer.training.tuning.scripts.encoders import EncoderTask, LinearHead
from explorer.training.tuning.scripts.running import in_batches, main


class Classification(EncoderTask):
    """The mean of all tokens of a text or a pair, then one linear layer."""

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__(network, tokenizer, rows)
        self.labels = sorted({row["label"] for row in rows})
        self.head = LinearHead(self.body, len(self.labels))

    def read(self, row: dict) -> dict:
        """Ids and the index of the class."""
        return self.encode(row["text"], row.get("second_text") or "") | {"target": self.labels.index(row["label"])}

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item [layer, dim]."""
        means = self.means([item["readings"][0] for item in items], [item["types"] for item in items])
        return list(means.unbind(dim=1))

    def logits(self, items: list[dict]) -> torch.Tensor:
        """Of each class, [item, label]."""
        return self.head(torch.stack(self.vectors(items), dim=1))

    def targets(self, items: list[dict]) -> torch.Tensor:
        """Indices of the classes."""
        return torch.tensor([item["target"] for item in items], device=self.device)

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Cross-entropy."""
        return F.cross_entropy(self.logits(items), self.targets(items))

    def fit(self, items: list[dict]) -> bool:
        """The linear layer at once."""
        vectors = [vector[0] for some in in_batches(items) for vector in self.vectors(some)]
        return self.fit_linear(torch.stack(vectors), self.targets(items))

    def score(self, items: list[dict]) -> float:
        """Accuracy."""
        right = [(self.logits(some).argmax(dim=1) == self.targets(some)).sum().item() for some in in_batches(items)]
        return sum(right) / len(items)


if __name__ == "__main__":
    main(Classification)
