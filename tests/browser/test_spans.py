"""Blanks of any length, filled by models of three kinds side by side."""

import pytest
from playwright.sync_api import expect

LINK = "?tab=fill&show=spans&text=He%20was%20born%20in%20___%20and%20moved%20to%20___."
TEXT = "#fill-text textarea"


def columns(page):
    return page.locator(".span-columns section")


def test_a_visitor_looks_behind_the_answers_and_takes_one(open_page):
    """One page, step by step: to open it takes longer than to try it."""
    page = open_page(LINK)
    what_the_model_saw_and_wrote_is_shown_on_demand(page)
    three_models_fill_the_same_blanks_and_a_choice_goes_into_the_sentence(page)
    words_dragged_over_become_one_blank(page)
    neighbouring_blanks_are_joined_and_come_back_together(page)
    shift_takes_all_words_from_the_one_clicked_before(page)


def three_models_fill_the_same_blanks_and_a_choice_goes_into_the_sentence(page):
    expect(columns(page).locator("h3")).to_have_text(["MiniLM (span)", "MiniLM (masked)", "MiniLM (causal)"])
    first = columns(page).first.locator("button.choice").first
    fill = first.get_attribute("data-fill")
    expect(columns(page).nth(2)).to_contain_text("reads from the left only")
    first.click()
    expect(page.locator(TEXT)).to_have_value(f"He was born in {fill} and moved to ___.")
    expect(columns(page).first.locator(".kind").first).to_have_text("In the blank")
    columns(page).first.locator("button.choice").first.click()
    expect(page.locator(".message.idle")).to_contain_text("click a word below it to hide it")  # nothing went wrong


def what_the_model_saw_and_wrote_is_shown_on_demand(page):
    column = columns(page).first
    expect(column.get_by_text("<extra_id_1>").first).to_be_hidden()
    column.get_by_text("What it saw and wrote").click()
    expect(column.get_by_text("<extra_id_1>").first).to_be_visible()


def words_dragged_over_become_one_blank(page):
    page.locator(TEXT).fill("The old man saw a big red dog.")
    word(page, "big").hover()
    page.mouse.down()
    word(page, "dog").hover()
    expect(page.locator(".word.taken")).to_have_text(["big", "red", "dog"])
    page.mouse.up()
    expect(page.locator(TEXT)).to_have_value("The old man saw a ___.")
    expect(page.locator(".word.taken")).to_have_count(0)
    page.locator(".word.blank").click()
    expect(page.locator(TEXT)).to_have_value("The old man saw a big red dog.")


def neighbouring_blanks_are_joined_and_come_back_together(page):
    word(page, "red").click()
    expect(page.locator(TEXT)).to_have_value("The old man saw a big ___ dog.")
    word(page, "dog").click()
    page.get_by_role("button", name="join").click()
    expect(page.locator(TEXT)).to_have_value("The old man saw a big ___.")
    expect(columns(page).first.locator(".kind").first).to_have_text("In the blank")
    page.locator(".word.blank").click()
    expect(page.locator(TEXT)).to_have_value("The old man saw a big red dog.")


def shift_takes_all_words_from_the_one_clicked_before(page):
    word(page, "man").click()
    expect(page.locator(TEXT)).to_have_value("The old ___ saw a big red dog.")
    word(page, "The").press("Shift+Enter")
    expect(page.locator(TEXT)).to_have_value("___ saw a big red dog.")


def word(page, text):
    return page.locator(".word-strip:visible").get_by_role("button", name=text, exact=True)


@pytest.mark.slow
def test_sampling_is_kept_in_the_link_and_a_sentinel_is_refused_where_it_stands(open_page):
    page = open_page(LINK + "&method=sampling&seed=7&span_models=MiniLM (span)")
    expect(columns(page)).to_have_count(1)
    page.get_by_text("How the words are found").click()
    expect(page.get_by_label("Sampling: drawn at random")).to_be_checked()
    page.locator(TEXT).fill("He was born in <extra_id_0>.")
    expect(page.locator(".message.error")).to_contain_text("<extra_id_0> is a sentinel. Write ___")
