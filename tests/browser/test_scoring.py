"""Scores, layers and options on the page."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

TEXT = "The keys to the cabinet are on the table."
SCORE = f"?tab=generate&show=score&text={TEXT}"
PROMPT = "#generate-text textarea"


def test_a_text_is_scored_by_two_models_side_by_side(open_page):
    page = open_page(SCORE)
    columns = page.locator("#scored-texts .scored-columns section")
    expect(columns.locator("h3")).to_have_text(["MiniLM (causal)", "MiniLM (masked)"])
    rows = page.locator("#scored-texts .scores tbody tr")
    expect(rows.locator("th")).to_have_text(TEXT.split())
    token = columns.first.locator(".scored-token").nth(1)
    facts = token.locator(".facts")
    expect(facts).to_be_hidden()
    token.hover()
    expect(facts).to_contain_text("bits · rank ")
    table = page.locator("#scored-texts .scores-scroll").element_handle()
    for width in (853, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("one => one.scrollWidth <= one.clientWidth", arg=table)
    page.locator(PROMPT).fill("The keys are here.")
    expect(rows.locator("th")).to_have_text(["The", "keys", "are", "here."])
    page.locator(PROMPT).fill("")
    page.locator(PROMPT).press("Enter")  # which writes in other views
    come_to_rest(page)
    expect(page.locator(".message-place .message.error")).to_contain_text("There is no text to score")


@pytest.mark.slow
def test_one_model_alone_and_bad_texts(open_page):
    page = open_page(SCORE + "&score_with=")
    expect(page.locator("#scored-texts section")).to_have_count(1)
    expect(page.locator("#scored-texts")).to_contain_text("Perplexity")
    page.locator(PROMPT).fill("")
    expect(page.locator(".message-place .message.error")).to_contain_text("There is no text to score")
    page.locator(PROMPT).fill("word " * 600)
    expect(page.locator(".message-place .message.error")).to_contain_text("reads at most 512")


@pytest.mark.slow
def test_layers_end_in_the_models_answer(open_page):
    page = open_page("?tab=generate&show=layers&text=She was born in New&layer_tokens=3")
    rows = page.locator("#layer-table tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.last.locator("td").first).to_have_class("heat answer")
    expect(rows.last.locator("td")).to_have_count(5)


def test_an_example_is_chosen_right_with_its_sum_and_a_lone_option_is_refused(open_page):
    page = open_page("?tab=generate&show=options")
    expect(page.locator(".generating .model-picker")).to_be_hidden()  # this view names its own
    page.get_by_label("PMI").hover()
    expect(page.get_by_label("PMI")).to_have_css(
        "background-color", "rgb(59, 130, 246)"
    )  # chosen, also under a pointer
    best = page.locator("#option-columns .best")
    expect(best.locator("bdi[dir]")).to_have_text(["bad", "bad"])
    expect(best.first).to_contain_text("less the same in")
    page.get_by_role("button", name="The judge").click()
    expect(best.locator("bdi[dir]")).to_have_text(["guilty", "guilty"])
    expect(page.locator("#option-columns")).to_contain_text("Look for: ")
    page.locator("#options textarea").fill("guilty")
    expect(page.locator("#options-refused .message.error")).to_contain_text("there are 1")  # beside the options
    expect(page.locator("#option-columns")).to_have_css("opacity", "0.4")  # it is of those before
    expect(page.get_by_role("button", name="The judge").locator("visible=true")).to_have_css("opacity", "1")
    page.locator("#options textarea").fill("guilty\nready")
    expect(page.locator("#options-refused")).to_be_hidden()
    expect(page.locator("#option-columns")).to_have_css("opacity", "1")
    page.get_by_role("button", name="Cold food").click()
    expect(best.locator("bdi[dir]")).to_have_text(["bad", "bad"])
    expect(page.locator("#option-columns")).not_to_contain_text("is still an example")
    page.locator("#options-text textarea").fill("At night the sky is")
    expect(page.locator("#option-columns")).to_contain_text("is still an example’s, “The evening was very”")


@pytest.mark.slow
def test_of_other_models_nothing_is_promised(open_page):
    page = open_page("?tab=generate&show=options&options_models=MiniLM+%28causal%29")
    expect(page.locator("#option-columns h3")).to_have_text(["MiniLM (causal)"])
    expect(page.locator("#option-columns")).not_to_contain_text("Look for: ")


@pytest.mark.slow
def test_what_was_written_from_another_prompt_is_dimmed_behind_a_link_to_a_score(open_page):
    page = open_page(SCORE)
    page.get_by_role("tab", name="Write").click()
    expect(page.locator(".sheet-other")).to_contain_text("This was written from another prompt.")
    expect(page.locator(".sheet-text")).to_have_css("opacity", "0.5")
    page.locator("#generate-write").click()
    come_to_rest(page)
    expect(page.locator(".sheet-other")).to_be_hidden()
    expect(page.locator(".sheet-text .given")).to_have_text(TEXT)


@pytest.mark.slow
def test_a_text_is_looked_at_on_a_page_of_its_own(open_page):
    page = open_page("?tab=generate&seed=1")
    expect(page.locator(".sheet-branches")).to_be_hidden()  # the link asks for one text
    written = page.locator(".sheet-text .written").inner_text()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Score").click()
    scored = opened.value
    come_to_rest(scored)
    expect(scored.locator("#generate-text textarea")).to_have_value(
        re.compile(re.escape(written.split(".")[0].strip()))
    )
    scored.close()
    expect(page.locator(".sheet-text .written")).to_have_text(written)
