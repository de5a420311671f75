"""Rogue dimensions in words and tables: the top ones by name, from layer to layer, without them. HTML, all escaped."""

from __future__ import annotations

from html import escape

import numpy as np

from explorer.analysis.anisotropy_results import DimensionAblation, RogueDimensions
from explorer.analysis.one_layer import find_layer
from explorer.figures.notes import note
from explorer.figures.rogue import share_words
from explorer.figures.style import percent, two_decimals

HALF = 0.5
TIMES = 2  # as much as each would have: less is not worth a word
SMALL_COSINE = 0.1  # shares of so little say little
MOST_ROWS = 10  # of the table over layers; as many as the top dimensions of a layer, or more
SOFT_HYPHEN = "\u00ad"  # of long words above narrow columns: seen where a phone breaks them there
NOTHING = "<td class='number quiet'>·</td>"


def rogue_words(result: RogueDimensions, layer: int, k: int) -> str:
    """Whether one dimension makes up the mean cosine of a layer, a few do, or none.

    Args:
        result: Of k dimensions or more.
        layer: 0 = input embeddings.
        k: How many are looked at.
    """
    at = find_layer(result.layers, layer)
    cosine, dims = float(result.mean_cosine[at]), result.top[at, :k].tolist()
    shares = result.shares[at, :k].tolist()
    count = result.contributions.shape[1]
    start = (
        f"<b>{escape(result.model)}, layer {result.layers[at]}:</b> the mean cosine is "
        f"<b title='{cosine!r}'>{two_decimals(cosine)}</b>. "
    )
    if not np.isfinite(shares[0]):
        return f"<p class='senses-said'>{start}It is 0 or less, so that no dimension has a share of it.</p>"
    first = f"<b title='{shares[0]!r}'>{share_words(shares[0])}</b>"
    together = np.cumsum(shares)
    few = int(np.argmax(together >= HALF)) + 1 if together[-1] >= HALF else 0
    if few == 1:
        says = f"One dimension makes most of it: number {dims[0]} of {count:,} has {first}."
    elif few:
        says = (
            f"No single dimension makes most of it, but {few} of {count:,} do together: {_list(dims[:few])} have "
            f"<b title='{together[few - 1]!r}'>{share_words(float(together[few - 1]))}</b>, the first of them {first}."
        )
    else:
        top = f"so few: the top {k} of {count:,} have" if k > 1 else f"one alone: the top one of {count:,} has"
        says = (
            f"It is not made by {top} <b title='{together[-1]!r}'>{share_words(float(together[-1]))}</b> of it"
            f"{f', the first {first}' if k > 1 else ''}."
        )
    alike = f" Were all {count:,} alike, each would have {percent(1 / count)}"
    alike += f"; the first has {shares[0] * count:,.0f} times as much." if shares[0] * count >= TIMES else "."
    small = " The mean cosine is small here: shares of so little say little." if cosine < SMALL_COSINE else ""
    return f"<p class='senses-said'>{start}{says}{alike}{small}</p>"


def top_table(result: RogueDimensions, layer: int, k: int) -> str:
    """The top dimensions of a layer, and how far similarities without them go with those with all."""
    at = find_layer(result.layers, layer)
    dims = result.top[at, :k].tolist()
    rows = ""
    for rank, dim in enumerate(dims):
        squared, ranked = float(result.r_squared[at, rank]), float(result.spearman[at, rank])
        rows += (
            f"<tr><th scope='row'>{dim}</th>{_number(float(result.contributions[at, dim]), 4)}"
            f"{_share(float(result.shares[at, rank]))}{_number(float(result.means[at, rank]), 3)}"
            f"{_number(float(result.deviations[at, rank]), 3)}{_number(squared, 3)}{_number(ranked, 3)}</tr>"
        )
    heads = ("adds to the cosine", "share of it", "mean", f"standard devia{SOFT_HYPHEN}tion",
             "r² without it and those above", f"rank corre{SOFT_HYPHEN}lation")  # fmt: skip
    return _table("Dimension", heads, rows, "The top dimensions")


def ablation_table(ablation: DimensionAblation, k: int) -> str:
    """What predictions are without the top 1, 2, … dimensions, beside as many random ones."""
    rows = "".join(
        f"<tr><th scope='row'>{number}</th>{_number(one.divergence_bits, 4)}{_number(random, 4)}{_share(one.kept)}"
        f"{_share(kept)}</tr>"
        for number, (one, random, kept) in enumerate(
            zip(ablation.rogue[:k], ablation.random, ablation.random_kept, strict=False), start=1
        )
    )
    heads = ("bits, the top", "bits, at random", "same first choice, the top", "same first choice, at random")
    return _table("Without", heads, rows, "Predictions without dimensions")


def layers_table(result: RogueDimensions, layer: int, k: int) -> str:
    """Where the same dimensions are on top: a row for each that is among the top k of a layer, a column for each layer.

    Where there are too many, those of the layer looked at are shown, and of the others those that are so most often.

    Args:
        result: Of k dimensions or more.
        layer: Marked as the one looked at.
        k: How many of each layer count.
    """
    top = result.top[:, :k]
    at = find_layer(result.layers, layer)
    found = np.unique(top)
    often = {int(dim): int((top == dim).sum()) for dim in found}
    largest = {int(dim): float(result.contributions[:, dim].max()) for dim in found}
    order = sorted(often, key=lambda dim: (-often[dim], -largest[dim]))
    shown = sorted(order, key=lambda dim: dim not in top[at])[:MOST_ROWS]
    heads = [f"{'0, input' if one == 0 else one}" for one in result.layers]
    rows = ""
    for dim in sorted(shown, key=order.index):
        cells = "".join(_place(result, index, dim, k) for index in range(len(result.layers)))
        rows += f"<tr{' class=at' if dim in top[at] else ''}><th scope='row'>{dim}</th>{cells}</tr>"
    more = len(order) - MOST_ROWS
    left = note(f"{more:,} more {'is' if more == 1 else 'are'} among the top {k} of another layer.") if more > 0 else ""
    return _table("Dimension", heads, rows, "Dimensions from layer to layer", "rogue-layers") + left


def layers_words(result: RogueDimensions, k: int) -> str:
    """How long the same dimension stays on top."""
    firsts = result.top[:, 0].tolist()
    best = max(dict.fromkeys(firsts), key=firsts.count)
    here = [layer for layer, dim in zip(result.layers, firsts, strict=True) if dim == best]
    count = len(firsts)
    if len(here) == 1 < count:
        says = f"Another dimension is first in each of the {count} layers."
    else:
        says = f"Dimension {best} is first in {len(here)} of {count} layers ({_list(here)})."
    always = sorted(set.intersection(*(set(row) for row in result.top[:, :k].tolist())))
    kept = f"Among the top {k} of every layer: {_list(always)}." if always else f"None is in the top {k} of all layers."
    return note(f"{says} {kept}") if count > 1 else ""


def ablation_words(ablation: DimensionAblation, k: int) -> str:
    """Whether predictions need the top dimensions more than as many others."""
    one, random, kept = ablation.rogue[k - 1], ablation.random[k - 1], ablation.random_kept[k - 1]
    which = "the top dimension" if k == 1 else f"the top {k}"
    others = "a random one" if k == 1 else f"{k} random ones"
    least, most = ablation.random_least[k - 1], ablation.random_most[k - 1]
    top, move, are = ("the top one", "moves", "is") if k == 1 else ("the top ones", "move", "are")
    if one.low_bits > most:
        told = f"So {top} {move} them {_times(one.divergence_bits, random)}farther than any of the draws."
    elif one.high_bits < least:
        told = f"So {top} {move} them less than any of the draws."
    else:
        told = f"These overlap: {top} {are} not told apart from others by so few predictions and draws."
    return note(
        f"Without {which}, predictions move by {one.divergence_bits:.4f} bits (95 % interval {one.low_bits:.4f} to "
        f"{one.high_bits:.4f}, the {ablation.places:,} predictions drawn again), and {percent(one.kept)} keep their "
        f"first choice; without {others}, by {random:.4f} bits ({ablation.draws} draws, from {least:.4f} to "
        f"{most:.4f}), and {percent(kept)} keep it. {told}"
    )


def _times(bits: float, random: float) -> str:
    return f"about {bits / random:.1f} times as far as the mean of the draws, and " if random > 0 else ""


def _place(result: RogueDimensions, index: int, dim: int, k: int) -> str:
    ranks = np.flatnonzero(result.top[index, :k] == dim)
    value, cosine = float(result.contributions[index, dim]), float(result.mean_cosine[index])
    if not len(ranks):
        return NOTHING
    share = float(result.shares[index, ranks[0]])
    words = f"dimension {dim}, layer {result.layers[index]}: {value!r} of a mean cosine of {cosine!r}"
    heat = min(max(share, 0.0), 1.0) if np.isfinite(share) else 0.0
    return (
        f"<td class='number heat' style='--c:{heat:.2f}' title='{words}'>{share_words(share)} "
        f"<small>#{ranks[0] + 1}</small></td>"
    )


def _list(numbers: list[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _number(value: float, digits: int) -> str:
    if not np.isfinite(value):
        return "<td class='number quiet'>–</td>"
    return f"<td class='number' title='{value!r}'>{f'{value:.{digits}f}'.replace('-', '−')}</td>"


def _share(value: float) -> str:
    title = f" title='{value!r}'" if np.isfinite(value) else ""
    return f"<td class='number'{title}>{share_words(value)}</td>"


def _table(corner: str, heads: tuple[str, ...] | list[str], rows: str, label: str, kind: str = "rogue-top") -> str:
    columns = "".join(f"<th scope='col' class='number'>{escape(head)}</th>" for head in heads)
    return (
        f"<div class='scores-scroll' tabindex='0' role='region' aria-label='{label}'><table class='scores {kind}'>"
        f"<thead><tr><th scope='col'>{corner}</th>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
