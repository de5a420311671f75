from dataclasses import replace

import pytest

from explorer.figures.catalogue import (
    FACT_WORDS,
    budget_bar,
    card_note,
    model_table,
    picker_options,
    reach_note,
    short_count,
    state_words,
)
from explorer.models.card import Ability, HubRepository, ModelCard
from explorer.models.catalogue import CATALOGUE, DEFAULT_MODEL
from explorer.models.status import Budget, ModelStatus

CARD = ModelCard(
    name="Tiny",
    source=HubRepository("a/b", "main"),
    model_type="bert",
    abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
    special="Small & <quick>.",
    licence="MIT",
    paper="Someone 2020",
    paper_url="https://example.org/paper",
    parameters=22_744_506,
    weights_bytes=90_868_376,
    unconfirmed=("revision",),
)


@pytest.mark.parametrize(
    ("count", "words"), [(None, ""), (260_032, "0.3 M"), (22_744_506, "22.7 M"), (124_439_808, "124 M")]
)
def test_numbers_of_weights_are_short(count, words):
    assert short_count(count) == words


@pytest.mark.parametrize(
    ("status", "here", "words"),
    [
        (ModelStatus("Tiny"), False, "needs internet"),
        (ModelStatus("Tiny"), True, "on this machine"),
        (ModelStatus("Tiny", state="downloading", progress=0.25), False, "downloading 25%"),
        (ModelStatus("Tiny", "ready", "cpu", 2**20, users=2), True, "ready on cpu, 1 MiB, answering 2 questions"),
    ],
)
def test_where_a_model_stands_is_said_in_words(status, here, words):
    assert state_words(status, here) == words


def test_the_table_says_all_that_a_teacher_asks():
    html = model_table([CARD], {"Tiny": ModelStatus("Tiny")}, set())
    for words in (
        "fills blanks, token vectors",
        "22.7 M, 87\u00a0MiB",
        "MIT",
        "needs internet",
        "download: which version",
    ):
        assert words in html
    assert "data-act='load' data-name='Tiny'" in html


@pytest.mark.parametrize(("state", "act"), [("ready", "data-act='unload'"), ("loading", None), ("downloading", None)])
def test_a_model_on_its_way_has_no_button(state, act):
    html = model_table([CARD], {"Tiny": ModelStatus("Tiny", state)}, set())
    assert (act in html) if act else ("data-act" not in html)


def test_the_model_that_all_begin_with_cannot_be_unloaded():
    first = replace(CARD, name=DEFAULT_MODEL)
    html = model_table([first], {DEFAULT_MODEL: ModelStatus(DEFAULT_MODEL, "ready")}, {DEFAULT_MODEL})
    assert "data-act" not in html
    assert ">Load</button>" in model_table([first], {}, {DEFAULT_MODEL})


def test_a_model_that_needs_internet_is_marked_and_offline_it_cannot_be_asked_for():
    statuses = {"Tiny": ModelStatus("Tiny")}
    assert ">Download</button>" in model_table([CARD], statuses, set())
    assert ">Load</button>" in model_table([CARD], statuses, {"Tiny"}, is_offline=True)
    html = model_table([CARD], statuses, set(), is_offline=True)
    assert "disabled" in html and "data-act" not in html and "class=away" in html


def test_what_cannot_be_loaded_is_counted():
    other = replace(CARD, name="Other")
    assert reach_note([CARD, other], {"Tiny", "Other"}, is_offline=True) == ""
    assert "1 of 2 models are on this machine" in reach_note([CARD, other], {"Tiny"}, is_offline=False)
    assert "cannot be loaded" in reach_note([CARD, other], {"Tiny"}, is_offline=True)


def test_every_fact_that_may_be_unconfirmed_has_words():
    assert {fact for card in CATALOGUE for fact in card.unconfirmed} <= set(FACT_WORDS)


def test_how_a_model_was_trained_is_folded_and_escaped():
    assert "<summary>" not in card_note(CARD)
    assert "</summary>On &lt;b&gt;.</details>" in card_note(replace(CARD, training="On <b>."))


def test_the_picker_shows_size_and_state():
    assert state_words(ModelStatus("Tiny", "ready", "cpu", 2**20, users=2), True, is_brief=True) == "ready on cpu"
    assert picker_options([CARD], {"Tiny": "ready on cpu"}) == [("Tiny · 22.7 M · ready on cpu", "Tiny")]


def test_the_note_is_escaped_and_links_to_the_paper():
    assert "Small &amp; &lt;quick&gt;." in card_note(CARD)
    assert "href='https://example.org/paper'" in card_note(CARD)


def test_the_budget_is_a_bar_and_words():
    html = budget_bar(Budget("cuda", 4 * 2**30, 2**30, 8 * 2**30))
    assert "width:25.0%" in html and "1.0 GiB" in html and "4.0 GiB" in html
    assert "No model" in budget_bar(None)


def test_what_visitors_named_or_tuned_is_told_beside_what_the_table_lists():
    budget = Budget("cpu", 4 * 2**30, 971 * 2**20, 8 * 2**30)
    listed = [ModelStatus("one", state="ready", weights_bytes=500 * 2**20), ModelStatus("another")]
    html = budget_bar(budget, listed)
    assert "take 971 MiB" in html and ". 471 MiB are of models that visitors fine-tuned or named" in html
    listed[1] = ModelStatus("another", state="ready", weights_bytes=471 * 2**20)
    assert "visitors" not in budget_bar(budget, listed)


def test_a_size_nobody_knows_yet_is_said_to_come():
    assert "size known after download" in model_table([replace(CARD, weights_bytes=None)], {}, set())


def test_models_stand_under_what_lectures_call_them():
    writer = replace(CARD, name="Writer", abilities=frozenset({Ability.GENERATE}))
    html = model_table([CARD, writer, replace(CARD, name="Other")], {}, set())
    order = ["Decoders: GPT", "<b>Writer</b>", "Encoders: BERT", "<b>Tiny</b>", "<b>Other</b>"]
    assert sorted(order, key=html.index) == order
    assert html.count("scope='rowgroup'") == html.count("<tbody>") == 2
    assert "No model on offer is such" in model_table([], {}, set())
