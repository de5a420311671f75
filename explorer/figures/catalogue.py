"""The catalogue of models as an HTML table."""

from collections.abc import Collection, Mapping, Sequence
from html import escape

from explorer.models.card import Ability, ModelCard
from explorer.models.status import Budget, ModelStatus, format_bytes

ABILITY_WORDS = {
    Ability.FILL_BLANKS: "fills blanks",
    Ability.FILL_SPANS: "fills spans",
    Ability.GENERATE: "writes",
    Ability.DETECT_REPLACED: "spots replaced words",
    Ability.NEXT_SENTENCE: "next sentence",
    Ability.EMBED: "token vectors",
    Ability.EMBED_SENTENCES: "sentence vectors",
}


def budget_bar(budget: Budget | None) -> str:
    """How much of the memory budget is taken, as a bar with words; None before the first model was asked for."""
    if budget is None:
        return "<p class='note'>No model has been asked for yet.</p>"
    share = min(1.0, budget.used_bytes / budget.limit_bytes) if budget.limit_bytes else 0.0
    words = (
        f"{budget.device}: {format_bytes(budget.used_bytes)} of model weights, of a budget of "
        f"{format_bytes(budget.limit_bytes)} (the device has {format_bytes(budget.device_bytes)})"
    )
    return f"<div class='budget'><i style='width:{share:.1%}'></i></div><p class='note'>{escape(words)}</p>"


def model_rows(cards: Sequence[ModelCard], statuses: Mapping[str, ModelStatus], here: Collection[str]) -> list[dict]:
    """One row per model, as plain data for the table of the Models tab (its template escapes)."""
    rows = []
    for card in cards:
        status = statuses.get(card.name, ModelStatus(card.name))
        rows.append(
            {
                "name": card.name,
                "special": card.special,
                "abilities": ", ".join(ABILITY_WORDS[a] for a in Ability if a in card.abilities),
                "parameters": short_count(card.parameters),
                "size": format_bytes(card.weights_bytes) if card.weights_bytes else "unknown",
                "licence": card.licence,
                "languages": ", ".join(card.languages),
                "paper": card.paper,
                "paper_url": card.paper_url if card.paper_url.startswith("https://") else "",
                "training": card.training,
                "unconfirmed": ", ".join(card.unconfirmed),
                "state": state_words(status, card.name in here),
                "is_loaded": status.state == "ready",
                "is_busy": status.state in ("downloading", "loading"),
            }
        )
    return rows


def state_words(status: ModelStatus, is_here: bool) -> str:
    """Where a model stands, in a few words."""
    if status.state == "ready":
        users = f", {status.users} in use" if status.users else ""
        return f"ready on {status.device}, {format_bytes(status.weights_bytes)}{users}"
    if status.state in ("downloading", "loading"):
        return status.state + (f" {status.progress:.0%}" if status.progress is not None else " …")
    return "on this machine" if is_here else "needs internet"


def short_count(parameters: int | None) -> str:
    """A number of weights as people say it: 22.7 M."""
    if parameters is None:
        return "unknown"
    if parameters >= 995_000_000:
        return f"{parameters / 1e9:.1f} B"
    return f"{parameters / 1e6:.1f} M" if parameters < 99_500_000 else f"{parameters / 1e6:.0f} M"


def picker_options(cards: Sequence[ModelCard], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Choices of a model picker: what it shows, and the name it stands for."""
    return [(f"{card.name} · {short_count(card.parameters)} · {words[card.name]}", card.name) for card in cards]


def card_note(card: ModelCard) -> str:
    """What a student should know about the chosen model, under the picker."""
    training = f" {escape(card.training)}" if card.training else ""
    link = f" <a href='{escape(card.paper_url)}' target='_blank' rel='noopener'>{escape(card.paper)}</a>"
    return f"<p class='note'>{escape(card.special)}{training}{link}</p>"
