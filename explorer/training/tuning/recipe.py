"""What can be fine-tuned how, in words and numbers; importable without torch."""

from dataclasses import dataclass

TASKS = {  # key -> what it is called
    "classification": "Classify sentences",
    "pairs": "Classify pairs of sentences",
    "tagging": "Tag words",
    "answers": "Find answers in a passage",
    "similarity": "Compare sentences",
    "masked": "Learn a domain by masked words",
    "causal": "Learn a domain by next words",
    "text_to_text": "Rewrite texts",
}
METHODS = {  # key -> what it is called; in the order of how much moves
    "frozen": "Head on frozen features",
    "layers": "Head on a learned mix of frozen layers",
    "lora": "LoRA",
    "full": "Everything",
    "scratch": "Everything, from random weights",
}
LOSSES = {"triplet": "Triplet", "cosine": "Cosine", "in_batch": "In the batch"}  # of "similarity"
LIKE = 0.5  # from this score on a pair of sentences counts as similar
FEW_HELD_OUT = 20  # where one of them is more than five points
LEARNING_RATES = {"frozen": 1e-3, "layers": 1e-3, "lora": 1e-3, "full": 1e-4, "scratch": 1e-4}  # peaks that suit


@dataclass(frozen=True)
class Recipe:
    """One way to fine-tune.

    Attributes:
        task: A key of TASKS.
        method: A key of METHODS.
        epochs: How often every example is seen; more often where that would be a handful of steps.
        batch_size: Examples per step.
        learning_rate: Peak; None = that of LEARNING_RATES.
        length_tokens: Longer texts are cut, special tokens included.
        held_out_share: Of the examples, set aside where none are given to measure on.
        evaluations: How often the held-out loss is measured in one run.
        patience: Stop after so many measurements in a row without a better held-out loss; 0 = never.
        lora_rank: Of the low-rank matrices.
        auxiliary_weight: λ of the language modelling loss beside the task's, for causal models.
        similarity_loss: A key of LOSSES; "in_batch" finds the positive among all sentences of the batch.
        prefix: What an encoder-decoder reads before each text, e.g. "classify: ".
        seed: Of new weights, order, dropout and the part set aside.
    """

    task: str = "classification"
    method: str = "full"
    epochs: float | int = 3.0
    batch_size: int = 16
    learning_rate: float | int | None = None
    length_tokens: int = 128
    held_out_share: float = 0.2
    evaluations: int = 8
    patience: int = 0
    lora_rank: int = 8
    auxiliary_weight: float | int = 0.5
    similarity_loss: str = "triplet"
    prefix: str = ""
    seed: int = 0

    @property
    def peak(self) -> float:
        """The learning rate that counts."""
        return self.learning_rate or LEARNING_RATES[self.method]
