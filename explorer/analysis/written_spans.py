"""Reading what an encoder-decoder wrote: which part of it belongs to which blank, however odd it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """One output, taken apart.

    Attributes:
        fills: Token ids per blank; None = there is nothing for it.
        remarks: What is odd about it, in plain words.
    """

    fills: tuple[tuple[int, ...] | None, ...]
    remarks: tuple[str, ...]


def read_sentinels(ids: Sequence[int], sentinels: Sequence[int], ends: Sequence[int], blanks: int) -> Written:
    """What an output says about each blank: the tokens between its sentinel and the next one.

    Args:
        ids: Written tokens, without the one that starts the decoder.
        sentinels: Ids of <extra_id_0>, …, more of them than there are blanks.
        ends: Ids that end the output, or fill it up behind its end.
        blanks: How many there are.
    """
    fills: list[tuple[int, ...] | None] = [None] * blanks
    remarks: list[str] = []
    current, written, expected = None, [], 0
    number_of = {sentinel: number for number, sentinel in enumerate(sentinels)}
    for token in [*ids, sentinels[-1]]:  # a last sentinel closes what is open
        number = number_of.get(token)
        if number is None and token not in ends:
            written.append(token)
            continue
        if current is None and written:
            remarks.append("It wrote something before the first sentinel.")
        elif current is not None and current < blanks:
            if fills[current] is not None:
                remarks.append(f"It wrote twice for blank {current + 1}; the first counts.")
            else:
                fills[current] = tuple(written)
        written = []
        if number is None or number >= blanks:
            break
        if number < expected:
            remarks.append("Its sentinels are out of order.")
        current, expected = number, number + 1
    remarks += [f"It wrote nothing at all for blank {k + 1}." for k, fill in enumerate(fills) if fill is None]
    remarks += [f"It left blank {k + 1} empty." for k, fill in enumerate(fills) if fill == ()]
    return Written(tuple(fills), tuple(dict.fromkeys(remarks)))


def count_remarks(remarks: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What was odd about several outputs, and about how many of them where it was not all.

    Args:
        remarks: Of each output.
    """
    outputs = len(remarks)
    counts = Counter(remark for of_one in remarks for remark in dict.fromkeys(of_one))
    return tuple(
        remark if count == outputs else f"In {count} of {outputs} outputs: {remark[0].lower()}{remark[1:]}"
        for remark, count in counts.items()
    )


def read_rewritten(text: str, segments: Sequence[str]) -> tuple[tuple[str, ...] | None, str]:
    """What a whole rewritten text has in the place of each blank; None where the rest of the text was changed.

    Args:
        text: What the model wrote.
        segments: What stands before, between and after the blanks of the given text.

    Returns:
        The fills, and a remark.
    """
    fills, place = [], 0
    for number, segment in enumerate(segments):
        wanted = segment.strip()
        last = number == len(segments) - 1
        if number == 0:
            found = 0 if text.startswith(wanted) else -1
        elif last:
            found = len(text) - len(wanted) if text.endswith(wanted) and len(text) - len(wanted) >= place else -1
        else:
            found = text.find(wanted, place)
        if found < 0:
            return None, "It changed the text around a blank, so that what it filled in cannot be told."
        if number:
            fills.append(text[place:found].strip())
        place = found + len(wanted)
    return tuple(fills), ""
