"""What changes when heads are switched off: before and after beside each other, and a map of what each head does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape

import numpy as np

from explorer.analysis.ablation_results import AblationPlace, HeadAblation, HeadRanking
from explorer.analysis.head_patterns import head_name
from explorer.analysis.scoring_results import NextToken
from explorer.figures.style import percent
from explorer.figures.token_words import names_together, space_note

MOST_LISTED = 8
LEAST_POINTS = 0.01  # of an answer that are told
PAPERS = {
    "Jain and Wallace 2019": "https://arxiv.org/abs/1902.10186",
    "Wiegreffe and Pinter 2019": "https://arxiv.org/abs/1908.04626",
    "Michel et al. 2019": "https://arxiv.org/abs/1905.10650",
    "Clark et al. 2019": "https://aclanthology.org/W19-4828",
}
JAIN, WIEGREFFE, MICHEL, CLARK = (
    f"<a href='{link}' target='_blank' rel='noopener'>{name}</a>" for name, link in PAPERS.items()
)
REMINDER = (
    "<p class='note'><b>Attention is not explanation.</b> That a head looks at a word does not show that the answer "
    f"depends on it ({JAIN}; what weights may explain: {WIEGREFFE}). Switching off shows more, and not all: heads "
    f"stand in for each other, and many can be removed at little cost ({MICHEL}); what heads look at: {CLARK}.</p>"
)


def pack_switches(head_counts: Mapping[str, tuple[int, int]], ranking: HeadRanking | None) -> str:
    """What assets/switches.js draws: the heads of each stack, and what each does by itself, where that is known."""
    effects, titles = {}, {}
    for stack, values in (ranking.effects if ranking else {}).items():
        effects[stack] = [[None if np.isnan(one) else round(float(one), 6) for one in row] for row in values]
        titles[stack] = [
            [_effect_words(ranking, stack, layer, head) for head in range(values.shape[1])]
            for layer in range(values.shape[0])
        ]
    stacks = [{"name": stack, "layers": layers, "heads": heads} for stack, (layers, heads) in head_counts.items()]
    unit = ranking.unit if ranking else ""
    return json.dumps({"stacks": stacks, "effects": effects, "titles": titles, "unit": unit})


def ablation_view(result: HeadAblation) -> str:
    """Before and after, place by place, and how far apart they are."""
    off = len(result.heads)
    count = f"<p class='off-count'><b>{off} of {result.head_count} heads off</b>{_off_words(result)}</p>"
    shown = [token for place in result.places for token in (place.answer, *place.before, *place.after)]
    names = names_together(shown)
    places = "".join(_place(result, index, place, names) for index, place in enumerate(result.places))
    places += space_note(names.values())
    embedding = ""
    if result.cosine is not None:
        of = f"(the mean of the last layer’s {len(result.tokens)} vectors; 1 = unchanged)"
        embedding = (
            f"<p class='off-embedding'>Sentence embedding: cosine to the intact one "
            f"<b title='{result.cosine!r}'>{result.cosine:.3f}</b> <span class='quiet'>{of}</span></p>"
        )
    return f"<div class='off-heads'>{count}{places}{embedding}</div>"


def ranking_view(ranking: HeadRanking) -> str:
    """The heads that change most when each alone is off."""
    found = sorted(
        (
            (float(values[layer, head]), stack, layer, head)
            for stack, values in ranking.effects.items()
            for layer, head in np.argwhere(~np.isnan(values)).tolist()
        ),
        reverse=True,
    )
    stacks = len(ranking.effects) > 1
    rows = "".join(
        f"<tr><th scope='row'><button type='button' data-open-head='{stack}-{layer + 1}-{head + 1}'>"
        f"{escape(stack) + ' ' if stacks else ''}{layer + 1}-{head + 1}</button></th>"
        f"<td class='number' title='{effect!r}'>{_short(effect)}</td>"
        f"{_cell(_change_words(ranking, stack, layer, head))}</tr>"
        for effect, stack, layer, head in found[:MOST_LISTED]
    )
    title = "Which single head matters most here"
    is_done = ranking.done == ranking.head_count
    progress = "" if is_done else f", {ranking.done} of {ranking.head_count} tried so far"
    what = "how far the answer moves" if ranking.answers else "how far the sentence embedding moves"
    count = max(len(ranking.answers), 1)
    places = f"{count} {'place' if count == 1 else 'places'} of your text"
    if ranking.readout == "written":
        places = f"{count} written {'token' if count == 1 else 'tokens'}"
        names = names_together(ranking.answers)
        places += f": {', '.join(f'“<bdi>{escape(names[token.token_id])}</bdi>”' for token in ranking.answers)}"
    if count > 1:
        places += f"; {ranking.unit} and points are means over them"
    running = "" if is_done else " running"
    change = "<th scope='col'>What changes</th>" if ranking.answers else ""
    return (
        f"<div class='found-list off-ranking{running}'><h3>{title}{progress}</h3>"
        f"<p class='note'>Each off by itself: {what}, n = {places}.</p>"
        "<table class='scores'><thead><tr><th scope='col'>Head</th>"
        f"<th scope='col' class='number'>{escape(ranking.unit)}</th>{change}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(words: str) -> str:
    return f"<td>{words}</td>" if words else ""


def _short(effect: float) -> str:
    """Two digits: of one text, more say nothing."""
    return f"{effect:.2f}" if effect >= 0.095 else f"{effect:.2g}"


def _place(result: HeadAblation, index: int, place: AblationPlace, names: Mapping[int, str]) -> str:
    titles = {
        "blanks": f"Blank {index + 1}" if len(result.places) > 1 else "The blank",
        "next": "The next token",
        "written": f"Written token {index + 1}",
    }
    answer = f"“<bdi>{escape(names[place.answer.token_id])}</bdi>”"
    before, after = percent(place.answer.probability), percent(place.answer_after)
    said = (
        f"{answer}: {before} → <b title='{place.answer_after!r}'>{after}</b>, rank 1 → <b>{place.rank_after:,}</b> · "
        f"divergence <b title='{place.divergence_bits!r}'>{place.divergence_bits:.3f} bits</b>"
    )
    if result.readout == "written":  # what was written need not be the likeliest by itself
        said = said.replace("rank 1 → ", "now rank ", 1)
    most = max(one.probability for one in (*place.before, *place.after))
    columns = "".join(
        f"<div><p class='step'>{when}</p><ol class='off-choices'>{_choices(tokens, place.answer, most, names)}"
        "</ol></div>"
        for when, tokens in (("All heads on", place.before), ("With these off", place.after))
    )
    return (
        f"<section><h3>{titles[result.readout]}</h3><p class='off-said'>{said}</p>"
        f"<div class='off-columns'>{columns}</div></section>"
    )


def _choices(tokens: tuple[NextToken, ...], answer: NextToken, most: float, names: Mapping[int, str]) -> str:
    return "".join(
        f"<li{' class=answer' if token.token_id == answer.token_id else ''}>"
        f"<i style='width:{100 * token.probability / most:.1f}%'></i><bdi>{escape(names[token.token_id])}</bdi>"
        f"<span class='number' title='p = {token.probability!r}'>{percent(token.probability)}</span></li>"
        for token in tokens
    )


def _off_words(result: HeadAblation) -> str:
    if not result.heads:
        return ": press heads on the map, and see what changes."
    if len(result.heads) == result.head_count:
        return "<span class='quiet'>: all that it has</span>"
    stacks = len(result.head_counts) > 1
    names = [
        f"{escape(stack) + ' ' if stacks else ''}{head_name(layer, head)}"
        for stack, layer, head in result.heads[:MOST_LISTED]
    ]
    more = f" and {len(result.heads) - MOST_LISTED} more" if len(result.heads) > MOST_LISTED else ""
    return f"<span class='quiet'>: {', '.join(names)}{more}</span>"


def _effect_words(ranking: HeadRanking, stack: str, layer: int, head: int) -> str:
    effect = ranking.effects[stack][layer, head]
    if np.isnan(effect):
        return "not tried yet"
    change = _change_words(ranking, stack, layer, head)
    return f"alone off: {effect:.4f} {ranking.unit}" + (f", {change}" if change else "")


def _change_words(ranking: HeadRanking, stack: str, layer: int, head: int) -> str:
    if not ranking.answers:
        return ""
    points = 100 * ranking.changes[stack][layer, head]
    change = f"{points:+.2f}".replace("-", "−") if abs(points) >= LEAST_POINTS else f"by less than {LEAST_POINTS}"
    return f"the answer {change} points" if len(ranking.answers) == 1 else f"the answers {change} points on average"
