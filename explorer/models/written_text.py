"""What each token adds to a text, said as soon as its characters are whole."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.models.backend import LoadedModel

UNREADABLE = "\ufffd"  # what a decoder writes for the first bytes of a character that is not complete


def bytes_of(token: str) -> list[int]:
    """The bytes of a token of a byte-level vocabulary, as it spells them; none of a token that has other letters.

    Source: Radford et al. 2019, https://github.com/openai/gpt-2/blob/master/src/encoder.py
    """
    from transformers.convert_slow_tokenizer import bytes_to_unicode  # takes its time, and is seldom needed

    numbers = {letter: number for number, letter in bytes_to_unicode().items()}
    return [numbers[letter] for letter in token] if set(token) <= set(numbers) else []


class WrittenText:
    """Turns tokens into text one by one, as the tokenizer's own decoder would turn them all at once.

    What a token adds may depend on the one before it (a space, or none), and one token may hold a part of a character.
    So each is decoded together with the last tokens that made whole characters, and what those give is cut off.

    Args:
        model: Whose tokenizer.
        ids: What stands there already.
        unsaid: How many of these may still wait for the end of their character: those that were written.
    """

    def __init__(self, model: LoadedModel, ids: Sequence[int], unsaid: int = 0) -> None:
        self._model = model
        self._before, self._waiting = list(ids), []
        while unsaid > len(self._waiting) and self._decode([self._before])[0].endswith(UNREADABLE):
            self._waiting.insert(0, self._before.pop())
        self._said = self._decode([self._before])[0]

    def look(self, token_ids: Sequence[int]) -> list[str]:
        """What each of several tokens would add if it came next; the beginning of a character shows as U+FFFD."""
        grown = self._decode([[*self._before, *self._waiting, token_id] for token_id in token_ids])
        return [text[len(self._said) :] for text in grown]

    def add(self, token_id: int, text: str, *, is_last: bool = False) -> str:
        """Put a token behind the text.

        Args:
            token_id: The token.
            text: What `look` said of it.
            is_last: Whether nothing follows, so that what is not complete never will be.

        Returns:
            What it adds; "" while a character is not complete.
        """
        self._waiting.append(token_id)
        if text.endswith(UNREADABLE) and not is_last:
            return ""
        alone = self._decode([self._waiting])[0]
        if alone.strip():  # else a decoder that drops the first space of a text would drop that of the next token
            self._before, self._said = self._waiting, alone
        else:
            self._before, self._said = self._before + self._waiting, self._said + text
        self._waiting = []
        return text

    def _decode(self, rows: list[list[int]]) -> list[str]:
        with self._model.tokenizer_lock:
            return self._model.tokenizer.decode(rows, clean_up_tokenization_spaces=False)
