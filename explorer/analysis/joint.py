"""The joint search: whole combinations of fills, improved until every fill suits all the others."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from itertools import zip_longest

import torch

from explorer.analysis.beams import fill_independently, fill_left_to_right, fill_most_confident_first
from explorer.analysis.blanks import BlankedText
from explorer.analysis.search import (
    Answers,
    Filling,
    Found,
    Start,
    affordable_rows,
    allowed_log_probabilities,
    best_first,
    in_step,
    rows_at_once,
    widest,
)
from explorer.models.batching import Row

Fills = tuple[int, ...]
Context = tuple[int, Fills]  # a blank, and what stands in the others

ALTERNATIVES = 8  # per blank of a combination, how many exchanges are considered
NARROWEST_BEAM = 8
BEAM_SHARE = 2  # of the rows that a search can afford, one in so many goes into its beams at most
# Bounds the work with many blanks: once the model was asked for as many contexts per completion, what is best so far
# is the answer. With few blanks the search ends by itself, when no exchange can improve the best combinations.
CONTEXTS_PER_COMPLETION = 64
CUT = (
    "With so many blanks and completions in a text of this length, the search looked at a part of all combinations: "
    "better ones may exist. Fewer blanks, fewer completions or a shorter text are searched in full."
)


def fill_jointly(start: Start, count: int) -> Generator[list[Row], Answers, Found]:
    """Find the combinations of fills that suit each other best.

    Candidates come from the beams of the other strategies. Then, in rounds, one fill of one of the best combinations is
    exchanged for another that its context makes probable (iterated conditional modes, for the n best at once). An
    exchange changes the term of its own blank by a known amount and every other term stays at most 0, so that
    combinations which cannot reach the n best are left out without being scored.

    With many blanks, many completions or a long text the search is cut: it looks at no more contexts than
    CONTEXTS_PER_COMPLETION for each completion, nor than search.MOST_TOKENS tokens hold, but scores as many
    combinations as are asked for.

    Args:
        start: Where the search starts.
        count: How many combinations.

    Returns:
        At most `count` fillings, scored by pseudo-log-likelihood: sum of ln p(fill | all others).

    Source: Salazar et al. 2020, https://arxiv.org/abs/1910.14659;
        Besag 1986, https://doi.org/10.1111/j.2517-6161.1986.tb01412.x
    """
    blanks, tokens = len(start.text.positions), len(start.text.ids)
    width = max(count, NARROWEST_BEAM)
    beam_rows = 2 * (blanks - 1)  # of both beams
    narrowed = widest(width, NARROWEST_BEAM, BEAM_SHARE * beam_rows, tokens)
    most_rows = rows_at_once(start.log_probabilities.shape[-1])
    searches = [fill_left_to_right(start, narrowed), fill_most_confident_first(start, narrowed)]
    beams = yield from in_step(searches, most_rows)
    found = zip_longest(*beams, fill_independently(start, width))  # the best of each come first
    pool = list(dict.fromkeys(filling.ids for ranked in found for filling in ranked if filling is not None))
    most_contexts = min(CONTEXTS_PER_COMPLETION * width, affordable_rows(tokens) - narrowed * beam_rows)
    conditionals = _Conditionals(start, most_rows)
    scores: dict[Fills, float] = {}
    best: list[Filling] = []
    while pool:
        combinations = max((most_contexts - conditionals.asked) // blanks, count - len(scores), 0)
        is_cut, pool = len(pool) > combinations, pool[:combinations]
        yield from conditionals.compute(pool)
        scores.update((fills, conditionals.score(fills)) for fills in pool)
        best = best_first([Filling(fills, score) for fills, score in scores.items()])[:count]
        if is_cut:
            return Found(best, is_cut=True)
        pool = _exchanges(best, conditionals, scores, count)
    return Found(best, is_cut=narrowed < width)


def _exchanges(best: list[Filling], conditionals: _Conditionals, scored: dict[Fills, float], count: int) -> list[Fills]:
    """The most promising combinations that differ from one of the best in one fill, and are not scored yet."""
    to_beat = best[-1].score if len(best) == count else -torch.inf
    estimates: dict[Fills, float] = {}
    for filling in best:
        for blank, fill in enumerate(filling.ids):
            known = conditionals.at(blank, filling.ids)
            for token_id, log_probability in known.items():
                exchanged = (*filling.ids[:blank], token_id, *filling.ids[blank + 1 :])
                if exchanged in scored or log_probability <= to_beat:
                    continue
                estimate = filling.score - known[fill] + log_probability
                estimates[exchanged] = max(estimate, estimates.get(exchanged, -torch.inf))
    return sorted(estimates, key=lambda fills: (-estimates[fills], fills))[: max(4 * count, ALTERNATIVES)]


class _Conditionals:
    """What each blank expects once the others are filled, of every context that was looked at.

    Only the most probable tokens and those asked for are kept, not whole distributions.
    """

    def __init__(self, start: Start, most_rows: int) -> None:
        self._start = start
        self._most_rows = most_rows
        self._known: dict[Context, dict[int, float]] = {}
        self.asked = 0  # contexts that the model was asked for, some of them twice

    def at(self, blank: int, fills: Fills) -> dict[int, float]:
        """Log-probabilities at one blank of a combination: token id -> nats."""
        return self._known[_context(blank, fills)]

    def score(self, fills: Fills) -> float:
        """Pseudo-log-likelihood of a combination, in nats."""
        return sum(self.at(blank, fills)[fill] for blank, fill in enumerate(fills))

    def compute(self, pool: Iterable[Fills]) -> Generator[list[Row], Answers, None]:
        """Ask the model for every context of these combinations that is not known yet."""
        wanted: dict[Context, list[int]] = {}
        for fills in sorted(pool):
            for blank, fill in enumerate(fills):
                context = _context(blank, fills)
                if fill not in self._known.get(context, ()):
                    wanted.setdefault(context, []).append(fill)
        contexts = list(wanted)
        for first in range(0, len(contexts), self._most_rows):
            some = contexts[first : first + self._most_rows]
            self.asked += len(some)
            logits = yield [_row(self._start.text, context) for context in some]
            scores = allowed_log_probabilities(torch.cat(logits), self._start.forbidden)
            best = scores.topk(min(ALTERNATIVES, scores.shape[-1]), dim=-1)
            asked = [(row, fill) for row, context in enumerate(some) for fill in wanted[context]]
            rows, fills = (torch.tensor(column, device=scores.device) for column in zip(*asked, strict=True))
            for context, values, ids in zip(some, best.values.tolist(), best.indices.tolist(), strict=True):
                self._known.setdefault(context, {}).update(zip(ids, values, strict=True))
            for (row, fill), value in zip(asked, scores[rows, fills].tolist(), strict=True):
                self._known[some[row]][fill] = value


def _context(blank: int, fills: Fills) -> Context:
    return blank, fills[:blank] + fills[blank + 1 :]


def _row(text: BlankedText, context: Context) -> Row:
    blank, others = context
    fills: tuple[int | None, ...] = (*others[:blank], None, *others[blank:])
    return Row(text.with_fills(fills), (text.positions[blank],))
