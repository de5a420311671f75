"""Neighbours of a word whatever the sentence, by a model's token embeddings; static_vectors.py has those of a file."""

from __future__ import annotations

import re

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from explorer.analysis.blanks import check_characters, check_option
from explorer.analysis.embedding_results import StaticNeighbour, StaticNeighbours
from explorer.analysis.reading import SPACE_TOKENS, read_tokens
from explorer.errors import UnsuitableModel, UnsuitableText, quoted
from explorer.models.backend import LoadedModel
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.settings import settings

BEFORE = "a "  # a word is looked up as it is spelled in running text: behind a space
ROWS_AT_ONCE = 16_384
RESERVED = re.compile(r"[\[<].*[\]>]")  # tokens that no text is made of, e.g. [unused7]
READ_PER_WANTED = 20  # tokens that are looked at for each neighbour; most of what is near is a whole word


@torch.inference_mode()
def find_static_neighbours(model: LoadedModel, *, word: str, k: int = 10) -> StaticNeighbours:
    """The words of a model's vocabulary whose token embeddings are nearest to that of a word.

    They are the rows of its table as they are; its input embeddings (layer 0) may have more in them, such as the place.

    Args:
        model: Any whose tokens have embeddings: not an ELMo that reads characters.
        word: One word or several; of several tokens the mean is taken.
        k: How many, from 1 to settings().most_choices.

    Returns:
        Tokens that start a word and hold a letter or a digit, by cosine; those of the word itself are left out.

    Raises:
        UnsuitableModel: It has no embeddings of words.
        UnsuitableText: The word is empty, or the vocabulary lacks it.

    Source: Mikolov et al. 2013, https://arxiv.org/abs/1301.3781
    """
    check_option("k", k, settings().most_choices)
    ids, tokens = _own_tokens(model, word)
    table = model.network.get_input_embeddings().weight
    query = functional.normalize(table[list(ids)].float().mean(dim=0), dim=0)
    cosines = torch.cat([_cosines(rows, query) for rows in table.split(ROWS_AT_ONCE)])
    cosines[list(ids)] = -torch.inf
    cosines[model.tokenizer.all_special_ids] = -torch.inf
    vocabulary = len(cosines)
    for count in (min(READ_PER_WANTED * k, vocabulary), vocabulary):
        order = cosines.topk(count).indices.tolist()
        readings = read_tokens(model, order)
        kept = [
            index
            for index in order
            if cosines[index] > -torch.inf
            and readings[index].starts_word
            and not RESERVED.fullmatch(readings[index].token)
            and any(character.isalnum() for character in readings[index].body)
        ]
        if len(kept) >= k:
            break
    neighbours = tuple(
        StaticNeighbour(readings[index].body, readings[index].token, cosines[index].item()) for index in kept[:k]
    )
    pieces = (
        f"The vocabulary has no {quoted(word)}, only its pieces: the mean of {' '.join(tokens)} was searched, which "
        f"need not be near what the word means.",
    )
    remarks = pieces if len(tokens) > len(word.split()) else ()
    return StaticNeighbours(f"{model.card.name}, token embeddings", word, tokens, vocabulary, neighbours, remarks)


def _own_tokens(model: LoadedModel, word: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    tokenizer = model.tokenizer
    if isinstance(tokenizer, ElmoTokenizer):
        raise UnsuitableModel(
            f"{model.card.name} reads the characters of words: it has no table of words to search. Choose another "
            f"model, or load a file of vectors."
        )
    if not tokenizer.is_fast:
        raise UnsuitableModel(f"The tokenizer of {model.card.name} does not say where its tokens stand in a text.")
    check_characters(word)
    word = word.strip()
    if not word:
        raise UnsuitableText("There is no word to look up. Write one.")
    with model.tokenizer_lock:
        encoded = tokenizer(BEFORE + word, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        tokens = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
    own = [
        (token_id, token)
        for token_id, token, (_, end) in zip(encoded["input_ids"], tokens, encoded["offset_mapping"], strict=True)
        if end > len(BEFORE) and not set(token) <= SPACE_TOKENS
    ]
    ids = tuple(token_id for token_id, _ in own)
    if not ids or tokenizer.unk_token_id in ids:
        raise UnsuitableText(f"The vocabulary of {model.card.name} lacks {quoted(word)}. Try another word.")
    return ids, tuple(token for _, token in own)


def _cosines(rows: Float[Tensor, "token dim"], query: Float[Tensor, " dim"]) -> Float[Tensor, " token"]:
    return functional.normalize(rows.float(), dim=1) @ query
