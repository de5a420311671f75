"""Links to other tabs with what one made: a tuned model beside its base, a mix of layers, or a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote_plus, urlencode

from explorer.figures.notes import note
from explorer.models.card import Ability, ModelCard

LONGEST_ADDRESS = (
    4_000  # characters, as in page.js: Gradio repeats the address in every request, and servers refuse long ones
)
SAME_LAYER = 6  # of both models; one with fewer layers takes its last
SEVERAL = "|"  # between several choices of one field, as tabs/links.py reads them
LSTM = "elmo"  # a model type without attention, and one that transformers cannot build


@dataclass(frozen=True)
class Place:
    """Where a model can be looked at.

    Attributes:
        ability: What it must be able to do.
        tab: Id of the tab.
        label: What the link says.
        model: Name of the field for it.
        beside: Name of the field for its base; "" = there is none, that of the model = it takes both.
        more: Further fields.
    """

    ability: Ability
    tab: str
    label: str
    model: str = "model"
    beside: str = ""
    more: Mapping[str, object] = field(default_factory=dict)

    def fields(self, name: str, base: str) -> dict[str, object]:
        """What a link names: the model and, where there is a field for it, its base."""
        if self.beside == self.model:  # the ends of their names tell them
            return {self.model: SEVERAL.join(one.replace(SEVERAL, " ") for one in (name, base)), **self.more}
        return {self.model: name, **self.more} | ({self.beside: base} if self.beside else {})


LAYERS = {"layer": SAME_LAYER, "beside_layer": SAME_LAYER}
PLACES = (
    Place(Ability.FILL_BLANKS, "fill", "Fill in the blank", beside="compare", more={"show": "compare"}),
    Place(Ability.FILL_SPANS, "fill", "Fill any length", "span_models", "span_models", {"show": "spans"}),
    Place(Ability.GENERATE, "generate", "Generate"),
    Place(Ability.EMBED, "attention", "Attention"),
    Place(Ability.EMBED, "neighbours", "Neighbours", beside="beside", more=LAYERS),
    Place(Ability.EMBED, "anisotropy", "Anisotropy", beside="beside"),
)


def explore_links(card: ModelCard, base: str, download: str, *, has_moved: bool) -> str:
    """A row of links, each to a page of its own: what stands on this one, in all tabs, stays there.

    Args:
        card: Of the tuned model.
        base: Name of the model it started from.
        download: Address of the model as a file; "" = it cannot be had.
        has_moved: Whether anything below the head moved: else it stands where its base stands in every tab.
    """
    links = []
    for place in PLACES:
        if place.ability not in card.abilities or (place.tab == "attention" and card.model_type == LSTM):
            continue
        side = "beside its base" * bool(place.beside) if has_moved else "the same as its base"
        title = f"{card.name}, beside {base}" if place.beside else card.name
        links.append(_link(place.tab, place.fields(card.name, base), place.label, side, title))
        if has_moved and not place.beside:  # to be looked at one after the other
            links.append(_link(place.tab, place.fields(base, ""), place.label, "of its base", base))
    if download:
        links.append(f"<a href='{escape(download)}' download title='{_held(card)}'>Download the model</a>")
    return _row("Explore the tuned model", "Explore it in", links)


def _held(card: ModelCard) -> str:
    """What the file of a tuned model holds."""
    if card.model_type == LSTM:
        return "safetensors, model card, and the examples; no script, as transformers has no such network"
    return "safetensors, model card, and the recipe as a script"


def mix_link(model: str, mix: Sequence[float]) -> str:
    """A row with a link to the neighbours of a word by the mix of layers that a task learned.

    Args:
        model: Whose frozen layers were mixed.
        mix: The learned weight of each layer, 0 = input embeddings.
    """
    weights = ", ".join(f"{weight:.4f}" for weight in mix)
    title = f"{model}: the normalised layers of each use of a word, weighted as this task learned it"
    link = _link(
        "neighbours", {"model": model, "join": "normalised", "weights": weights}, "Neighbours", "by this mix", title
    )
    return _row("Explore the learned mix", "Look at a word in", [link])


def text_links(model: str, prompt: str, written: str) -> str:
    """A row with links to what can be asked about a text that a model wrote; without any where it is too long for one.

    Args:
        model: Who wrote it.
        prompt: What it went on from; "" = nothing.
        written: What stands behind that.
    """
    text = prompt + written
    parts = {"text": prompt, "second": written} if prompt else {"text": text}
    links = [
        _link("attention", {"model": model, **parts}, "Attention", "which tokens each token looks at", model),
        _link(
            "generate", {"model": model, "text": text, "show": "score"}, "Score", "how expected each token was", model
        ),
    ]
    if max(map(len, links)) > LONGEST_ADDRESS:
        return note("This text is too long for a link: copy it to look at it in Attention or Score.")
    return _row("Look at this text elsewhere", "Look at this text in", links)


def _row(label: str, words: str, links: Sequence[str]) -> str:
    start = f"<div class='take-away explore' role='group' aria-label='{label}'>"
    return f"{start}<span>{words}</span>{''.join(links)}</div>"


def _link(tab: str, fields: Mapping[str, object], label: str, side: str, title: str) -> str:
    query = urlencode({"tab": tab, **fields}, quote_via=quote_plus)
    small = f" <small>{side}</small>" if side else ""
    return f"<a href='?{query}' target='_blank' title='{escape(title)}'>{label}{small}</a>"
