"""Scored texts as text: every token on a background that is the stronger the less it was expected, and word by word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from explorer.analysis.scoring_results import (
    ScoreComparison,
    ScoringPass,
    TextScore,
    TokenScore,
    WordDifference,
)
from explorer.figures.notes import note
from explorer.figures.style import NATS_PER_BIT, likelihood, nats, percent

LEAST_BITS = 0.05  # a difference of less is written 0.0
STRONGEST_BITS = 16.0  # surprisals from here on have the same background
DIRECTIONS = {
    "forward": "each token from what stands before it",
    "backward": "each token from what stands behind it",
    "both": "each token from both sides",
}
UNSCORED = "–"


def scored_texts(scores: Sequence[TextScore]) -> str:
    """The text as each model read it, side by side where there are two, with what it amounts to."""
    columns = "".join(_column(score) for score in scores)
    return f"<div class='scored-columns'>{columns}</div>{_legend()}"


def score_table(score: TextScore) -> str:
    """Surprisal and rank of every word of a text, in its order."""
    heads = "".join(
        f"<th scope='col' class='number'>{head}</th>"
        for one in score.passes
        for head in (f"probability, bits{_arrow(one)}", f"rank{_arrow(one)}")
    )
    rows = "".join(
        f"<tr><th scope='row'><bdi>{escape(words[0].text)}</bdi></th>"
        + "".join(_bits_cell(word.surprisal_bits) + _rank_cell(word.rank) for word in words)
        + f"<td class='number'>{words[0].tokens}</td></tr>"
        for words in zip(*(one.words for one in score.passes), strict=True)
    )
    return _table(f"<th scope='col'>Word</th>{heads}<th scope='col' class='number'>tokens</th>", rows)


def comparison_table(comparison: ScoreComparison) -> str:
    """Both models word by word, and which of them expected it more."""
    first, other = (escape(name) for name in comparison.models)
    heads = (
        f"<th scope='col'>Word</th><th scope='col' class='number'>{first}</th><th scope='col' class='number'>"
        f"{other}</th><th scope='col' class='number'>ranks</th><th scope='col'>"
        f"expected more by:<br>← {first} · {other} →</th>"
    )
    most = max([abs(word.difference_bits) for word in comparison.words if word.difference_bits is not None] or [0.0])
    rows = "".join(_difference_row(word, comparison.models, max(most, 1.0)) for word in comparison.words)
    know = " and know" if any(word.unknown_to for word in comparison.words) else ""
    over = "the only word" if comparison.words_compared == 1 else f"the {comparison.words_compared:,} words"
    over = f"Over {over} that both scored{know}, {_whose(comparison)}. "
    return _table(heads, rows) + note(
        (over if comparison.words_compared else f"There is no word that both scored{know}. ")
        + f"{comparison.left_alone} "
        + "Small: bits, each of which halves the probability. Ranks are those of a word's least expected token."
    )


def protocol_note(scores: Sequence[TextScore]) -> str:
    """What was measured, what to know about it, and why two ways of scoring are not to be compared as wholes."""
    parts = [f"{score.model}: {score.score}." for score in scores]
    parts += [remark for score in scores for remark in score.remarks]
    if len({"masked" in score.protocol for score in scores}) > 1:
        parts.append("A model that sees both sides has it easier: compare which words surprise it, not the totals.")
    return "".join(note(part) for part in dict.fromkeys(parts))


def bits(surprisal: float | None) -> str:
    """A surprisal as a reader wants it."""
    return UNSCORED if surprisal is None else f"{surprisal:.1f}"


def _column(score: TextScore) -> str:
    passes = "".join(_pass(score, one) for one in score.passes)
    is_twice = len(score.passes) > 1
    title = f"ln p = {nats(score.log_probability)} nats{' in both readings together' * is_twice}"
    sum_of_all = f"<b title='{title}'>{score.bits_a_reading:.1f} bits</b>{' a reading' * is_twice}"
    whose = "the one token" if score.token_count == 1 else f"each of {score.token_count:,} tokens"
    whose += ", in either reading," * is_twice
    had = f"{whose} had" if score.token_count == len(score.passes) == 1 else f"as if {whose} had had"
    total = (
        f"<p class='note total'>{score.perplexity_name} "
        f"<b title='{score.perplexity!r}'>{_large(score.perplexity)}</b>: {had} a chance of 1 in so many "
        f"· {sum_of_all} · {score.bits_per_character:.2f} bits per character</p>"
    )
    return f"<section><h3>{escape(score.model)}</h3>{passes}{total}</section>"


def _pass(score: TextScore, one: ScoringPass) -> str:
    text = "".join(_pieces(score.text, one.tokens))
    return (
        f"<p class='step'>{DIRECTIONS[one.direction].capitalize()}</p>"
        f"<div class='scored'><p class='scored-text' dir='auto'>{text}</p>"
        "<p class='scored-hint'>Point at a token, or tap it, for its numbers.</p></div>"
    )


def _pieces(text: str, tokens: Sequence[TokenScore]) -> Iterator[str]:
    """The text, cut where its tokens end; tokens that share a character, or are a space alone, share a piece."""
    at = 0
    group: list[TokenScore] = []
    for index, token in enumerate(tokens):
        group.append(token)
        end = max(token.end, at)
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if following is not None and (end == at or token.start == token.end):
            continue  # nothing of its own to show
        if following is not None and following.start < end:
            continue
        start = min(max(group[0].start, at), end)
        yield escape(text[at:start]) + _piece(text[start:end], group)
        at, group = end, []
    yield escape(text[at:])


def _piece(text: str, group: Sequence[TokenScore]) -> str:
    scored = [token.surprisal_bits for token in group if token.surprisal_bits is not None]
    shade = min(sum(scored) / STRONGEST_BITS, 1.0)
    kind = "" if scored else " unscored"
    facts = "".join(_facts(token) for token in group)
    return (
        f"<span class='scored-token{kind}' tabindex='0' style='--c:{shade:.2f}'>{escape(text) or '▪'}"
        f"<span class='facts' role='tooltip'>{facts}</span></span>"
    )


def _facts(token: TokenScore) -> str:
    name = f"<b><bdi>{escape(token.token)}</bdi></b>"
    if token.log_probability is None:
        return f"<span>{name} not scored: nothing stands before it</span>"
    others = " · ".join(
        f"<bdi>{escape(other.text.strip() or other.token)}</bdi> {percent(other.probability)}"
        for other in token.alternatives
    )
    expected = f"<span>Expected here: {others}</span>" if others else ""
    return (
        f"<span>{name} {likelihood(token.log_probability)} · {token.surprisal_bits:.2f} bits · "
        f"rank {token.rank:,} · entropy {token.entropy_bits:.1f} bits</span>{expected}"
    )


def _legend() -> str:
    return (
        "<p class='legend scored-legend'><span>100 %, 0 bits: certain</span><i class='scale'></i>"
        f"<span>{likelihood(-STRONGEST_BITS * NATS_PER_BIT)} and less, {STRONGEST_BITS:.0f} bits: surprising</span>"
        "<span>· each bit halves the probability</span></p>"
    )


def _table(heads: str, rows: str) -> str:
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Word by word'><table class='scores'>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _difference_row(word: WordDifference, models: tuple[str, str], most: float) -> str:
    ranks = " / ".join(UNSCORED if rank is None else f"{rank:,}" for rank in word.ranks)
    cells = "".join(map(_bits_cell, word.surprisal_bits)) + f"<td class='number'>{ranks}</td>"
    unknown = "".join(f"unknown to {escape(name)}<br>" for name in word.unknown_to)
    bar = f"<td><small>{unknown}</small></td>"
    if word.difference_bits is not None:
        share = 50 * abs(word.difference_bits) / most
        side = "first" if word.difference_bits > 0 else "other"
        who = models[0] if word.difference_bits > 0 else models[1]
        words = (
            "expected alike by both"
            if abs(word.difference_bits) < LEAST_BITS
            else f"{abs(word.difference_bits):.1f} bits more expected by {escape(who)}"
        )
        bar = (
            f"<td class='difference' title='{words}'><span class='hidden-words'>{words}</span>"
            f"<i class='{side}' style='--w:{share:.1f}%'></i></td>"
        )
    return f"<tr><th scope='row'><bdi>{escape(word.word)}</bdi></th>{cells}{bar}</tr>"


def _whose(comparison: ScoreComparison) -> str:
    difference = comparison.difference_bits
    if abs(difference) < LEAST_BITS:
        return "both were surprised alike"
    both = [
        [word.surprisal_bits[one] for word in comparison.words if word.difference_bits is not None] for one in (0, 1)
    ]
    less, more = sorted(zip(map(math.fsum, both), comparison.models, strict=True))
    return f"{less[1]} was surprised less: {less[0]:.1f} bits in all against {more[0]:.1f}"


def _bits_cell(surprisal: float | None) -> str:
    if surprisal is None:
        return f"<td class='number' title='not scored'>{UNSCORED}</td>"
    shade = min(surprisal / STRONGEST_BITS, 1.0)
    told = f"{likelihood(-surprisal * NATS_PER_BIT)} <small>{bits(surprisal)}</small>"
    return f"<td class='number heat' style='--c:{shade:.2f}' title='{surprisal!r} bits'>{told}</td>"


def _rank_cell(rank: int | None) -> str:
    return f"<td class='number'>{UNSCORED if rank is None else f'{rank:,}'}</td>"


def _arrow(one: ScoringPass) -> str:
    return {"forward": " →", "backward": " ←", "both": ""}[one.direction]


def _large(number: float) -> str:
    return f"{number:,.0f}" if number < 1e9 and number >= 9.95 else f"{number:.1f}" if number < 1e9 else f"{number:.1e}"
