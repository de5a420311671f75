"""The catalogue of models as an HTML table."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from explorer.figures.notes import note
from explorer.figures.style import count_of
from explorer.models.card import Ability, ModelCard
from explorer.models.catalogue import DEFAULT_MODEL
from explorer.models.catalogue.families import FAMILIES, family_of
from explorer.models.status import Budget, ModelStatus, format_bytes

COLUMNS = ("Model", "Can do", "Weights", "Licence", "Where it is")
ABILITY_WORDS = {
    Ability.FILL_BLANKS: "fills blanks",
    Ability.FILL_SPANS: "fills spans",
    Ability.GENERATE: "writes",
    Ability.DETECT_REPLACED: "spots replaced words",
    Ability.PREDICT_BOTH_WAYS: "predicts from either side",
    Ability.NEXT_SENTENCE: "next sentence",
    Ability.EMBED: "token vectors",
    Ability.EMBED_SENTENCES: "sentence vectors",
}

FACT_WORDS = {  # the fields of a card that may be unconfirmed, as people say them
    "revision": "which version it is",
    "parameters": "number of weights",
    "weights_bytes": "size of the file",
    "weights_format": "format of the file",
    "licence": "licence",
}


@dataclass(frozen=True)
class Refusal:
    """A press of a button in the table that came to nothing.

    Attributes:
        name: Of the model.
        words: Why, and what to do.
    """

    name: str
    words: str


def budget_bar(budget: Budget | None, statuses: Iterable[ModelStatus] = ()) -> str:
    """How much of the memory budget is taken, as a bar with words.

    Args:
        budget: None before the first model was asked for.
        statuses: Of the models that the table lists; of what others take it is said whose they are.
    """
    if budget is None:
        return note("No model has been asked for yet.")
    share = min(1.0, budget.used_bytes / budget.limit_bytes) if budget.limit_bytes else 0.0
    words = (
        f"Loaded models take {format_bytes(budget.used_bytes)} of the memory ({budget.device}); "
        f"{format_bytes(budget.limit_bytes)} of its {format_bytes(budget.device_bytes)} are for them"
    )
    others = budget.used_bytes - sum(status.weights_bytes for status in statuses)
    if others > 0:
        words += f". {format_bytes(others)} are of models that visitors fine-tuned or named, not of those on offer"
    return f"<div class='budget'><i style='width:{share:.1%}'></i></div>{note(words)}"


def model_table(
    cards: Sequence[ModelCard],
    statuses: Mapping[str, ModelStatus],
    here: Collection[str],
    *,
    is_offline: bool = False,
    refusal: Refusal | None = None,
) -> str:
    """The models by family, with what each can do, and a button to load or unload it.

    Args:
        cards: In the order to show within a family.
        statuses: By name.
        here: Names of those whose files are on this machine.
        is_offline: Whether this explorer may not use the network, so that the others cannot be had.
        refusal: Why the last press of a button came to nothing; it stands in the model's row.
    """
    if not cards:
        return note("No model on offer is such: take back one of the choices above.")
    groups = []
    for family in FAMILIES:
        rows = "".join(
            _row(card, statuses.get(card.name, ModelStatus(card.name)), card.name in here, is_offline, refusal)
            for card in cards
            if family_of(card) == family
        )
        if rows:
            head = f"<b>{escape(family.title)}</b><p class='note'>{escape(family.words)}</p>"
            groups.append(
                f"<tbody><tr class='family'><th colspan='{len(COLUMNS) + 1}' scope='rowgroup'>{head}</th></tr>"
                f"{rows}</tbody>"
            )
    heads = "".join(
        f"<th scope='col'>{head}</th>" for head in (*COLUMNS, "<span class='hidden-words'>Load or unload</span>")
    )
    return f"<table class='models'><thead><tr>{heads}</tr></thead>{''.join(groups)}</table>"


def reach_note(cards: Sequence[ModelCard], here: Collection[str], *, is_offline: bool) -> str:
    """How many of the models can be loaded, and what the others need; arguments as of model_table."""
    away = sum(card.name not in here for card in cards)
    if not away:
        return ""
    needs = (
        "need internet, which this explorer runs without, so that they cannot be loaded"
        if is_offline
        else "are downloaded the first time somebody asks for them"
    )
    return note(f"{len(cards) - away} of {len(cards)} models are on this machine; the others {needs}.")


def _row(card: ModelCard, status: ModelStatus, is_here: bool, is_offline: bool, refusal: Refusal | None) -> str:
    unconfirmed = ", ".join(FACT_WORDS.get(fact, fact) for fact in card.unconfirmed)
    facts = f"<i>To be checked at its first download: {escape(unconfirmed)}.</i>" if unconfirmed else ""
    abilities = ", ".join(ABILITY_WORDS[ability] for ability in Ability if ability in card.abilities)
    size = format_bytes(card.weights_bytes) if card.weights_bytes else "size known after download"
    sizes = [short_count(card.parameters), size.replace(" MiB", "\u00a0MiB").replace(" GiB", "\u00a0GiB")]
    cells = (
        abilities,
        ", ".join(filter(None, sizes)),
        card.licence,
        state_words(status, is_here),
    )
    is_away = status.state == "not loaded" and not is_here
    refused = ""
    if refusal and refusal.name == card.name:
        refused = f"<div class='message error' role='alert'>{escape(refusal.words)}</div>"
    return (
        f"<tr{' class=away' if is_away else ''}><td><b>{escape(card.name)}</b>{refused}{card_note(card)}{facts}</td>"
        + "".join(
            f"<td data-label='{head}'{' class=ready' if status.state == 'ready' and head == COLUMNS[-1] else ''}>"
            f"{escape(cell)}</td>"
            for head, cell in zip(COLUMNS[1:], cells, strict=True)
        )
        + f"<td>{_button(card.name, status.state, is_here, is_offline)}</td></tr>"
    )


def _button(name: str, state: str, is_here: bool, is_offline: bool) -> str:
    """What can be done with a model now; nothing with one that is on its way, or that all visitors begin with."""
    if state == "ready" and name == DEFAULT_MODEL:
        return "<small>stays: the page opens with it</small>"
    if state not in ("ready", "not loaded"):
        return ""
    if state == "not loaded" and not is_here and is_offline:
        return "<button type='button' disabled>Not available</button>"
    act = "unload" if state == "ready" else "load"
    label = "Unload" if state == "ready" else "Load" if is_here else "Download"
    return (
        f"<button type='button' data-act='{act}' data-name='{escape(name)}' aria-label='{label} {escape(name)}'>"
        f"{label}</button>"
    )


def state_words(status: ModelStatus, is_here: bool, *, is_brief: bool = False) -> str:
    """Where a model stands, in a few words.

    Args:
        status: Of the model.
        is_here: Whether its files are on this machine.
        is_brief: Whether the words stand in a narrow place: then without the memory it takes, and for whom.
    """
    if status.state == "ready" and is_brief:
        return f"ready on {status.device}"
    if status.state == "ready":
        users = f", answering {count_of(status.users, 'question')}" if status.users else ""
        return f"ready on {status.device}, {format_bytes(status.weights_bytes)}{users}"
    if status.state in ("downloading", "loading"):
        return status.state + (f" {status.progress:.0%}" if status.progress is not None else " …")
    return "on this machine" if is_here else "needs internet"


def short_count(parameters: int | None) -> str:
    """A number of weights as people say it: 22.7 M; "" where it is not known."""
    if parameters is None:
        return ""
    if parameters >= 995_000_000:
        return f"{parameters / 1e9:.1f} B"
    return f"{parameters / 1e6:.1f} M" if parameters < 99_500_000 else f"{parameters / 1e6:.0f} M"


def picker_options(cards: Sequence[ModelCard], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Choices of a model picker: what it shows, and the name it stands for."""
    return [
        (" · ".join(filter(None, (card.name, short_count(card.parameters), words[card.name]))), card.name)
        for card in cards
    ]


def card_note(card: ModelCard) -> str:
    """What a student should know about a model: what is special, the paper, and folded, how this project trained it."""
    training = escape(card.training)
    if training:
        training = f"<details class='note'><summary>How it was trained, and its score</summary>{training}</details>"
    paper = escape(card.paper)
    if card.paper_url.startswith("https://"):
        paper = f"<a href='{escape(card.paper_url)}' target='_blank' rel='noopener'>{paper}</a>"
    return f"<p class='note'>{escape(card.special)} {paper}</p>{training}"
