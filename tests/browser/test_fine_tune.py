"""The tab that fine-tunes, driven as a visitor drives it; the jobs are real, on our own sentences."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

TAB = "?tab=fine-tune"
SLOW = 180_000  # a worker that starts, loads and trains on a busy machine
# What stands in sight in any frame from now on, of the views and, behind a bar, of the job and the line above it.
WATCH = """() => {
  const shown = window.shown = new Set();
  const words = id => {
    const box = document.querySelector(id);
    return box?.checkVisibility({visibilityProperty: true}) ? box.innerText.trim() : '';
  };
  const look = () => {
    shown.add(words('#tune-confusion-words')).add(words('#tune-try-said'));
    if (words('#tune-otherwise')) shown.add(`otherwise | ${words('.job-says')}`);
    requestAnimationFrame(look);
  };
  look();
}"""
NAMED = re.compile(r"job=[0-9a-f]{12}")


def choose(page, box, option):
    page.locator(f"{box} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def arrive(page, address):
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(address)
    page.wait_for_selector("body[data-ready]", state="attached", timeout=90_000)
    return page


def open_beside(page, address):
    """Another tab of the same browser."""
    return arrive(page.context.new_page(), address)


def come_back(page, address):
    """Close the tab, and open another in its place: what was under way on the first is heard no more."""
    other = page.context.new_page()
    page.close()
    return arrive(other, address)


def start(page):
    page.locator("#tune-start").click()
    expect(page).to_have_url(NAMED)


@pytest.mark.slow
def test_what_is_refused_names_its_box_and_a_new_job_has_no_line_of_the_one_before_above_it(open_page):
    page = open_page(TAB + "&task=tagging")  # open_page looks for Gradio's own errors
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator(".controls-side").get_by_role("button", name="More options").click()
    rate = page.get_by_label("Learning rate")
    rate.fill("-1")
    page.locator("#tune-start").click()
    expect(page.locator("#tune-start-box .message.error")).to_contain_text("Learning rate: give a number above 0")
    expect(page.locator("#tune-otherwise")).to_contain_text("This is not what you have chosen, Tag words")
    rate.fill("")
    rate.press("Tab")
    expect(rate).to_have_value("0")
    come_to_rest(page)
    page.evaluate(WATCH)
    start(page)
    expect(page.locator(".job-says")).to_contain_text(re.compile("Waiting|Running"))
    come_to_rest(page)
    told = [words for words in page.evaluate("[...shown]") if words.startswith("otherwise")]
    assert not [words for words in told if "Done" not in words], "the example was done"
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")


@pytest.mark.slow
def test_lines_stay_where_they_are_when_the_address_changes(open_page):
    page = open_page(TAB)
    line = page.locator("#tune-loss path.js-line").first
    expect(line).to_be_visible()
    choose(page, "#tune-task", "Tag words")
    expect(page).to_have_url(re.compile("task=tagging"))
    clips = line.evaluate("line => line.closest('[clip-path]').getAttribute('clip-path')")
    assert re.fullmatch(r"url\(['\"]?#\w+['\"]?\)", clips), "a whole address is lost when it changes"


@pytest.mark.slow
def test_a_run_is_stopped_resumed_and_seen_by_its_link_on_a_phone(open_page):
    page = open_page(TAB, width=390, height=844, dark=True)
    page.on("dialog", lambda dialog: dialog.accept())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#tune-job")).not_to_be_in_viewport()
    start(page)
    expect(page.locator("#tune-job")).to_be_in_viewport(ratio=0.9)
    expect(page.locator(".job-says")).to_contain_text(re.compile("step [1-9]"), timeout=SLOW)
    other = open_page("?" + page.url.partition("?")[2])  # another browser
    expect(other.locator("#tune-job")).to_contain_text("You see this job by its link")
    expect(other.locator("#tune-stop")).to_be_hidden()
    page.locator("#tune-stop").click()
    expect(page.locator(".job-says")).to_contain_text("Stopped", timeout=SLOW)
    expect(page.locator("#tune-job:focus, #tune-resume:focus")).to_be_visible()  # what was pressed is gone
    page = come_back(page, page.url + "&show=history")
    listed = page.locator("#tune-history .scores-scroll")
    expect(listed.locator(".look").first).to_be_visible()
    assert "local" in listed.evaluate("list => getComputedStyle(list).backgroundAttachment"), "an edge with a shadow"
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#tune-job")).not_to_be_in_viewport()
    listed.locator(".look").first.evaluate("look => look.click()")
    expect(page.locator("#tune-job")).to_be_in_viewport(ratio=0.9)
    page.locator("#tune-resume").click()
    expect(page.locator(".job-says")).to_contain_text(re.compile("Waiting|Running"))
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")
    expect(other.locator("#tune-job")).to_contain_text("There is no such job", timeout=SLOW)


@pytest.mark.slow
def test_the_form_is_that_of_the_job_that_is_opened_and_says_what_is_otherwise_since(open_page):
    page = open_page(TAB + "&task=tagging")
    otherwise = page.locator("#tune-otherwise")
    expect(otherwise).to_contain_text("This is not what you have chosen, Tag words: press Start")
    choose(page, "#tune-task", "Classify sentences")
    expect(otherwise).to_be_empty()
    page.locator("#tune-source").get_by_text("Yours").click()
    page.locator("#tune-paste textarea").fill(
        "said\tkind\n" + "\n".join(f"sentence {n} is {('good', 'bad')[n % 2]}\t{n % 2}" for n in range(24))
    )
    choose(page, "#tune-method", "Head on frozen features")
    expect(otherwise).to_contain_text("Head on frozen features · examples of your own")
    start(page)
    expect(otherwise).to_be_empty()
    page = come_back(page, page.url.partition("?")[0] + TAB + "&task=tagging")  # a link of another task
    otherwise = page.locator("#tune-otherwise")
    expect(otherwise).to_contain_text("Tag words")
    page.get_by_role("tab", name="Your runs").click()
    page.locator("#tune-history tr", has_text="The pasted text").first.locator(".look").click()
    expect(page).to_have_url(NAMED)
    expect(page.locator("#tune-data-said")).to_contain_text("The pasted text: 20 to learn from, 4 held out")
    expect(page.locator("#tune-task input")).to_have_value("Classify sentences")
    expect(page.locator("#tune-method input")).to_have_value("Head on frozen features")
    expect(page.locator("#tune-column-1 input")).to_have_value("label")
    expect(otherwise).to_be_empty()
    choose(page, "#tune-method", "LoRA")
    expect(otherwise).to_contain_text("This is not what you have chosen, LoRA: press Start")
    expect(page).to_have_url(re.compile("form="))
    other = open_page("?" + page.url.partition("?")[2])  # another browser
    expect(other.locator("#tune-otherwise")).to_contain_text("The pasted text, are not held for you")
    expect(other.locator("#tune-otherwise")).to_contain_text("you have chosen, LoRA. The examples will not do yet")
    expect(other.locator("#tune-method input")).to_have_value("LoRA")
    page = come_back(page, page.url)  # its own job: the examples come back as well
    expect(page.locator("#tune-method input")).to_have_value("LoRA")
    expect(page.locator("#tune-data-said")).to_contain_text("The pasted text: 20 to learn from, 4 held out")
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")


def test_a_link_brings_back_examples_methods_and_options(open_page):
    page = open_page(TAB + "&task=similarity&examples=ours+scored&run=race&methods=frozen%7Clora&epochs=9")
    expect(page.get_by_label("Our scored pairs")).to_be_checked()
    expect(page.locator("#tune-data-said")).to_contain_text("How similar two sentences are: 64 to learn from")
    expect(page.locator("#tune-methods label:has(:checked)")).to_have_text(["Head on frozen features", "LoRA"])
    raced = "Compare sentences · Race: Head on frozen features against LoRA"
    expect(page.locator("#tune-otherwise")).to_contain_text(raced)
    page.get_by_role("button", name="More options").click()
    expect(page.get_by_label("number input for Epochs")).to_have_value("9")
    page.get_by_label("Seed").fill("4")
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile(r"methods=frozen%7Clora&epochs=9&seed=4&examples=ours\+scored"))


@pytest.mark.slow
def test_what_is_said_of_examples_is_of_those_of_the_job_whose_link_is_opened(open_page):
    page = open_page(TAB + "&task=similarity")
    page.locator("#tune-source").get_by_text("Our scored pairs").click()
    expect(page.locator("#tune-data-said")).to_contain_text("How similar two sentences are")
    start(page)
    page = come_back(page, page.url)
    come_to_rest(page)
    expect(page.get_by_label("Our scored pairs")).to_be_checked()
    expect(page.locator("#tune-data-said")).to_contain_text("How similar two sentences are: 64 to learn from")
    page.locator("#tune-rows > button").click()
    expect(page.locator("#tune-table th", has_text="score").first).to_be_visible()
    page.locator("#tune-delete").click()
    expect(page.locator("#tune-job")).to_contain_text("An example")


@pytest.mark.slow
def test_the_mix_of_layers_that_a_task_learned_is_followed_to_a_word(open_page):
    page = open_page(TAB + "&show=moved")
    choose(page, "#tune-method", "Head on a learned mix of frozen layers")
    start(page)
    expect(page.locator("#tune-mix .bars path")).to_have_count(7, timeout=SLOW)
    link = page.get_by_role("link", name="Neighbours by this mix").get_attribute("href")
    page = come_back(page, page.url.partition("?")[0] + link)
    mixed = re.compile(r"weighted sum of normalised layers \(0\.\d+(, [\d.e-]+){6}\)")
    expect(page.locator("#near-columns")).to_contain_text(mixed, timeout=SLOW)
    expect(page.locator(".message.error:visible")).to_have_count(0)


@pytest.mark.slow
def test_a_link_to_a_task_that_offers_fewer_methods_opens_without_an_error(open_page):
    page = open_page(TAB + "&model=MiniLM+(causal)&task=causal&run=race")  # open_page looks for Gradio's own errors
    expect(page.locator("#tune-methods label").first).to_have_text("LoRA")
    expect(page.locator("#tune-methods label")).to_have_count(3)
    choose(page, "#tune-task", "Compare sentences")
    expect(page.locator("#tune-methods label")).to_have_count(5)
    expect(page.locator("#tune-source label")).to_have_count(3)
