"""Fine-tune an encoder to compare sentences, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), text, positive, negative
                                              or: part, text, second_text, score (0 to 1)
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

With the method "lora" it needs peft as well.
"""

import torch
from torch import nn
from torch.nn import functional as F

from explorer.training.tuning.scripts.encoders import EncoderTask, LastLayer, LayerMix
from explorer.training.tuning.scripts.running import RECIPE, in_batches, main

MARGIN, SHARPNESS = 1.0, 20.0


class SentenceMap(nn.Module):
    """The last layer or a mix of all; over a network that rests a linear map, which at first changes nothing."""

    def __init__(self, network: nn.Module, moves: bool) -> None:
        super().__init__()
        config = network.config
        self.mix = LayerMix(config.num_hidden_layers + 1) if RECIPE["method"] == "layers" else LastLayer()
        self.linear = nn.Identity() if moves else nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        if not moves:
            nn.init.eye_(self.linear.weight)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """[layer, sentence, dim] to [sentence, dim]."""
        return self.linear(self.mix(vectors)).float()


def rank(numbers: torch.Tensor) -> torch.Tensor:
    """Ranks; equal numbers share one."""
    _, places, counts = numbers.unique(return_inverse=True, return_counts=True)
    return (counts.cumsum(dim=0) - (counts - 1) / 2)[places]


class Similarity(EncoderTask):
    """The mean of all tokens of each sentence, compared by cosine."""

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__(network, tokenizer, rows)
        self.head = SentenceMap(self.body, self.moves)
        searched = any(row.get("positive") for row in rows if row["part"] == "held_out")
        self.score_name = "recall_at_1" if searched else "spearman"

    def read(self, row: dict) -> dict:
        """Ids of each sentence, and a pair's score."""
        names = ("text", "positive", "negative") if row.get("positive") else ("text", "second_text")
        readings = [self.encode(row[name])["readings"][0] for name in names]
        score = None if row.get("positive") else float(row["score"])
        return {"readings": readings, "texts": [row[name] for name in names], "score": score}

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item [layer, sentence, dim]."""
        means = self.means([ids for item in items for ids in item["readings"]])
        return list(means.split([len(item["readings"]) for item in items], dim=1))

    def embed(self, items: list[dict]) -> list[torch.Tensor]:
        """What is compared, of each item [sentence, dim]."""
        vectors = self.head(torch.cat(self.vectors(items), dim=1))
        return list(vectors.split([len(item["readings"]) for item in items]))

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Of triplets as the recipe says; of scored pairs the squared difference of cosine and score."""
        vectors, losses = self.embed(items), []
        pairs = [number for number, item in enumerate(items) if item["score"] is not None]
        triplets = [number for number, item in enumerate(items) if item["score"] is None]
        if pairs:
            one, other = torch.stack([vectors[number] for number in pairs]).unbind(dim=1)
            scores = torch.tensor([items[number]["score"] for number in pairs], device=self.device)
            losses.append((F.cosine_similarity(one, other) - scores).square())
        if triplets:
            losses.append(self.triplet_losses(*torch.stack([vectors[number] for number in triplets]).unbind(dim=1)))
        return torch.cat(losses).mean()

    def triplet_losses(self, anchors: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor) -> torch.Tensor:
        """Of each triplet."""
        if RECIPE["similarity_loss"] == "cosine":
            near, far = F.cosine_similarity(anchors, positives), F.cosine_similarity(anchors, negatives)
            return ((near - 1).square() + far.square()) / 2
        anchors, positives, negatives = (F.normalize(side, dim=-1) for side in (anchors, positives, negatives))
        if RECIPE["similarity_loss"] == "triplet":
            return F.triplet_margin_loss(anchors, positives, negatives, margin=MARGIN, reduction="none")
        cosines = anchors @ torch.cat([positives, negatives]).T  # each finds its own among all of the batch
        return F.cross_entropy(SHARPNESS * cosines, torch.arange(len(anchors), device=self.device), reduction="none")

    def score(self, items: list[dict]) -> float:
        """Share of the texts whose nearest, of all positives and negatives, is their own positive; or Spearman's."""
        vectors = [vector for some in in_batches(items) for vector in self.embed(some)]
        if self.score_name == "spearman":
            cosines = torch.stack([F.cosine_similarity(*vector, dim=-1) for vector in vectors])
            gold = torch.tensor([item["score"] for item in items], device=self.device)
            return torch.corrcoef(torch.stack([rank(cosines), rank(gold)]))[0, 1].nan_to_num().item()
        triplets = [(i["texts"], v) for i, v in zip(items, vectors, strict=True) if i["score"] is None]
        places: dict[str, torch.Tensor] = {}  # each candidate once
        for texts, vector in triplets:
            places.setdefault(texts[1], vector[1])
            places.setdefault(texts[2], vector[2])
        candidates = F.normalize(torch.stack(list(places.values())), dim=-1)
        numbers = {text: number for number, text in enumerate(places)}
        right = 0
        for texts, vector in triplets:
            cosines = candidates @ F.normalize(vector[0], dim=-1)
            right += int((cosines >= cosines[numbers[texts[1]]]).sum() == 1)  # one that is as near counts as nearer
        return right / len(triplets)


if __name__ == "__main__":
    main(Similarity)
