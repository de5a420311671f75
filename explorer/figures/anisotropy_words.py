"""What was measured of anisotropy as words and as a table: HTML, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy
from explorer.figures.anisotropy_charts import adjusted_of, line_names, number_words, place_of
from explorer.figures.layer_lines import mark_of
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.models.card import Ability, ModelCard

PAIRS = (
    "When you compare: the layers of {models} learned from pairs of like sentences, {how}, and that spreads vectors "
    "out (Gao et al. 2021). Of models that learned from text alone, many are far less isotropic: in the last layer of "
    "GPT-2 any two words are at a cosine near 1 (Ethayarajh 2019)."
)
NUMBERS = re.compile(r"[\d,]+")
OF_ITS_OWN = "this model"  # in what is so of a model
ISOTROPIC = " Thin line across: what as many vectors in random directions would have."  # below a metric_chart


def metric_words(found: Sequence[Anisotropy], key: str, layer: int) -> str:
    """The value of a metric in the layer looked at, of each model, in a sentence."""
    levels = {one.isotropic[key] for one in found}
    parts = []
    for mark, (name, one) in enumerate(zip(line_names(found), found, strict=True)):
        at = place_of(one, layer)
        value, isotropic = one.metrics[key][at], one.isotropic[key]
        beside = f" (isotropic {number_words(isotropic)})" if isotropic is not None and len(levels) > 1 else ""
        sign = f"<i style='color:{mark_of(mark)[0]}' aria-hidden='true'>{mark_of(mark)[2]}</i> " if found[1:] else ""
        parts.append(
            f"{sign}<bdi>{escape(name)}</bdi>, layer {one.layers[at]}: "
            f"<b title='{value!r}'>{number_words(value)}</b>{beside}"
        )
    if len(levels) == 1 and None not in levels:
        parts.append(f"isotropic: {number_words(levels.pop())}")
    return f"<p class='senses-said'>{escape(METRICS[key].label)}. {'; '.join(parts)}.</p>"


def pairs_note(cards: Iterable[ModelCard]) -> str:
    """Which models began as sentence encoders, and so stand apart from others; "" where none did."""
    found = {card.name: card for card in cards if card.learned_from_pairs}
    if not found:
        return ""
    later = [name for name, card in found.items() if Ability.EMBED_SENTENCES not in card.abilities]
    how = "as in Sentence-BERT"
    if later:
        whose = "" if len(later) == len(found) else f"{' and '.join(later)} "
        how = f"{whose}before {'it was' if len(later) == 1 else 'they were'} taught another task"
    return note(PAIRS.format(models=", ".join(found), how=how))


def remark_notes(found: Sequence[Anisotropy]) -> str:
    """What a reader must know of each measurement, by the name of its model where it is not so of all.

    Where one model was measured twice, what differs in its numbers alone is told once.
    """
    told: dict[str, dict[str, None]] = {}  # remark -> models
    known = set()
    for one in found:
        for remark in one.remarks:
            kind = (one.model, NUMBERS.sub("", remark))
            if remark in told or kind not in known:
                told.setdefault(remark, {})[one.model] = None
            known.add(kind)
    count = len({one.model for one in found})
    of_all = {remark for remark, names in told.items() if len(names) == count and OF_ITS_OWN not in remark}
    return "".join(
        note(remark if count == 1 or remark in of_all else f"{', '.join(names)}: {remark}")
        for remark, names in told.items()
    )


def histogram_words(found: Sequence[Anisotropy], layer: int) -> str:
    """What the cosines of one layer say, of each model."""
    said, has_uses = [], False
    for name, one in zip(line_names(found), found, strict=True):
        at = place_of(one, layer)
        cosine, same = one.metrics["mean_cosine"][at], one.metrics["self_similarity"][at]
        words = "any two words" if one.protocol.unit == "words" else "any two tokens"
        has_uses = has_uses or same is not None
        uses = "" if same is None else f", two uses of one at {number_words(same)}"
        said.append(f"{name}, layer {one.layers[at]}: {words} are at a mean cosine of {number_words(cosine)}{uses}.")
    hint = (
        "What to see: random pairs belong at 0. If their hill stands to the right of it, all vectors point the same "
        "way, and a high cosine says little. "
    )
    if has_uses:
        hint += "Only what the dashed hill has beyond the filled one is owed to the word."
    else:
        least, unit = found[0].protocol.least_uses, found[0].protocol.unit.removesuffix("s")
        hint += (
            f"No {unit} is used {least} times or more in these sentences, so there is no second hill, of two uses of "
            "one word."
        )
    return note(hint) + note(" ".join(said))


def metric_table(found: Sequence[Anisotropy], key: str, layer: int) -> str:
    """A metric, and less the baseline where it is known, in every layer of every model."""
    keys = [key, *filter(None, [adjusted_of(key)])]
    names = ("raw", "adjusted")[: len(keys)]
    count = max(one.layer_count for one in found)
    tops = "".join(
        f"<th scope='colgroup' class='number' colspan='{len(keys)}'><bdi>{escape(name)}</bdi></th>"
        for name in line_names(found)
    )
    heads = "".join(f"<th scope='col' class='number'>{escape(name)}</th>" for name in names) * len(found)
    second = f"<tr>{heads}</tr>" if keys[1:] else ""
    rows = ""
    for number in range(count):
        cells = "".join(_cell(one, name, number, layer) for one in found for name in keys)
        label = "0, input" if number == 0 else str(number)
        rows += f"<tr><th scope='row'>{label}</th>{cells}</tr>"
    last = "".join(f"<td class='number'>{number_words(one.isotropic[name])}</td>" for one in found for name in keys)
    rows += f"<tr class='isotropic'><th scope='row'>isotropic</th>{last}</tr>"
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='The metric in every layer'>"
        f"<table class='scores sense-scores'><thead><tr><th scope='col' rowspan='{len(keys)}'>Layer</th>{tops}</tr>"
        f"{second}</thead><tbody>{rows}</tbody></table></div>"
    )


def protocol_caption(found: Sequence[Anisotropy], source: str) -> str:
    """What was measured and how, of each model where it differs, and the paper.

    Args:
        found: Of each model.
        source: As METRICS has it: a name and a link.
    """
    models: dict[str, list[str]] = {}
    for one in found:
        models.setdefault(str(one.protocol), []).append(one.model)
    parts = [f"{', '.join(dict.fromkeys(names))}: {protocol}" for protocol, names in models.items()]
    return caption(parts, source.rpartition(" ")[2])


def _cell(found: Anisotropy, key: str, number: int, layer: int) -> str:
    """The value of a layer; that of the layer looked at is marked."""
    if number not in found.layers:
        return "<td class='number quiet'>–</td>"
    place = found.layers.index(number)
    value, kind = found.metrics[key][place], " at" if place == place_of(found, layer) else ""
    return f"<td class='number{kind}' title='{value!r}'>{number_words(value)}</td>"
