"""A beam search as a drawing: a column for each token, a line for each beam from where it grew to where it ended."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from explorer.analysis.beam_results import FATES, Beam, BeamStep
from explorer.figures.notes import note
from explorer.figures.style import likelihood, percent, times

ROW_PIXELS, GAP_PIXELS = 30, 34
LETTER_PIXELS, WIDE_PIXELS, BOLD = 7.9, 13.0, 1.17  # of 13 pixels; the widest of usual fonts, DejaVu Sans
WIDE_LETTERS = "mwMW@%&—…■"
LEAST_WIDTH_PIXELS = 44
TOP_PIXELS = 24
ENDED, OPEN = "■", "(nothing)"
CUT = "Kept: it is as long as was asked for."
MARKS = {"lives": "", "ended": f" {ENDED}", "dropped": " ×"}

TELL = (
    "<p class='note beam-told' role='status'>Press a beam, or walk by arrow keys, for its probability, and for what "
    "became of it.</p>"
)


@dataclass(frozen=True)
class _Place:
    left: float
    right: float
    middle: float


def beam_tree(steps: Sequence[BeamStep], *, with_dropped: bool = True, is_growing: bool = False) -> str:
    """The beams as they live and die, and the texts that are left.

    Args:
        steps: So far.
        with_dropped: Whether those are drawn that were dropped at once.
        is_growing: Whether more steps are on their way; it is then not taken for an old answer, and dimmed.
    """
    if not steps:
        return "<p class='quiet'>Looking …</p>"
    winner = _winning_path(steps)
    columns = [[beam for beam in step.beams if with_dropped or beam.fate != "dropped"] for step in steps]
    lines, nodes, lived = [], [], {0: _Place(0, 8, TOP_PIXELS + ROW_PIXELS / 2)}
    left = 8.0 + GAP_PIXELS
    for number, (step, column) in enumerate(zip(steps, columns, strict=True)):
        bold = winner.get(number)
        widths = [
            _text_pixels(_label(beam, step), is_bold=bold is not None and _key(bold) == _key(beam)) for beam in column
        ]
        width = max([LEAST_WIDTH_PIXELS, *(pixels + 14 for pixels in widths)])
        nodes.append(f"<text class='step' x='{left:.0f}' y='12'>{number + 1}</text>")
        places = {}
        for row, beam in enumerate(column):
            middle = TOP_PIXELS + (row + 0.5) * ROW_PIXELS
            place = _Place(left, left + width, middle)
            is_winning = bold is not None and _key(bold) == _key(beam)
            fate = "lives" if _is_cut(beam, step) else beam.fate
            kind = f"{fate}{' winning' if is_winning else ''}"
            lines.append(_line(lived.get(beam.parent), place, kind))
            at = (number, len(places)) if beam.fate == "lives" else (number, None)
            nodes.append(_node(beam, place, kind, _label(beam, step), at))
            if beam.fate == "lives":
                places[len(places)] = place
        lived, left = places, left + width + GAP_PIXELS
    height = TOP_PIXELS + ROW_PIXELS * max(len(column) for column in columns)
    words = f"Beam search over {len(steps)} tokens; the texts that are left stand below."
    drawing = (
        f"<svg role='img' aria-label='{words}' width='{left:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {left:.0f} {height:.0f}'>{''.join(lines)}{''.join(nodes)}</svg>"
    )
    growing = " data-growing" if is_growing else ""
    frame = f"<div class='beam-tree'{growing} tabindex='0' role='group' aria-label='Beams, walked by arrow keys'>"
    return f"{frame}{drawing}</div>{TELL}{_legend()}{_texts(steps[-1])}"


def _text_pixels(label: str, *, is_bold: bool) -> float:
    wide = sum(letter in WIDE_LETTERS or east_asian_width(letter) in "WF" for letter in label)
    return (LETTER_PIXELS * (len(label) - wide) + WIDE_PIXELS * wide) * (BOLD if is_bold else 1)


def _label(beam: Beam, step: BeamStep) -> str:
    return _shown(beam) + ("" if _is_cut(beam, step) else MARKS[beam.fate])


def _shown(beam: Beam) -> str:
    return beam.token.strip() or OPEN


def _key(beam: Beam) -> tuple[str, int, int]:
    return beam.text, beam.token_id, beam.parent


def beams_note(steps: Sequence[BeamStep]) -> str:
    """Where the text that is ahead leaves the way of greedy writing, in a sentence; "" while nothing is found."""
    path = _winning_path(steps)
    for number, beam in sorted(path.items()):
        siblings = [other for other in steps[number].beams if other.parent == beam.parent]
        best = max(siblings, key=lambda other: other.log_probability)
        if best.log_probability > beam.log_probability:
            ratio = times(best.log_probability - beam.log_probability)
            return note(
                f"The text that is ahead takes “{_shown(beam)}” as token {number + 1}, although “{_shown(best)}” is "
                f"{ratio} that: greedy writing, which always takes the likeliest, would have missed this text."
            )
    return note("The text that is ahead takes the likeliest token each time: greedy writing finds it, too.") * bool(
        path
    )


def _winning_path(steps: Sequence[BeamStep]) -> dict[int, Beam]:
    """The beam at each step of what the search found, or of what it would find if it stopped here."""
    last = steps[-1]
    living = [beam for beam in last.beams if beam.fate == "lives"]
    best = last.ended[0] if last.ended and last.stop else living[0] if living else None
    number = len(steps) - 1
    if last.ended and last.stop:  # it may have ended at an earlier step
        number, best = next(
            (
                (at, beam)
                for at, step in enumerate(steps)
                for beam in step.beams
                if beam.fate == "ended" and _is_same(beam, last.ended[0])
            ),
            (-1, None),
        )
    path = {}
    while best is not None and number >= 0:
        path[number] = best
        number -= 1
        before = [beam for beam in steps[number].beams if beam.fate == "lives"] if number >= 0 else []
        best = before[best.parent] if best.parent < len(before) else None
    return path


def _line(start: _Place | None, end: _Place, kind: str) -> str:
    if start is None:
        return ""
    middle = (start.right + end.left) / 2
    return (
        f"<path class='{kind}' d='M{start.right:.0f} {start.middle:.0f}C{middle:.0f} {start.middle:.0f} "
        f"{middle:.0f} {end.middle:.0f} {end.left:.0f} {end.middle:.0f}'/>"
    )


def _node(beam: Beam, place: _Place, kind: str, label: str, at: tuple[int, int | None]) -> str:
    """A beam as a box.

    Args:
        beam: What it says.
        place: Where it stands.
        kind: Its classes.
        label: What is written on it.
        at: Its step, and its place among those that live on, by which those name it that grow from it.
    """
    row = "" if at[1] is None else f" data-row='{at[1]}'"
    fate = CUT if beam.fate == "ended" and kind.startswith("lives") else FATES[beam.fate]
    title = f"{beam.text or beam.token}: {likelihood(beam.log_probability)}. {fate}"
    return (
        f"<g class='{kind}' data-step='{at[0]}' data-from='{beam.parent}'{row}><title>{escape(title)}</title>"
        f"<rect x='{place.left:.0f}' y='{place.middle - 12:.0f}' width='{place.right - place.left:.0f}' height='24' "
        f"rx='4'/><text x='{place.left + 7:.0f}' y='{place.middle + 4:.0f}'>{escape(label)}</text></g>"
    )


def _legend() -> str:
    return (
        "<p class='legend beam-legend'><span class='token lives'>lives on</span>"
        f"<span class='token ended'>{ENDED} ended</span><span class='token dropped'>× dropped</span>"
        "<span>bold: the text that is ahead. Each column is one token, its likeliest beam on top.</span></p>"
    )


def _is_same(beam: Beam, other: Beam) -> bool:
    """Whether two records are of one beam: among the ended ones no parent is told."""
    return (beam.text, beam.token_id, beam.log_probability) == (other.text, other.token_id, other.log_probability)


def _is_cut(beam: Beam, step: BeamStep) -> bool:
    """Whether a text is kept as it is because no token more may be written: the model itself has not ended it."""
    is_last = step.stop in ("length", "context") and any(_is_same(beam, other) for other in step.beams)
    return beam.fate == "ended" and is_last and beam.text.endswith(beam.token)  # no text holds a token that ends it


def _ending(beam: Beam, step: BeamStep) -> str:
    """The mark of a text that the model itself ended."""
    return f" {ENDED}" if beam.fate == "ended" and not _is_cut(beam, step) else ""


def _texts(step: BeamStep) -> str:
    """The texts that are left, best first by probability per token: the geometric mean of their tokens'."""
    living = [beam for beam in step.beams if beam.fate == "lives"] if not step.stop else []
    left = [*step.ended, *living]
    rows = "".join(
        f"<li><span class='sentence' dir='auto'>{escape(beam.text.lstrip())}{_ending(beam, step)}</span>"
        f"<span class='number' title='ln p = {beam.log_probability!r} nats, {beam.score!r} per token'>"
        f"{likelihood(beam.log_probability)} <small>({percent(math.exp(beam.score))} per token)</small></span></li>"
        for beam in left
    )
    return f"<ol class='completions'>{rows}</ol>"
