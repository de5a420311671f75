"""The distribution of the next token, packed for the page, where assets/next_token.js draws what the controls do."""

import json
from base64 import b64encode

import numpy as np

from explorer.analysis.next_token_results import NextTokens

MOST_CHARACTERS = 160  # of the end of the text


def pack_next_tokens(result: NextTokens, ending: str) -> str:
    """The scores of the whole vocabulary in half precision, and the words for the likeliest tokens, as JSON.

    Args:
        result: What the model expects.
        ending: The text that it expects it after.

    Returns:
        Scores are stored below the highest one, which stands beside them: half precision is finest near 0.
    """
    highest = float(result.logits.max())
    packed = (result.logits - np.float32(highest)).astype("<f2").tobytes()
    cut = ending if len(ending) <= MOST_CHARACTERS else "…" + ending[-MOST_CHARACTERS:]
    tokens = [{"token_id": token.token_id, "text": token.text} for token in result.tokens]
    return json.dumps(
        {
            "ending": cut,
            "highest": highest,
            "model": result.model,
            "logits": b64encode(packed).decode("ascii"),
            "prompt_ids": result.prompt_ids,
            "tokens": tokens,
        }
    ).replace("<", "\\u003c")
