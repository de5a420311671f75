"""How long a prompt is for a model, told while it is typed: nothing is computed but the tokens."""

from __future__ import annotations

from explorer.analysis.generation_results import PromptLength
from explorer.analysis.prompts import encode_prompt
from explorer.models.backend import LoadedModel
from explorer.models.turns import takes_no_turn


@takes_no_turn
def measure_prompt(model: LoadedModel, text: str) -> PromptLength:
    """Count the tokens of a prompt.

    Args:
        model: With a causal head.
        text: The prompt.

    Raises:
        UnsuitableModel: The model does not write from left to right.
        UnsuitableText: It cannot be read, or is longer than the model reads; the message says by how much.
    """
    ids, tokenizer = encode_prompt(model, text), model.tokenizer
    unknown = tokenizer.unk_token_id
    stands_for_more = unknown in (
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
    )  # GPT-2 lacks no byte, and has no other
    return PromptLength(len(ids), model.limit_tokens, 0 if stands_for_more else ids.count(unknown))
