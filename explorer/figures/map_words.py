"""What is said of a map of uses: how far it may be believed, what a picture is of, what a point is."""

from __future__ import annotations

from html import escape
from textwrap import wrap

from explorer.analysis.projection_results import MapQuality, Projection
from explorer.analysis.projections import METHODS
from explorer.figures.style import percent

FEWEST_USES = 10  # of fewer, shares of neighbours say nothing
MUCH = 0.1  # less of the same sense on the map than by all numbers
HOVER_CHARACTERS = 44  # in a line: as a phone shows
ISLANDS = "Islands need not be senses: {method} keeps who is near whom, and parts the rest as it likes."
MOST_AROUND = 90  # characters of a sentence on either side of a use


def quality_words(projection: Projection, place: int) -> str:
    """How far the map of a layer may be believed, in some sentences of HTML.

    Args:
        projection: Of one use or more.
        place: Of the layer among those of the maps.
    """
    words = _quality_words(projection, place)
    name = METHODS[projection.maps.method]
    return words if projection.maps.method == "pca" else f"{words} {ISLANDS.format(method=name)}"


def _quality_words(projection: Projection, place: int) -> str:
    quality, shares = projection.quality[place], projection.maps.shares
    parts = []
    if shares is not None:
        parts.append(f"The map shows <b>{_share(float(shares[place].sum()))}</b> of the variance.")
    if quality.alike is not None:
        parts = [f"The maps of the two models agree by <b>{_share(quality.alike)}</b> (Procrustes’ R²)."]
    if quality.points < FEWEST_USES:
        return " ".join([*parts, "So few uses do not tell how far the map may be believed."])
    if quality.alike is not None:
        return " ".join([*parts, "Of the first model:", *_sense_words(quality)])
    if quality.trustworthiness is not None:
        parts.append(
            f"Trustworthiness <b title='{quality.trustworthiness!r}'>{quality.trustworthiness:.2f}</b> (1 = every "
            f"neighbour on the map is one in the model, about 0.5 = by chance; k = {quality.k})."
        )
    return " ".join(parts + _sense_words(quality))


def title_words(projection: Projection, place: int, word: str = "") -> str:
    """What a picture says of the map of a layer, escaped: plotly reads tags in titles.

    Args:
        projection: Of one use or more.
        place: Of the layer among those of the maps.
        word: Whose uses these are; "" = of several.
    """
    method = METHODS[projection.maps.method]
    if (axes := projection.maps.coordinates.shape[2]) > 2:  # a still picture does not show it
        method += f" in {axes} dimensions"
    about = f"{projection.model}, {projection.vectors[place]}, {method}, n = {count_uses(projection):,}"
    return escape(f"“{word}”, {about}" if word else about, quote=False)


def hover_words(projection: Projection, index: int) -> str:
    """The sentence of a point with its use in bold, broken into lines; plotly reads tags, so they are escaped."""
    sentence, (start, end) = projection.sentences[index], projection.positions[index]
    before, behind = sentence[:start], sentence[end:]
    before = before if len(before) <= MOST_AROUND else "…" + before[-MOST_AROUND:]
    behind = behind if len(behind) <= MOST_AROUND else behind[:MOST_AROUND] + "…"
    open_mark, close_mark = "\ue000", "\ue001"  # private characters, which keep their places when lines are broken
    marked = f"{before}{open_mark}{sentence[start:end]}{close_mark}{behind}"
    lines = wrap(marked, HOVER_CHARACTERS, break_long_words=True) or [""]
    text = escape("\n".join(lines), quote=False).replace(open_mark, "<b>").replace(close_mark, "</b>")
    sense = escape(projection.senses[index], quote=False)
    whose = [escape(projection.models[index], quote=False)] if projection.models else []
    about = " · ".join([*([sense] if sense else []), *whose])
    return text.replace("\n", "<br>") + (f"<br><i>{about}</i>" if about else "")


def count_uses(projection: Projection) -> int:
    """How many uses: with two models each is two points."""
    return len(projection.sentences) // max(1, len(set(projection.models)))


def _sense_words(quality: MapQuality) -> list[str]:
    if quality.nearest_on_map is None or quality.nearest_in_space is None:
        return []
    parts = [
        f"The nearest use has the same sense for <b>{_share(quality.nearest_on_map)}</b> on the map, and for "
        f"<b>{_share(quality.nearest_in_space)}</b> by all numbers of the vectors."
    ]
    if quality.nearest_in_space - quality.nearest_on_map > MUCH:
        parts.append("So the map shows less of the senses than the model knows.")
    if quality.tied:
        parts.append(
            f"For {_share(quality.tied)} of the uses several are equally near; here each of these counts in part, "
            "“Senses in numbers” takes the first."
        )
    return parts


def _share(share: float) -> str:
    return percent(share) if share else "0 %"
