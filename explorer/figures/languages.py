"""Languages of a multilingual corpus: how much text there is of each, and how often each is read."""

from collections.abc import Sequence
from html import escape

from explorer.analysis.language_sampling import LanguageShare
from explorer.figures.style import percent

WIDEST_PERCENT = 82  # of the column; the number stands beside the bar


def language_bars(languages: Sequence[LanguageShare]) -> str:
    """A row for each language: share of the text, share of what is read, and how often each text is seen."""
    widest = max(max(row.share, row.sampled) for row in languages)
    rows = "".join(
        f"<tr><th scope='row'>{escape(row.language)}<small>{row.size_gib:.1f} GiB</small></th>"
        f"<td>{_bar('share', row.share / widest, percent(row.share))}"
        f"{_bar('sampled', row.sampled / widest, percent(row.sampled))}</td>"
        f"<td class='number'>× {row.sampled / row.share:.2g}</td></tr>"
        for row in languages
    )
    return (
        "<table class='languages'><thead><tr><th scope='col'>Language</th><th scope='col'>"
        "<i class='share'></i> of the text, p &nbsp; <i class='sampled'></i> of what is read, q</th>"
        f"<th scope='col'>q / p</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _bar(kind: str, width: float, words: str) -> str:
    return f"<div class='bar {kind}'><i style='width: {WIDEST_PERCENT * width:.1f}%'></i><span>{words}</span></div>"
