"""What all heads of a model do with a text, in a sentence."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from explorer.analysis.attention_packing import PackedReading, PackedStack, unpack_weights
from explorer.analysis.blanks import BLANK
from explorer.figures.notes import note

MOST_TOLD = 3
FEWEST_KEYS = 5  # of fewer tokens, one has half of the attention by chance
RESTS = 0.5  # of a head's attention, the mean over the tokens of the text that see another one, as head_measures has it
RESTING = (
    "A head with most of its attention on a special token, the first token or a sign rests there, and says least of "
    "the words."
)
AT_GAP = f"Those on “{BLANK}” look at the gap, the place that is asked about."
NAMES = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross-attention"}


def heads_note(reading: PackedReading) -> str:
    """How many heads put most of their attention on one token, and on which; "" of texts too short to tell.

    Args:
        reading: All layers.
    """
    stacks = [
        (stack, _most_of(stack)) for stack in reading.stacks if len(stack.keys) >= FEWEST_KEYS and _attending(stack)
    ]
    told = [
        f"{NAMES[stack.name]}: {_rest_words(stack, at)}" if len(reading.stacks) > 1 else _rest_words(stack, at)
        for stack, at in stacks
    ]
    looked_at = [(stack, key) for stack, at in stacks for key in set(at)]
    told += [RESTING] * any(_is_rest(stack, key) for stack, key in looked_at)
    told += [AT_GAP] * any(stack.keys[key].surface == BLANK for stack, key in looked_at)
    return "".join(map(note, told))


def _most_of(stack: PackedStack) -> list[int]:
    """The key of each head that puts over half of its attention on one."""
    shares = _mean_shares(stack)
    return shares.argmax(axis=-1)[shares.max(axis=-1) > RESTS].tolist()


def _is_rest(stack: PackedStack, key: int) -> bool:
    token = stack.keys[key]
    is_sign = not any(map(str.isalnum, token.surface))  # or a special token, which has no surface
    return token.surface != BLANK and (key == 0 or is_sign)


def _rest_words(stack: PackedStack, at: Sequence[int]) -> str:
    heads = sum(len(layer) for layer in stack.roots)
    tokens = Counter(stack.keys[key].surface or stack.keys[key].text for key in at)
    if not tokens:
        return f"In none of the {heads} heads over half of the attention of the text’s own tokens goes to one token."
    goes = f"In {tokens.total():,} of the {heads:,} heads over half of the attention of the text’s own tokens goes to "
    if len(tokens) == 1:
        return f"{goes}“{next(iter(tokens))}”."
    most = tokens.most_common(MOST_TOLD)
    told = ", ".join(f"“{text}” in {count}" for text, count in most)
    rest = f", others in {tokens.total() - sum(count for _, count in most)}" if len(tokens) > len(most) else ""
    return f"{goes}one token: {told}{rest}."


def _mean_shares(stack: PackedStack) -> Float[ndarray, "layer head key"]:
    """What each key gets on average; layer by layer, as all in full would be far larger."""
    rows = _attending(stack)
    return np.stack([unpack_weights(layer[:, rows]).mean(axis=1) for layer in stack.roots])


def _attending(stack: PackedStack) -> list[int]:
    """Tokens of the text: no special ones, nor one that sees itself alone."""
    sees_itself_alone = stack.name == "decoder"  # the first, where tokens see what stands before them
    return [at for at, token in enumerate(stack.queries) if not token.is_special and (at > 0 or not sees_itself_alone)]
