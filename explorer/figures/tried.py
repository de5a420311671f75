"""What a tuned model says of a visitor's own sentence, beside its base where both can say something. HTML, escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.figures.style import percent
from explorer.training.tuning.results import BeforeAndAfter, Judged

MOST_LABELS = 12
NOTHING = "<i>nothing</i>"


def judged_sides(sides: Sequence[tuple[str, Judged, Sequence[str]]], *, is_sure: bool) -> str:
    """Answers to the same question, side by side.

    Args:
        sides: Title of each ("" = one that is alone needs none), what it said, and the labels of its probabilities.
        is_sure: Whether its probability says how sure a model is.
    """
    boxes = [judged_box(judged, labels, is_sure=is_sure) for _, judged, labels in sides]
    if len(boxes) == 1 and not sides[0][0]:
        return boxes[0]
    titled = zip(sides, boxes, strict=True)
    sections = (f"<section><h3><bdi>{escape(title)}</bdi></h3>{box}</section>" for (title, *_), box in titled)
    return f"<div class='span-columns'>{''.join(sections)}</div>"


def judged_box(judged: Judged, labels: Sequence[str], *, is_sure: bool = True) -> str:
    """The answer and how sure it is; the probability of every class as bars.

    Args:
        judged: What the model said.
        labels: Of judged.probabilities.
        is_sure: Whether its probability says how sure the model is.
    """
    words = f"{percent(judged.probability)} sure"
    sure = f" <span class='quiet' title='{judged.probability!r}'>{words}</span>" if is_sure else ""
    said = f"<p class='tried' role='status'><b dir='auto'>{escape(judged.predicted) or NOTHING}</b>{sure}</p>"
    if not judged.probabilities:
        return said
    pairs = sorted(zip(judged.probabilities, labels, strict=True), reverse=True)[:MOST_LABELS]
    return said + _bars([(label, share) for share, label in pairs])


def sides_table(columns: Sequence[tuple[str, Sequence[tuple[str, float]]]], written: Sequence[str] = ()) -> str:
    """The likeliest words of two models side by side.

    Args:
        columns: Title -> words with their probabilities, best first.
        written: What each goes on with; parallel to columns, or () where nothing is written.
    """
    boxes = []
    for number, (title, words) in enumerate(columns):
        text = f"<p class='tried' dir='auto'>{escape(written[number])}</p>" if written else ""
        boxes.append(f"<section><h3><bdi>{escape(title)}</bdi></h3>{text}{_bars(words)}</section>")
    return f"<div class='span-columns'>{''.join(boxes)}</div>"


def _bars(shares: Sequence[tuple[str, float]]) -> str:
    """Words or classes with their probabilities."""
    rows = "".join(
        f"<tr><th scope='row'><bdi>{escape(word)}</bdi></th><td><span class='bar'><i class='sampled' "
        f"style='width:{share:.1%}'></i></span></td><td class='number' title='{share!r}'>{percent(share)}</td></tr>"
        for word, share in shares
    )
    return f"<table class='languages tried-bars'><tbody>{rows}</tbody></table>"


def samples_table(samples: Sequence[BeforeAndAfter], base: str = "the base") -> str:
    """The same questions before and after; "" where there are none.

    Args:
        samples: Of a run.
        base: What answered before.
    """
    if not samples:
        return ""
    rows = "".join(
        f"<tr><td class='text' dir='auto'>{escape(one.text)}</td>"
        f"<td data-label='before' dir='auto'>{escape(one.before) or NOTHING}</td>"
        f"<td data-label='after' dir='auto'>{_changed(one)}</td></tr>"
        for one in samples
    )
    right = ", [what is right]" if any(one.text.endswith("]") for one in samples) else ""
    return (
        "<h3>Held-out examples, before and after</h3>"
        f"<table class='answers'><thead><tr><th scope='col'>Asked{right}</th>"
        f"<th scope='col'>Before: {escape(base)}</th><th scope='col'>After</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _changed(one: BeforeAndAfter) -> str:
    after = escape(one.after) or NOTHING
    return after if one.after == one.before else f"<b>{after}</b>"
