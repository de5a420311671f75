"""Fine-tune an encoder to tag words, as the Language model explorer did; needs torch and transformers.

    python recipe.py                          from the base model and the examples beside this file
    python recipe.py --examples my.csv        columns: part (train, held_out), words, tags (with spaces between)
    python recipe.py --base FOLDER_OR_HUB_ID  --save FOLDER

Tags are in BIO notation: B-NAME for the first word of a name, I-NAME for the others, O outside. With the method "lora"
it needs peft as well.
"""

import torch
from torch import nn
from torch.nn import functional as F

from explorer.training.tuning.scripts.encoders import EncoderTask, LinearHead
from explorer.training.tuning.scripts.running import in_batches, main


def find_phrases(tags: list[str]) -> set[tuple[int, int, str]]:
    """First word, the one behind the last, and kind; a phrase may begin with I as well, as seqeval counts them."""
    phrases, first, kind = set(), 0, ""
    for place, tag in enumerate([*tags, "O"]):
        now = "" if tag == "O" else tag[2:]
        if kind and (now != kind or tag.startswith("B")):
            phrases.add((first, place, kind))
            kind = ""
        if now and not kind:
            first, kind = place, now
    return phrases


class Tagging(EncoderTask):
    """The vector of each word's first piece, then one linear layer."""

    score_name = "f1"

    def __init__(self, network: nn.Module, tokenizer, rows: list[dict]) -> None:
        super().__init__(network, tokenizer, rows)
        tags = {tag for row in rows for tag in row["tags"].split(" ")}
        self.labels = sorted(tags, key=lambda tag: (tag != "O", tag[2:], tag))
        self.head = LinearHead(self.body, len(self.labels))

    def read(self, row: dict) -> dict:
        """Ids, the words that are read (a long sentence is cut), where each one's first piece stands, and its tag."""
        text, tags = row["words"], row["tags"].split(" ")
        encoded = self.tokenizer(
            text,
            truncation=True,
            max_length=self.limit,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        pieces = self.tokenizer.convert_ids_to_tokens(encoded["input_ids"])
        places: dict[int, int] = {}  # word -> its first piece
        for place, (start, end) in enumerate(encoded["offset_mapping"]):
            letter = next((at for at in range(start, end) if not text[at].isspace()), None)
            shows_nothing = letter is None or set(pieces[place]) <= {"Ġ", "▁"}
            if not encoded["special_tokens_mask"][place] and not shows_nothing:
                places.setdefault(text[:letter].count(" "), place)
        targets = [self.labels.index(tags[word]) for word in places]
        return {"readings": [encoded["input_ids"]], "places": places, "targets": targets, "tags": tags}

    def features(self, items: list[dict]) -> list[torch.Tensor]:
        """Of each item [layer, word, dim]."""
        states, _ = self.states([item["readings"][0] for item in items])
        return [states[:, row, list(item["places"].values())] for row, item in enumerate(items)]

    def logits(self, items: list[dict]) -> torch.Tensor:
        """Of the words that are read, one item after the other."""
        return self.head(torch.cat(self.vectors(items), dim=1))

    def targets(self, items: list[dict]) -> torch.Tensor:
        """Indices of their tags."""
        return torch.tensor([target for item in items for target in item["targets"]], device=self.device)

    def loss(self, items: list[dict]) -> torch.Tensor:
        """Cross-entropy."""
        return F.cross_entropy(self.logits(items), self.targets(items))

    def fit(self, items: list[dict]) -> bool:
        """The linear layer at once."""
        vectors = [vector[0] for some in in_batches(items) for vector in self.vectors(some)]
        return self.fit_linear(torch.cat(vectors), self.targets(items))

    def score(self, items: list[dict]) -> float:
        """F1 of phrases; a word that was cut off counts as outside."""
        found = wanted = right = 0
        for some in in_batches(items):
            best = iter(self.logits(some).argmax(dim=1).tolist())
            for item in some:
                tags = ["O"] * len(item["tags"])
                for word in item["places"]:
                    tags[word] = self.labels[next(best)]
                predicted, gold = find_phrases(tags), find_phrases(item["tags"])
                found, wanted, right = found + len(predicted), wanted + len(gold), right + len(predicted & gold)
        return 2 * right / max(1, found + wanted)


if __name__ == "__main__":
    main(Tagging)
