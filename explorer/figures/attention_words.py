"""What all heads of a model do with a text, in a sentence."""

from collections import Counter

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.attention_packing import PackedReading, PackedStack, unpack_weights
from explorer.figures.notes import note

MOST_TOLD = 3
FEWEST_KEYS = 5  # of fewer tokens, one has half of the attention by chance
RESTS = 0.5  # of a head's attention, the mean over the tokens that attend
RESTING = "A head with most of its attention on one token rests there, and says least of the words."
NAMES = {"encoder": "Encoder", "decoder": "Decoder", "cross": "From decoder to encoder"}


def heads_note(reading: PackedReading) -> str:
    """How many heads put most of their attention on one token, and on which; "" of texts too short to tell.

    Args:
        reading: All layers.
    """
    stacks = [(NAMES[stack.name], _rest_words(stack)) for stack in reading.stacks if len(stack.keys) >= FEWEST_KEYS]
    told = [f"{name}: {words}" if len(reading.stacks) > 1 else words for name, words in stacks]
    if any("attention goes to" in words for words in told):
        told.append(RESTING)
    return "".join(map(note, told))


def _rest_words(stack: PackedStack) -> str:
    shares = _mean_shares(stack)
    at, heads = shares.argmax(axis=-1), shares.shape[0] * shares.shape[1]
    tokens = Counter(stack.keys[key].surface or stack.keys[key].text for key in at[shares.max(axis=-1) > RESTS])
    if not tokens:
        return f"None of the {heads} heads puts over half of its attention on one token."
    goes = f"In {tokens.total()} of the {heads} heads over half of the attention goes to "
    if len(tokens) == 1:
        return f"{goes}“{next(iter(tokens))}”."
    most = tokens.most_common(MOST_TOLD)
    told = ", ".join(f"“{text}” in {count}" for text, count in most)
    rest = f", others in {tokens.total() - sum(count for _, count in most)}" if len(tokens) > len(most) else ""
    return f"{goes}one token: {told}{rest}."


def _mean_shares(stack: PackedStack) -> Float[ndarray, "layer head key"]:
    """What each key gets on average; layer by layer, as all in full would be far larger."""
    return np.stack([unpack_weights(layer).mean(axis=1) for layer in stack.roots])
