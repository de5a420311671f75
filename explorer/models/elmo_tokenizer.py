"""Text to the character ids that ELMo reads: 50 per word, the bytes of its UTF-8 spelling between two marks.

A word w of bytes b1 ... bn (n at most 48) becomes

    [begin of word, b1, ..., bn, end of word, filler, ..., filler]

with every id shifted by one, so that 0 is free to mean "no word here". The network adds the words "begin of sentence"
and "end of sentence" itself.

Source: Jozefowicz et al. 2016, https://arxiv.org/abs/1602.02410; ids as in https://github.com/allenai/bilm-tf
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int
from transformers import BatchEncoding

NO_WORD = 0
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, FILLER = 257, 258, 259, 260, 261
CHARACTERS = 262

# A word with its hyphens and decimal points; a clitic ("'t", "'s"), which the training text kept apart; or one mark.
WORD = re.compile(r"\w+(?:-\w+|[.,:]\d+)*|['’]\w+|[^\w\s]")


def spell(characters: Sequence[int], max_characters: int) -> Int[np.ndarray, " char"]:
    """The ids of one word.

    Args:
        characters: Ids of what stands between the marks, already shifted by one.
        max_characters: Ids per word, marks included, 3 or more; what does not fit is cut.
    """
    ids = np.full(max_characters, FILLER, dtype=np.int64)
    inside = characters[: max_characters - 2]
    ids[: len(inside) + 2] = [BEGIN_WORD, *inside, END_WORD]
    return ids


class ElmoEncoding(BatchEncoding):
    """What the tokenizer returns: input_ids, attention_mask, and the words they spell.

    Attributes:
        words: The words of each row, in full length.
    """

    words: list[list[str]]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The words of one row."""
        return self.words[batch_index]

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """Which word each token belongs to: a token is a word."""
        return list(range(len(self.words[batch_index])))


class ElmoTokenizer:
    """Splits text at white space and punctuation, and spells each word.

    Called like the tokenizers of transformers, as far as the analyses do that. It keeps no state between calls.

    Args:
        max_characters: Ids per word, marks included.
        model_max_length: Most words in one text. The network has no limit; its time grows with the number of words.
    """

    is_fast = False
    padding_side = "right"
    pad_token_id = NO_WORD
    mask_token = mask_token_id = None
    all_special_ids: tuple[int, ...] = ()  # the network adds and removes the marks of the sentence
    vocab_size = CHARACTERS

    def __init__(self, max_characters: int = 50, model_max_length: int = 512) -> None:
        self.max_characters = max_characters
        self.model_max_length = model_max_length

    def split(self, text: str) -> tuple[list[str], list[tuple[int, int]]]:
        """The words of a text, and where each begins and ends in it, in characters."""
        matches = list(WORD.finditer(text))
        return [match.group() for match in matches], [match.span() for match in matches]

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return self.split(text)[0]

    def convert_ids_to_tokens(self, ids: Int[np.ndarray, "token char"] | Sequence[Sequence[int]]) -> list[str]:
        """The words that rows of character ids spell; a word that was cut stays cut, no word is ""."""
        spelled = [bytes(int(id) - 1 for id in word if 1 <= id <= 256) for word in ids]
        return [word.decode("utf-8", "ignore") for word in spelled]

    def __call__(
        self,
        text: str | Sequence[str] | Sequence[Sequence[str]],
        *,
        is_split_into_words: bool = False,
        padding: bool = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        return_tensors: str | None = None,
    ) -> ElmoEncoding:
        """Spell a text or several.

        Args:
            text: One text or several; with is_split_into_words, the words of one or of several.
            is_split_into_words: Take the words as they are, e.g. "U.S." as one.
            padding: Fill shorter rows with 0 up to the longest.
            truncation: Cut rows to max_length.
            max_length: Most words per row; None = model_max_length.
            return_offsets_mapping: Also where each word stands, in characters: of its text, or of itself if pre-split.
            return_tensors: "pt", "np", or None for lists; one text without tensors comes without the row axis.

        Returns:
            input_ids [row, token, char], attention_mask [row, token], offset_mapping [row, token, 2] if wanted.

        Raises:
            ValueError: Rows of different length cannot become one tensor without padding.
        """
        single = isinstance(text, str) if not is_split_into_words else all(isinstance(word, str) for word in text)
        texts = [text] if single else list(text)
        if is_split_into_words:
            rows = [(list(words), [(0, len(word)) for word in words]) for words in texts]
        else:
            rows = [self.split(row) for row in texts]
        if truncation:
            most = max_length or self.model_max_length
            rows = [(words[:most], spans[:most]) for words, spans in rows]
        lengths = [len(words) for words, _ in rows]
        if return_tensors and not padding and len(set(lengths)) > 1:
            raise ValueError("Rows of different length need padding=True to become one tensor.")

        longest = max(lengths, default=0)
        ids = np.zeros((len(rows), longest, self.max_characters), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int64)
        offsets = np.zeros((len(rows), longest, 2), dtype=np.int64)
        for row, (words, spans) in enumerate(rows):
            for token, word in enumerate(words):
                # half of a surrogate pair has no UTF-8 spelling: such a word is spelled with nothing, as in bilm-tf
                ids[row, token] = spell([byte + 1 for byte in word.encode("utf-8", "ignore")], self.max_characters)
            mask[row, : len(words)] = 1
            offsets[row, : len(spans)] = np.array(spans, dtype=np.int64).reshape(-1, 2)
        arrays = {"input_ids": ids, "attention_mask": mask}
        if return_offsets_mapping:
            arrays["offset_mapping"] = offsets
        if return_tensors:
            encoding = ElmoEncoding(arrays, tensor_type=return_tensors)
        else:
            kept = [longest if padding else length for length in lengths]
            lists = {
                name: [array[row, :length].tolist() for row, length in enumerate(kept)]
                for name, array in arrays.items()
            }
            encoding = ElmoEncoding({name: value[0] for name, value in lists.items()} if single else lists)
        encoding.words = [words for words, _ in rows]
        return encoding
