"""What scripts share that learn from plain texts: a text as windows, one behind the other."""

import torch

from explorer.training.tuning.scripts.running import Task, pad

MOST_WINDOWS, FEWEST_TOKENS = 8, 2


class DomainTask(Task):
    """A language model that goes on learning."""

    learns_ends = False

    @property
    def end(self) -> list[int]:
        """The token that tells that a text ends, where such texts are learned from left to right."""
        ends = self.network.config.eos_token_id
        first = ends[0] if isinstance(ends, list) else ends
        found = self.tokenizer.eos_token_id if first is None else first
        return [found] if self.learns_ends and found is not None else []

    def read(self, row: dict) -> dict:
        """Ids of each window, with the tokenizer's marks around, and the bytes of all tokens that are predicted."""
        text, marks = row["text"], list(self.tokenizer("")["input_ids"])
        begins = len(marks) > 1 or marks in ([self.tokenizer.bos_token_id], [self.tokenizer.cls_token_id])
        before, after = (marks[:1], marks[1:]) if begins else ([], marks)
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ids, ends = encoded["input_ids"], [end for _, end in encoded["offset_mapping"]]
        end = [] if after else self.end
        room = max(FEWEST_TOKENS, self.limit - len(marks) - len(end))
        firsts = [at for at in range(0, len(ids), room) if len(ids) - at >= FEWEST_TOKENS][:MOST_WINDOWS]
        size = 0
        for first in firsts:  # a first token without a mark before it is read, not predicted
            begin = ends[first] if not before else ends[first - 1] if first else 0
            size += len(text[begin : ends[min(first + room, len(ids)) - 1]].encode())
        readings = [[*before, *ids[first : first + room], *after] for first in firsts]
        has_end = bool(end and firsts) and firsts[-1] + room >= len(ids)
        if has_end:
            readings[-1] += end
        return {"readings": readings, "bytes": size, "has_end": has_end}

    def pad_windows(self, items: list[dict]) -> tuple[torch.Tensor, torch.Tensor]:
        """All windows of all items."""
        filler = self.tokenizer.pad_token_id or 0
        return pad([ids for item in items for ids in item["readings"]], filler, self.device)
