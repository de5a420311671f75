"""Links to other tabs with what one made: a tuned model beside its base, a mix of layers, or a text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from urllib.parse import quote_plus, urlencode

from explorer.figures.notes import note
from explorer.models.card import Ability

LONGEST_ADDRESS = (
    4_000  # characters, as in page.js: Gradio repeats the address in every request, and servers refuse long ones
)
SAME_LAYER = 6  # of both models; one with fewer layers takes its last
TABS = (  # ability, tab, what the link says, field for the base beside it, further fields
    (Ability.FILL_BLANKS, "fill", "Fill in the blank", "compare", {"show": "compare"}),
    (Ability.GENERATE, "generate", "Generate", "", {}),
    (Ability.EMBED, "attention", "Attention", "", {}),
    (Ability.EMBED, "neighbours", "Neighbours", "beside", {"layer": SAME_LAYER, "beside_layer": SAME_LAYER}),
    (Ability.EMBED, "anisotropy", "Anisotropy", "beside", {}),
)


def explore_links(name: str, base: str, abilities: Collection[Ability], download: str, *, has_moved: bool) -> str:
    """A row of links.

    Args:
        name: Of the tuned model.
        base: Of the model it started from.
        abilities: Of the tuned model.
        has_moved: Whether anything below the head moved: else it stands where its base stands in every tab.
        download: Address of the model as a file; "" = it cannot be had.
    """
    links = []
    for ability, tab, label, beside, more in TABS:
        if ability not in abilities:
            continue
        beside_base = {beside: base} if beside else {}
        side = ("beside its base" if has_moved else "the same as its base") if beside else ""
        links.append(_link(tab, name, more | beside_base, label, side, f"{name}, beside {base}" if beside else name))
        if has_moved and not beside:  # to be looked at one after the other
            links.append(_link(tab, base, more, label, "of its base", base))
    if download:
        links.append(
            f"<a href='{escape(download)}' download title='safetensors, model card, and the recipe as a script'>"
            "Download the model</a>"
        )
    return _row("Explore the tuned model", "Explore it in", links)


def mix_link(model: str, mix: Sequence[float]) -> str:
    """A row with a link to the neighbours of a word by the mix of layers that a task learned.

    Args:
        model: Whose frozen layers were mixed.
        mix: The learned weight of each layer, 0 = input embeddings.
    """
    weights = ", ".join(f"{weight:.4f}" for weight in mix)
    title = f"{model}: the normalised layers of each use of a word, weighted as this task learned it"
    link = _link("neighbours", model, {"join": "normalised", "weights": weights}, "Neighbours", "by this mix", title)
    return _row("Explore the learned mix", "Look at a word in", [link])


def text_links(model: str, prompt: str, written: str) -> str:
    """A row with links to what can be asked about a text that a model wrote; without any where it is too long for one.

    Args:
        model: Who wrote it.
        prompt: What it went on from; "" = nothing.
        written: What stands behind that.
    """
    parts, text = {"text": prompt, "second": written}, prompt + written
    links = [
        _link(
            "attention",
            model,
            parts if prompt else {"text": text},
            "Attention",
            "which tokens each token looks at",
            model,
        ),
        _link("generate", model, {"text": text, "show": "score"}, "Score", "how expected each token was", model),
    ]
    if max(map(len, links)) > LONGEST_ADDRESS:
        return note("This text is too long for a link: copy it to look at it in Attention or Score.")
    return _row("Look at this text elsewhere", "Look at this text in", links)


def _row(label: str, words: str, links: Sequence[str]) -> str:
    start = f"<div class='take-away explore' role='group' aria-label='{label}'>"
    return f"{start}<span>{words}</span>{''.join(links)}</div>"


def _link(tab: str, model: str, more: Mapping[str, object], label: str, side: str, title: str) -> str:
    query = urlencode({"tab": tab, "model": model} | more, quote_via=quote_plus)
    small = f" <small>{side}</small>" if side else ""
    return f"<a href='?{query}' title='{escape(title)}'>{label}{small}</a>"
