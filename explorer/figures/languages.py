"""Languages of a multilingual corpus: how much text there is of each, and how often each is read."""

from collections.abc import Collection, Sequence
from html import escape

from explorer.analysis.language_sampling import LanguageShare, sum_smallest
from explorer.figures.notes import note
from explorer.figures.style import percent

WIDEST_PERCENT = 82  # of the column; the number stands beside the bar
SMALLEST = 50  # languages that are summed up in a line


def language_bars(languages: Sequence[LanguageShare], shown: Collection[str]) -> str:
    """A line on the smallest, and a row for each language shown: share of the text, share of what is read, q / p.

    Args:
        languages: All of the corpus.
        shown: Names of those to draw; they keep the order of `languages`.
    """
    drawn = [row for row in languages if row.language in shown]
    if not drawn:
        return _say_smallest(languages) + "<p class='quiet'>Choose a language above.</p>"
    widest = max(max(row.share, row.sampled) for row in drawn)
    rows = "".join(
        f"<tr><th scope='row'>{escape(row.language)}<small>{row.size_gib:.1f} GiB</small></th>"
        f"<td>{_bar('share', row.share / widest, percent(row.share))}"
        f"{_bar('sampled', row.sampled / widest, percent(row.sampled))}</td>"
        f"<td class='number'>× {_times(row.sampled / row.share)}</td></tr>"
        for row in drawn
    )
    return _say_smallest(languages) + (
        "<table class='languages'><thead><tr><th scope='col'>Language</th><th scope='col'>"
        "<i class='share'></i> of the text, p &nbsp; <i class='sampled'></i> of what is read, q</th>"
        f"<th scope='col'>q / p</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _say_smallest(languages: Sequence[LanguageShare]) -> str:
    sums = sum_smallest(languages, SMALLEST)
    return note(
        f"The {sums.count} languages with the least text have {percent(sums.share)} of it together, and are "
        f"{percent(sums.sampled)} of what is read."
    )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:#.2g}"


def _bar(kind: str, width: float, words: str) -> str:
    return f"<div class='bar {kind}'><i style='width: {WIDEST_PERCENT * width:.1f}%'></i><span>{words}</span></div>"
