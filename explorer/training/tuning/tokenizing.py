"""Texts as a network reads them, cut where they are too long."""

from inspect import signature

from explorer.errors import UnsuitableText
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.training.tuning.task import Reading, Start


def read_text(start: Start, text: str, second_text: str = "", *, length_tokens: int) -> tuple[Reading, bool]:
    """A sentence, or two, as ids; and whether it had to be cut.

    Args:
        start: Its tokenizer is a copy, so it may be told to cut.
        text: The sentence.
        second_text: The other of a pair; "" = there is none.
        length_tokens: Longer inputs are cut, of a pair the longer text first; the network's own limit holds as well.

    Raises:
        UnsuitableText: Nothing is left to read.
    """
    most = min(length_tokens, start.limit_tokens)
    if isinstance(start.tokenizer, ElmoTokenizer):  # it knows no pairs
        ids = start.tokenizer(f"{text} {second_text}".strip())["input_ids"]
        reading, was_cut = Reading(ids[:most]), len(ids) > most
    else:
        pair = (second_text,) if second_text else ()
        encoded = start.tokenizer(text, *pair, verbose=False)
        was_cut = len(encoded["input_ids"]) > most
        if was_cut:
            encoded = start.tokenizer(text, *pair, truncation="longest_first", max_length=most)
        types = encoded.get("token_type_ids") if pair and reads_types(start) else None
        reading = Reading(encoded["input_ids"], tuple(types or ()))
    if not len(reading.ids):
        raise UnsuitableText("One of the examples has no text: fill the empty cell, or delete its row.")
    return reading, was_cut


def reads_types(start: Start) -> bool:
    """Whether the network is told which of two texts a token is of."""
    return "token_type_ids" in signature(start.body.forward).parameters
