"""What a model expects next, with the scores of its whole vocabulary: apart, for the shell does not wait for NumPy."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from explorer.analysis.scoring_results import NextToken

MOST_TOKENS = 1000  # of the table
BULK = {"bulk": True}  # metadata of a field that stays out of JSON: exporting.to_json


@dataclass(frozen=True, eq=False)
class NextTokens:
    """What a model expects after a prompt.

    Attributes:
        model: Its name.
        prompt: As given.
        prompt_ids: What the model read: its start token if it has one, the prompt, and what was written after it.
        written: The last of these, which were given as ids.
        tokens: The likeliest, best first: the first has rank 1.
        entropy_nats: Of the distribution over the whole vocabulary.
        logits: Scores of the whole vocabulary, float32, not writeable; softmax of them gives the probabilities.
        special_ids: Tokens that are not text, such as the one that ends it.
        token_count: How many tokens were read.
        limit_tokens: How many the model reads at most.
        written_text: What was written, as text.
    """

    model: str
    prompt: str
    prompt_ids: tuple[int, ...]
    written: tuple[int, ...]
    tokens: tuple[NextToken, ...]
    entropy_nats: float
    logits: Float[np.ndarray, " vocab"] = field(metadata=BULK, repr=False)
    special_ids: tuple[int, ...]
    token_count: int
    limit_tokens: int
    written_text: str = ""
