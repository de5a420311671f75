"""The logit lens as a table: what each layer would say, on a background by its probability."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from explorer.analysis.scoring_results import LayerReading, LayerReadings, NextToken
from explorer.figures.notes import note
from explorer.figures.style import NATS_PER_BIT, percent
from explorer.figures.token_words import bytes_note, names_together, space_note


def layer_table(result: LayerReadings) -> str:
    """One row for each layer, the input embeddings first, the model's own answer last."""
    answer = result.layers[-1].tokens[0]
    places = len(result.layers[-1].tokens)
    names = _names(result)
    name = escape(names[answer.token_id])
    heads = (
        "<th scope='col'>Layer</th>"
        + "".join(f"<th scope='col'>{place}.</th>" for place in range(1, places + 1))
        + f"<th scope='col' class='number'>rank of “<bdi>{name}</bdi>”</th>"
        + "<th scope='col' class='number'>entropy (bits)</th>"
    )
    rows = "".join(_row(layer, answer, names, is_last=layer is result.layers[-1]) for layer in result.layers)
    return (
        "<div class='scores-scroll' tabindex='0' role='region' aria-label='Layer by layer'><table class='scores lens'>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
        "<p class='legend scored-legend lens-legend'><span class='ends'>0 %<i class='scale root'></i>100 %</span>"
        f"<span>how probable the layer holds a token</span><span>framed: “<bdi>{name}</bdi>”, the model’s own answer"
        "</span></p>"
    )


def layers_note(result: LayerReadings) -> str:
    """From which layer on the model's own answer is the first, in a sentence."""
    *before, last = result.layers
    names = _names(result)
    name = names[last.tokens[0].token_id]
    signs = space_note(names.values()) + bytes_note([result.seen[result.position]], result.prompt)
    since = next((layer.layer + 1 for layer in reversed(before) if layer.rank > 1), 0)
    if since == 0:
        return note(f"“{name}” is first in every layer: no layer changes the answer.") + signs
    early = f"the input embeddings alone put it at rank {before[0].rank:,}"
    had = [layer.layer for layer in before if layer.rank == 1 and layer.layer < since]
    if lost := [str(number) for number in had if number]:
        which = f"layer{'s' * (len(lost) > 1)} {', '.join(lost)}"
        early += f"; {which} had put it first, too, and later ones lost it"
    if since < last.layer:
        return note(f"“{name}” is first from layer {since} of {last.layer} on; {early}.") + signs
    other = names[before[-1].tokens[0].token_id]
    only = "The" if had else "Only the"
    return note(f"{only} last layer puts “{name}” first, and the one before it “{other}”; {early}.") + signs


def _names(result: LayerReadings) -> dict[int, str]:
    return names_together(token for layer in result.layers for token in layer.tokens)


def _row(layer: LayerReading, answer: NextToken, names: Mapping[int, str], *, is_last: bool) -> str:
    cells = "".join(
        _cell(token, names[token.token_id], is_answer=token.token_id == answer.token_id) for token in layer.tokens
    )
    title = "0, input" if layer.layer == 0 else f"{layer.layer}, last" if is_last else str(layer.layer)
    return (
        f"<tr><th scope='row'>{title}</th>{cells}<td class='number' title='p = {layer.probability!r}'>{layer.rank:,}"
        f"</td><td class='number'>{layer.entropy_nats / NATS_PER_BIT:.1f}</td></tr>"
    )


def _cell(token: NextToken, name: str, *, is_answer: bool) -> str:
    kind = " answer" if is_answer else ""
    shade = token.probability**0.5  # of early layers much is small: the root keeps it apart
    return (
        f"<td class='heat{kind}' style='--c:{shade:.2f}' title='{escape(token.token)}: p = {token.probability!r}'>"
        f"<bdi>{escape(name)}</bdi> <small>{percent(token.probability)}</small></td>"
    )
