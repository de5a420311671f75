"""How a model's tokenizer cuts a text into pieces."""

from __future__ import annotations

from bisect import bisect_right

from explorer.analysis.attention_inputs import sentinel_ids
from explorer.analysis.blanks import check_characters, find_blanks
from explorer.analysis.results import Piece, Tokenization
from explorer.models.backend import LoadedModel
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.models.turns import takes_no_turn

SPELLED = -1  # the id of a token that has none: ELMo reads the characters of each word
Span = tuple[int, int]


@takes_no_turn
def tokenize_text(model: LoadedModel, text: str) -> Tokenization:
    """Cut a text into the tokens that the model sees.

    Args:
        model: Any model. Blanks become its mask token, of T5 its sentinels <extra_id_0> and so on; where it has none
            of both they stay as they are.
        text: Any text up to settings().longest_text_characters; it may be empty, and longer than the model reads.

    Returns:
        The pieces, special tokens included, and where each comes from in the text as given. The words of ELMo have no
        ids (-1), and its vocabulary is one of characters.

    Raises:
        UnsuitableText: The text has too many characters, or holds control characters.

    Source: Sennrich et al. 2016 (byte pairs), https://aclanthology.org/P16-1162;
        Wu et al. 2016 (WordPiece), https://arxiv.org/abs/1609.08144
    """
    check_characters(text)
    tokenizer = model.tokenizer
    if isinstance(tokenizer, ElmoTokenizer):
        words = tuple(
            Piece(word, SPELLED, is_special=False, is_unknown=False, start=start, end=end)
            for word, (start, end) in zip(*tokenizer.split(text), strict=True)
        )
        return Tokenization(model.card.name, text, words, tokenizer.vocab_size, model.limit_tokens)
    mask_token = tokenizer.mask_token
    with model.tokenizer_lock:
        sentinels = sentinel_ids(tokenizer) if model.network.config.is_encoder_decoder else []
    marks = [f"<extra_id_{number}>" for number in range(len(sentinels))] or [mask_token or ""]
    blanks = find_blanks(text, None if sentinels else mask_token) if sentinels or mask_token else []
    seen, shifts = _with_marks(text, blanks, marks)
    with model.tokenizer_lock:
        encoded = tokenizer(
            seen, return_offsets_mapping=tokenizer.is_fast, return_special_tokens_mask=True, verbose=False
        )
        ids = encoded["input_ids"]
        tokens = tokenizer.convert_ids_to_tokens(ids)
        special = {*tokenizer.all_special_ids, *sentinels} - {tokenizer.unk_token_id}
        vocabulary_size = len(tokenizer)
    spans = encoded["offset_mapping"] if tokenizer.is_fast else [None] * len(ids)
    unknown_id = tokenizer.unk_token_id  # looked up once: that is slow
    mark_ids = {*sentinels} or {tokenizer.mask_token_id}
    unfilled = iter(blanks)
    pieces = []
    for token_id, token, span, added in zip(ids, tokens, spans, encoded["special_tokens_mask"], strict=True):
        if added or span is None:
            start, end = None, None
        elif token_id in mark_ids:
            start, end = next(unfilled, (None, None))  # none is left for a sentinel that is typed
        else:
            start, end = _original(text, span, shifts)
        pieces.append(
            Piece(
                token=token,
                token_id=token_id,
                is_special=bool(added) or token_id in special,
                is_unknown=token_id == unknown_id and unknown_id is not None,
                start=start,
                end=end,
            )
        )
    return Tokenization(model.card.name, text, tuple(pieces), vocabulary_size, model.limit_tokens)


def _with_marks(text: str, blanks: list[Span], marks: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text with marks for blanks, and from which character of it on positions are shifted by how many.

    Args:
        text: As given.
        blanks: Where they stand in it.
        marks: One for each blank; the last one for all that are left.
    """
    seen = ""
    shifts = [(0, 0)]
    last = 0
    for number, (start, end) in enumerate(blanks):
        seen += text[last:start] + marks[min(number, len(marks) - 1)]
        shifts.append((len(seen), end - len(seen)))
        last = end
    return seen + text[last:], shifts


def _original(text: str, span: Span, shifts: list[tuple[int, int]]) -> Span:
    """A span of the text with marks as a span of the text as given, without white space at its ends."""
    start, end = span
    _, shift = shifts[bisect_right(shifts, start, key=lambda one: one[0]) - 1]
    start, end = start + shift, end + shift
    trimmed = text[start:end].strip()
    if trimmed:
        start += text[start:end].index(trimmed)
        end = start + len(trimmed)
    return start, end
