"""What takes long says so, and can be stopped; what others wait for goes on."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest, serving
from tests.browser.test_fill_blanks import BEST, write
from tests.browser.test_generate import link, wait_for_writing
from tests.browser.test_models_tab import LOAD, row
from tests.models.tiny_loader import wait_until

SLOW = "MiniLM (masked, early)"
LOST, NO_WAY = "T5 mini", "T5 mini cannot be reached: check the network."  # says slow_page.py
NOBODY_READS = "nobody reads what is written"  # says slow_page.py
LINK = "?" + urlencode({"tab": "fill", "text": "The cat sat on the ___.", "model": SLOW})

PLACE = "element => element.getBoundingClientRect().top + scrollY"
pytestmark = pytest.mark.slow  # a program of its own; that Escape stops what is written is tested with the rest


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("slow page") / "log"


@pytest.fixture(scope="module")
def address(log):
    with serving("tests/browser/slow_page.py", log) as url:
        yield url


def working(page):
    return page.locator(".message.working:visible")


def test_a_model_on_its_way_is_waited_for_by_those_who_did_not_stop(open_page):
    other, page = open_page(LINK, until="restored"), open_page(LINK, until="restored")
    for waiting in (other, page):
        expect(working(waiting)).to_contain_text(f"Downloading {SLOW}")
    working(page).get_by_role("button", name="Stop").click()
    expect(page.locator(".message.stopped:visible")).to_contain_text("goes on from there")
    expect(page.locator(BEST)).to_contain_text("The teacher picked up the")
    expect(other.locator(".caption:visible")).to_contain_text(SLOW)
    expect(other.locator(BEST)).to_contain_text("The cat sat on the")
    write(page, "She drank a cup of ___.")  # who stopped can go on, with the model that is there by now
    expect(page.locator(BEST)).to_contain_text("She drank a cup of")
    expect(page.locator(".message:visible")).to_have_count(0)


def test_escape_stops_a_fill_that_takes_long(page, log):
    page.set_viewport_size({"width": 390, "height": 640})
    write(page, "The snail went slowly to the ___.")
    expect(page.locator(".word-strip .word:visible", has_text="snail")).to_be_visible()
    strip = page.locator(".block.word-strip")
    place = strip.evaluate(PLACE)
    expect(working(page)).to_contain_text("Computing with MiniLM (masked)")
    assert strip.evaluate(PLACE) == place  # else the next click would miss its word
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(page.locator(".message.working.afloat")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".message.stopped:visible")).to_be_visible()
    expect(page.locator(BEST)).to_contain_text("The teacher picked up the")
    wait_until(lambda: "nobody waits for: The snail went slowly to the ___." in log.read_text())
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank a cup of")


def test_a_load_of_the_models_tab_can_be_stopped(open_page):
    page = open_page("?tab=models")
    slow = row(page, "all-MiniLM-L6-v2")
    slow.get_by_role("button", name=LOAD).click()
    expect(working(page)).to_contain_text("Downloading all-MiniLM-L6-v2")
    working(page).get_by_role("button", name="Stop").click()
    expect(page.locator(".message.stopped:visible")).to_be_visible()
    expect(slow.get_by_role("button", name=LOAD)).to_be_visible()  # nobody else waited, so it has ended
    expect(slow).to_contain_text("on this machine")


def test_a_load_that_fails_says_so_in_its_row_until_the_next_press(open_page):
    page = open_page("?tab=models", width=390, height=844)
    row(page, LOST).get_by_role("button", name=LOAD).click()
    refusal = page.get_by_role("alert").locator("visible=true")
    expect(refusal).to_have_text(NO_WAY)
    expect(row(page, LOST).get_by_role("alert")).to_be_in_viewport()
    row(page, "BERT mini").get_by_role("button", name=LOAD).click()
    expect(row(page, "BERT mini")).to_contain_text("ready on cpu")
    expect(refusal).to_have_count(0)


def test_what_is_typed_right_after_escape_is_not_forgotten(page):
    write(page, "The snail went slowly to the ___.")
    expect(working(page)).to_contain_text("Computing with MiniLM (masked)")
    page.keyboard.press("Escape")
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank a cup of")


def test_nothing_is_written_for_a_page_that_was_closed(open_page, log):
    page = open_page(link(text="The snail went", length=200), until="restored")
    wait_for_writing(page, 3)
    assert NOBODY_READS not in log.read_text()
    page.close()
    wait_until(lambda: NOBODY_READS in log.read_text())


def test_a_question_that_was_left_ends_and_a_stop_ends_what_came_after_it(page, log):
    write(page, "The snail went slowly to the ___.")
    expect(working(page)).to_contain_text("Computing with MiniLM (masked)")
    page.get_by_role("tab", name="Several models").click()  # which fills the same
    expect(working(page)).to_contain_text("Computing with MiniLM (masked), ")
    page.keyboard.press("Escape")
    expect(page.locator(".message.stopped:visible")).to_be_visible()
    come_to_rest(page)
    expect(page.locator(".message.stopped:visible")).to_be_visible()
    page.get_by_role("tab", name="Answer").click()
    expect(working(page)).to_contain_text("Computing with MiniLM (masked)")
    page.get_by_role("tab", name="Tokens").click()
    wait_until(lambda: log.read_text().count("nobody waits for: The snail went slowly") >= 2)
    expect(page.locator(".message:visible")).to_have_count(0)
