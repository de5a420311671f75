"""Next tokens, layers, scores and choices as text for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from explorer.analysis.option_results import NORMALISATIONS
from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.next_token_results import NextTokens
    from explorer.analysis.option_results import OptionChoice
    from explorer.analysis.scoring_results import LayerReadings, ScoreComparison, TextScore

NONE = "-"


def describe_next(result: NextTokens) -> str:
    """One line per token, best first."""
    rows = [["rank", "token", "text", "probability"]]
    for rank, token in enumerate(result.tokens, start=1):
        rows.append([str(rank), token.token, repr(token.text), percent(token.probability)])
    entropy = f"entropy {result.entropy_nats:.2f} nats ({result.entropy_nats / math.log(2):.2f} bits)"
    read = f"{result.token_count} of at most {result.limit_tokens} tokens read"
    return columns(rows, right=[0, 3]) + f"\n\nModel: {result.model} · {entropy} · {read}"


def describe_layers(result: LayerReadings) -> str:
    """One line per layer, the model's own answer last."""
    answer = result.layers[-1].tokens[0]
    rows = [["layer", "rank of answer", "bits", "likeliest"]]
    for layer in result.layers:
        words = ", ".join(f"{token.text.strip() or token.token} {percent(token.probability)}" for token in layer.tokens)
        rows.append([str(layer.layer), f"{layer.rank:,}", f"{layer.entropy_nats / math.log(2):.1f}", words])
    about = f"Answer: {answer.text.strip() or answer.token} · layer 0 = input embeddings · bits: entropy"
    return columns(rows, right=[0, 1, 2]) + f"\n\n{about}\nRead by {result.applied}\nModel: {result.model}"


def describe_score(result: TextScore) -> str:
    """One line per token of each direction, then the totals."""
    parts = []
    for one in result.passes:
        rows = [["token", "bits", "nats", "rank", "entropy", "expected"]]
        for token in one.tokens:
            expected = ", ".join(f"{o.text.strip() or o.token} {percent(o.probability)}" for o in token.alternatives)
            numbers = [NONE] * 4
            if token.log_probability is not None:
                numbers = [f"{token.surprisal_bits:.2f}", f"{token.log_probability:.2f}", f"{token.rank:,}"]
                numbers.append(f"{token.entropy_bits:.1f}")
            rows.append([token.token, *numbers, expected])
        title = f"{one.direction}\n" if len(result.passes) > 1 else ""
        parts.append(title + columns(rows, right=[1, 2, 3, 4]))
    readings = len(result.passes)
    total = (
        f"{result.perplexity_name} {result.perplexity:,.1f} over {result.token_count} tokens · "
        f"{result.bits_a_reading:.2f} bits = {-result.log_probability / readings:.2f} nats"
        f"{' a reading' * (readings > 1)} · {result.bits_per_character:.2f} bits per character"
    )
    about = f"Model: {result.model} · {result.score}"
    return "\n\n".join([*parts, "\n".join([*result.remarks, total, about])])


def describe_comparison(result: ScoreComparison) -> str:
    """One line per word, and which model was surprised less."""
    rows = [["word", "first, bits", "other, bits", "difference", "ranks"]]
    for word in result.words:
        bits = [NONE if one is None else f"{one:.2f}" for one in word.surprisal_bits]
        difference = NONE if word.difference_bits is None else f"{word.difference_bits:+.2f}"
        rows.append([word.word, *bits, difference, " / ".join(NONE if r is None else f"{r:,}" for r in word.ranks)])
    first, other = result.models
    total = f"Other less first, over {result.words_compared} words: {result.difference_bits:+.2f} bits"
    about = "\n".join([total, *[result.left_alone] * bool(result.left_alone), f"First: {first} · Other: {other}"])
    return columns(rows, right=[1, 2, 3, 4]) + f"\n\n{about}"


def describe_choice(result: OptionChoice) -> str:
    """The options, best first, each with the sum behind it."""
    parts = []
    for number, one in enumerate(result.options, start=1):
        lines = [f"{number}. {one.option}  {one.score:.3f}  ({percent(one.share)} of the options)"]
        for name, part in (("", one.part), ("less, in the neutral text: ", one.baseline)):
            if part:
                terms = " + ".join(f"{token.token} {token.log_probability:.2f}" for token in part.tokens)
                lines.append(f"     {name}{terms} = {part.log_probability:.2f}")
        parts.append("\n".join(lines))
    _, done = NORMALISATIONS[result.normalise]
    about = f"{done} Summed: {result.scored}; each is {result.score}, in nats.\nModel: {result.model}"
    return "\n".join([*parts, "", about])
