"""A run that ends, and the model that it leaves: real training, tried, explored, taken home and deleted."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest
from tests.browser.test_fine_tune import NAMED, SLOW, TAB, WATCH, choose, come_back, open_beside, start


def train_a_head(page):
    """The page of a run that is done, on which its last steps were heard: what it was started on is closed."""
    choose(page, "#tune-method", "Head on frozen features")
    start(page)
    expect(page.locator("#tune-job")).to_contain_text(re.compile("Waiting|Running|Done"))
    page = come_back(page, page.url)
    expect(page.locator(".job-says")).to_contain_text("Done", timeout=SLOW)
    expect(page.locator("#tune-explore")).to_contain_text("Anisotropy the same as its base")
    return page


def test_the_example_is_looked_at_and_a_head_trained_and_tried(open_page):
    page = open_page(TAB)
    expect(page.locator("#tune-job")).to_contain_text("An example")
    for chart in ("loss", "score"):
        expect(page.locator(f"#tune-{chart} .js-plotly-plot path.js-line").first).to_be_visible()
    page.get_by_role("tab", name="Confusion and mistakes").click()
    expect(page.locator("#tune-confusion .hm image, #tune-confusion .hm path").first).to_be_attached()
    expect(page.locator("#tune-mistakes tbody tr").first).to_contain_text("✗")
    page.get_by_label("Right ones, least confident first").check()
    expect(page.locator("#tune-mistakes tbody tr").first).not_to_contain_text("✗")
    page.get_by_role("tab", name="What moved").click()
    expect(page.locator("#tune-moved .bars path").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280

    page = train_a_head(page)
    page.get_by_role("tab", name="Try it").click()
    come_to_rest(page)
    page.locator("#tune-try-text textarea").fill("The soup was cold.")
    page.locator("#tune-try-text textarea").press("Enter")
    expect(page.locator("#tune-tried tbody tr")).to_have_count(3, timeout=SLOW)
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")
    expect(page).not_to_have_url(NAMED)


@pytest.mark.slow
def test_a_model_is_tried_explored_downloaded_and_deleted(open_page):
    page = open_page(TAB + "&show=mistakes")
    expect(page.locator("#tune-confusion .hm image, #tune-confusion .hm path").first).to_be_attached()
    example = page.locator("#tune-confusion-words").inner_text().strip()
    page.get_by_role("tab", name="What moved").click()
    page = train_a_head(page)
    page.evaluate(WATCH)  # the views were laid out with the example
    page.get_by_role("tab", name="Confusion and mistakes").click()
    expect(page.locator("#tune-confusion-words")).to_be_visible()
    come_to_rest(page)
    page.get_by_role("tab", name="Try it").click()
    page.locator("#tune-try-text textarea").fill("The soup was cold, <b>and</b> nobody came.")
    shown = page.evaluate("[...shown]")
    assert any("held-out examples are right" in words for words in shown)
    assert not [words for words in shown if words == example or "does not come with the page" in words]
    come_to_rest(page)
    expect(page.locator("#tune-try-text textarea")).to_have_value(re.compile("^The soup"))  # its own text came later
    page.locator("#tune-try-text textarea").press("Enter")
    expect(page.locator("#tune-tried tbody tr")).to_have_count(3, timeout=SLOW)
    answer = page.locator("#tune-tried").first
    expect(answer).not_to_have_attribute("data-before", "")
    page.locator("#tune-try-text textarea").fill("Thank you.")
    expect(answer).to_have_attribute("data-before", "")  # it is dimmed
    page.locator("#tune-try-text textarea").fill("The soup was cold, <b>and</b> nobody came.")
    expect(answer).not_to_have_attribute("data-before", "")
    expect(page).to_have_url(re.compile("show=try&.*try_text=The\\+soup"))
    other = open_beside(page, page.url)
    come_to_rest(other)
    expect(other.locator("#tune-try-text textarea")).to_have_value("The soup was cold, <b>and</b> nobody came.")
    expect(other.locator("#tune-tried tbody tr")).to_have_count(3)  # it is asked, as whoever copied the link saw it
    other.locator("#tune-source").get_by_text("Yours").click()
    other.get_by_role("button", name="Start").click()
    expect(other.locator(".controls-side .message.error:visible")).to_contain_text("There are no examples yet")
    expect(other.locator("#tune-tried")).to_have_css("opacity", "1")  # the job is what it was
    other.get_by_role("link", name="Download the model").click(trial=True)
    other.close()
    page.locator("#tune-try-text textarea").fill("")
    page.locator("#tune-try-text textarea").press("Enter")
    expect(page.locator(".message.error:visible")).to_contain_text("There is nothing to judge yet")
    page.locator("#tune-try-text textarea").fill("Thanks.")
    expect(page.locator(".message.error:visible")).to_have_count(0)
    expect(answer).to_have_attribute("data-before", "")
    page.locator("#tune-try-text textarea").fill("")
    page.locator("#tune-try-text textarea").press("Enter")
    expect(page.locator(".message.error:visible")).to_contain_text("There is nothing to judge yet")
    page.get_by_role("tab", name="Your runs").click()
    expect(page.locator(".message.error:visible")).to_have_count(0)  # it is about that box alone
    expect(page.locator("#tune-history tr[aria-current]")).to_contain_text("accuracy")
    page.locator("#tune-history [data-act=tick]").check()
    expect(page.locator("#compared-score .js-plotly-plot")).to_be_visible()

    with page.expect_download() as taken:
        page.get_by_role("link", name="Download the model").click()
    assert taken.value.suggested_filename.endswith(".zip")
    link = page.get_by_role("link", name="Attention").get_attribute("href")
    other = open_beside(page, page.url.partition("?")[0] + link)
    picker = other.locator(".model-picker:visible input")
    expect(picker).to_have_value(re.compile("^all-MiniLM-L6-v2 · frozen features · .* #[0-9a-f]{12}-0"))
    expect(other.locator(".message.error:visible")).to_have_count(0)
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")
    expect(page).not_to_have_url(NAMED)
    page.get_by_role("tab", name="Try it").click()
    expect(page.locator("#tune-try")).to_be_hidden()
    page.locator("#tune-try-text textarea").fill("My own.")
    page.get_by_role("button", name="Train it here").click()  # the example comes without its model
    expect(page).to_have_url(NAMED)
    expect(page.locator(".job-says")).to_contain_text(re.compile("Waiting|Running"))
    expect(page.locator("#tune-try")).to_be_disabled()
    expect(page.locator("#tune-try-text textarea")).to_have_value("My own.")


@pytest.mark.slow
def test_an_own_sentence_is_kept_for_the_next_run_of_the_task_and_its_old_answer_leaves_nothing(open_page):
    page = train_a_head(open_page(TAB + "&show=try"))
    text, answer = page.locator("#tune-try-text textarea"), page.locator("#tune-tried").first
    text.fill("The soup was cold.")
    text.press("Enter")
    expect(page.locator("#tune-tried tbody tr")).to_have_count(3, timeout=SLOW)
    text.fill("Thanks.")
    expect(answer).to_have_attribute("data-before", "")
    choose(page, "#tune-method", "Head on a learned mix of frozen layers")
    start(page)
    expect(page.locator(".job-says")).to_contain_text(re.compile("Waiting|Running"))
    expect(page.locator(".job-says")).to_contain_text("Done", timeout=SLOW)
    expect(page.locator("#tune-try")).to_be_enabled()
    come_to_rest(page)
    expect(text).to_have_value("Thanks.")
    expect(page).to_have_url(re.compile("try_text=Thanks"))
    expect(page.locator("#tune-tried tbody tr")).to_have_count(0)
    expect(answer).not_to_have_attribute("data-before", "")
    choose(page, "#tune-task", "Classify pairs of sentences")
    start(page)
    expect(text).to_have_value("")  # two sentences are another question
