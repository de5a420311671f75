"""How long a prompt is for a model, told while it is typed: nothing is computed but the tokens."""

from __future__ import annotations

from explorer.analysis.blanks import CONTINUES
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
    ids = encode_prompt(model, text)
    with model.tokenizer_lock:
        pieces = sum(token.startswith(CONTINUES) for token in model.tokenizer.convert_ids_to_tokens(ids))
        is_empty = not model.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    unknown = ids.count(unknown_id(model.tokenizer))
    return PromptLength(len(ids), model.limit_tokens, unknown, pieces, is_empty)


def unknown_id(tokenizer: object) -> int | None:
    """The id of the token that stands for whatever the vocabulary lacks, and for nothing else; None = there is none."""
    unknown, *others = (getattr(tokenizer, f"{kind}_token_id", None) for kind in ("unk", "bos", "eos"))
    return None if unknown in others else unknown  # GPT-2 lacks no byte, and has one token for all three
