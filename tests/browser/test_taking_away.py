"""What is under way can be told, and no press on what can be taken away is lost."""

from threading import Event

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.test_fill_blanks import write

REPLACE = """control => {
    const all = control.closest('.take-away');
    all.replaceWith(all.cloneNode(true));
}"""  # as Gradio does when the page is built, and when an answer comes
RESULTS = ".result-side:visible"


def press_while_it_is_replaced(page: Page, label: str) -> None:
    control = page.locator(f".take-away:visible >> text='{label}'")
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    control.evaluate(REPLACE)
    page.mouse.up()


def test_no_press_is_lost_and_what_is_under_way_is_told(page):
    """One page, step by step: to open it takes longer than to try it."""
    a_press_counts_when_what_is_pressed_is_drawn_anew_meanwhile(page)
    results_are_busy_until_the_answer_is_drawn(page)


def a_press_counts_when_what_is_pressed_is_drawn_anew_meanwhile(page):
    taken = []
    page.on("download", lambda file: taken.append(file.suggested_filename))
    for label in ("JSON", "PNG"):
        with page.expect_download():
            press_while_it_is_replaced(page, label)
    with page.expect_download():
        page.locator(".take-away:visible >> text='CSV of choices'").click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press_while_it_is_replaced(page, "Copy code")
    page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('    fill_blanks,'))")
    each_once = ["blanks-MiniLM-masked.json", "blanks-MiniLM-masked.png", "blanks-choices-MiniLM-masked.csv"]
    assert taken == each_once


def test_a_picture_asked_for_before_there_is_one_comes_when_it_is_drawn(open_page):
    held: list[Route] = []
    page = open_page(
        until="restored", prepare=lambda page: page.route("**/PlotlyPlot*", lambda route: held.append(route))
    )
    button = page.locator(".take-away:visible button", has_text="PNG")
    button.click()
    waiting = page.locator(".take-away:visible button[aria-busy=true]")
    expect(waiting).to_have_text("Drawing …")
    expect(page.locator(RESULTS)).to_have_attribute("aria-busy", "true")
    expect(page.locator("body[data-ready]")).to_have_count(0)
    waiting.click()  # impatience makes no second picture
    taken = []
    page.on("download", lambda file: taken.append(file))
    with page.expect_download() as download:
        held[0].continue_()
    assert download.value.suggested_filename == "blanks-MiniLM-masked.png"
    expect(button).to_have_text("PNG")
    expect(page.locator("body[data-ready]")).to_be_attached()
    expect(page.locator(f"{RESULTS}[aria-busy]")).to_have_count(0)
    assert len(taken) == 1


def results_are_busy_until_the_answer_is_drawn(page):
    held: list[Route] = []
    is_open = Event()
    page.route("**/queue/data*", lambda route: route.continue_() if is_open.is_set() else held.append(route))
    write(page, "She drank a cup of ___.")
    expect(page.locator(RESULTS)).to_have_attribute("aria-busy", "true")
    is_open.set()  # not unroute, which lets go by itself, now and then, of what is held
    for route in held:
        route.continue_()
    expect(page.locator(f"{RESULTS}[aria-busy]")).to_have_count(0)
    assert "She drank a cup of" in page.locator(".completions:visible li").first.inner_text()


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("?tab=generate", ".sheet-text .written > *"),
        pytest.param("?tab=fill&show=tokens", ".piece", marks=pytest.mark.slow),
    ],
)
def test_a_link_opens_where_it_leads_and_says_so_when_it_is_drawn(open_page, query, result):
    page = open_page(query)
    assert page.locator(f"{result}:visible").count() > 5  # at once
    assert page.evaluate("document.querySelector('link[href*=PlotlyPlot]') === null")  # the first tab was not drawn


SEE_TITLE = """() => {
    const plot = [...document.querySelectorAll('.js-plotly-plot')].find(one => one.checkVisibility());
    plot.querySelector('.modebar-btn[data-title*="ownload"]').addEventListener('click', () => {
        document.body.dataset.seen = plot.layout.title.text;
    });
}"""  # the page's own title is put back at once


@pytest.mark.slow
def test_the_picture_of_a_step_says_what_was_filled_before_it(open_page):
    page = open_page("?show=watch")
    page.locator(".js-plotly-plot:visible").wait_for()
    page.evaluate(SEE_TITLE)
    with page.expect_download():
        page.locator(".take-away:visible button", has_text="PNG").click()
    title = page.locator("body").get_attribute("data-seen")
    assert title.count("___") == 1, f"one of two blanks is filled: {title}"
    assert title.endswith("<br>MiniLM (masked)")
