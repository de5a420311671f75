"""How expected a text is to a model: token by token, word by word, and as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from explorer.analysis.blanks import check_option
from explorer.analysis.measure_prompt import unknown_id
from explorer.analysis.option_choice import choose_option
from explorer.analysis.scorable import Scorable, choose_protocol, parse_scorable
from explorer.analysis.scoring_results import PROTOCOLS, ScoringPass, TextScore, TokenScore, WordScore
from explorer.analysis.token_scores import DIRECTIONS, bits, score_tokens
from explorer.errors import UnsuitableText, quoted
from explorer.models.backend import LoadedModel
from explorer.settings import settings

__all__ = ["choose_option", "score_text", "score_texts"]

MOST_PERPLEXITY_NATS = 700.0  # of the mean: exp of more is no float


def score_text(model: LoadedModel, text: str, *, protocol: str = "", alternatives: int = 5) -> TextScore:
    """How expected a text is: surprisal of each token and word, rank, perplexity.

    Args:
        model: A causal model, a masked one, or one of both directions (ELMo).
        text: Of up to 1,024 tokens, or 256 for a masked model.
        protocol: A key of PROTOCOLS; "" = the model's own. "left_to_right": each token from those before it, the first
            from the token that starts a text if there is one. "one_masked": each token masked in turn. "word_masked":
            likewise, with the later tokens of its word masked too, which does not let a long rare word give itself
            away.
        alternatives: How many of the likeliest tokens stand beside each, from 0 to settings().most_choices.

    Returns:
        Log-probabilities in nats and surprisals in bits; what they are of is said there. Those of a masked model are
        of no distribution over texts: compare them within one model only.

    Raises:
        UnsuitableModel: The model cannot score, or not so.
        UnsuitableText: The text cannot be scored as asked.

    Source: Hale 2001, https://aclanthology.org/N01-1021; Salazar et al. 2020, https://arxiv.org/abs/1910.14659;
        Kauf and Ivanova 2023, https://arxiv.org/abs/2305.10588; Peters et al. 2018, https://arxiv.org/abs/1802.05365
    """
    return score_texts(model, [text], protocol=protocol, alternatives=alternatives)[0]


@torch.inference_mode()
def score_texts(
    model: LoadedModel, texts: Sequence[str], *, protocol: str = "", alternatives: int = 0
) -> tuple[TextScore, ...]:
    """Score texts together, which is faster than one by one; arguments as of score_text.

    Args:
        model: As for score_text.
        texts: At most settings().most_texts.
        protocol: Likewise.
        alternatives: Likewise.

    Returns:
        One score for each text.

    Raises:
        UnsuitableModel: The model cannot score, or not so.
        UnsuitableText: A text cannot be scored; the message says which, and why.
    """
    check_option("alternatives", alternatives, settings().most_choices, least=0)
    if isinstance(texts, str) or len(texts) > settings().most_texts:
        raise UnsuitableText(f"Give a list of at most {settings().most_texts} texts.")
    protocol = choose_protocol(model.card, protocol)
    parsed = []
    for number, text in enumerate(texts):
        try:
            parsed.append(_parse(model, text, protocol))
        except UnsuitableText as error:
            raise (UnsuitableText(f"Text {number + 1}: {error}") if len(texts) > 1 else error) from None
    found = score_tokens(model, parsed, protocol, alternatives=alternatives)
    return tuple(
        _result(model, text, protocol, [tokens[index] for tokens in found]) for index, text in enumerate(parsed)
    )


def _parse(model: LoadedModel, text: str, protocol: str) -> Scorable:
    parsed = parse_scorable(model, text, protocol)
    if protocol == "left_to_right" and len(parsed.places) == 1 and not parsed.is_first_scored:
        raise UnsuitableText(
            f"{quoted(text)} is one token, and {model.card.name} has no token that starts a text: there is nothing to "
            "expect it from. Write another word."
        )
    return parsed


def _result(
    model: LoadedModel, text: Scorable, protocol: str, directions: Sequence[tuple[TokenScore, ...]]
) -> TextScore:
    lacked = unknown_id(model.tokenizer)
    passes = tuple(
        ScoringPass(
            direction, tokens, sum_words(text, tokens, lacked), total := _total(tokens), _perplexity([tokens], total)
        )
        for direction, tokens in zip(DIRECTIONS[protocol], directions, strict=True)
    )
    total = sum(one.log_probability for one in passes)
    return TextScore(
        model=model.card.name,
        text=text.text,
        protocol=protocol,
        score=PROTOCOLS[protocol],
        passes=passes,
        log_probability=total,
        surprisal_bits=bits(total),
        perplexity=_perplexity(directions, total),
        bits_per_character=bits(total) / len(passes) / len(text.text.strip()),
        token_count=sum(token.log_probability is not None for token in directions[0]),
        remarks=tuple(_remarks(model, text, protocol)),
    )


def sum_words(text: Scorable, tokens: Sequence[TokenScore], unknown: int | None) -> tuple[WordScore, ...]:
    """The scores of tokens summed over the words they belong to.

    Args:
        text: The text.
        tokens: All of its own tokens.
        unknown: Id of the token for whatever the vocabulary lacks; None = it lacks nothing.
    """
    words = []
    lacks = [text.ids[place] == unknown for place in text.places]
    for index, (start, end) in enumerate(text.words):
        own = [token for token, word in zip(tokens, text.word_of, strict=True) if word == index]
        scored = own and all(token.log_probability is not None for token in own)
        total = _total(own) if scored else None
        rank = max(token.rank for token in own) if scored else None
        surprisal = bits(total) if scored else None
        has_unknown = any(lack for lack, word in zip(lacks, text.word_of, strict=True) if word == index)
        words.append(WordScore(text.text[start:end], start, end, len(own), total, surprisal, rank, has_unknown))
    return tuple(words)


def _total(tokens: Sequence[TokenScore]) -> float:
    return math.fsum(token.log_probability for token in tokens if token.log_probability is not None)


def _perplexity(directions: Sequence[Sequence[TokenScore]], total: float) -> float:
    count = sum(token.log_probability is not None for tokens in directions for token in tokens)
    return math.exp(min(-total / count, MOST_PERPLEXITY_NATS))


def _remarks(model: LoadedModel, text: Scorable, protocol: str) -> list[str]:
    remarks = []
    if protocol == "left_to_right":
        first = text.text[slice(*text.spans[0])]
        if text.is_first_scored:
            remarks.append(
                f"{model.card.name} expects the first token, {first}, from {text.tokens[0]}, which starts a text."
            )
        else:
            remarks.append(
                f"The first token, {first}, is not scored: {model.card.name} has no token that starts a text."
            )
    if protocol == "both_directions":
        remarks.append(
            f"{model.card.name} expects the first token from the sign that starts a text, and, read from the right, "
            "the last one from the sign that ends it."
        )
    lacked = unknown_id(model.tokenizer)
    unknown = [span for span, place in zip(text.spans, text.places, strict=True) if text.ids[place] == lacked]
    if unknown:
        words = ", ".join(dict.fromkeys(text.text[start:end] for start, end in unknown[:3]))
        remarks.append(
            f"The vocabulary of {model.card.name} lacks {len(unknown)} of the tokens ({words}); what is scored there "
            f"is {model.tokenizer.unk_token}, any unknown word."
        )
    return remarks
