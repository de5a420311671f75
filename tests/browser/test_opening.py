"""What opening the page asks for, that Gradio's mended scripts do what its own do, and what keys do."""

import re
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import expect

from explorer.tabs.browser_files import MENDED
from tests.browser.conftest import come_to_rest

# Both versions as methods of two classes, on the same events: several targets, one twice in an event, none, no name.
COMPARE = """([slow, quick]) => {
  const make = method => eval(`(class {${method}})`);
  const seed = (s => () => (s = s * 16807 % 2147483647) / 2147483647)(7);
  const pick = most => Math.floor(seed() * most);
  const events = Array.from({length: 200}, () => ({
    targets: Array.from({length: pick(4)}, () => [pick(40), [null, 'click', 'change', 'then'][pick(4)]]),
  }));
  const attach = (maker, list) => {
    const tree = new maker();
    const all = () => Array.from({length: 50}, (_, id) => tree.find_attached_events(
      {id, props: {shared_props: {}}}, list).props.shared_props.attached_events);
    const before = all();
    list.push({targets: [[3, 'added']]});
    return JSON.stringify([before, all()]);
  };
  return [make(slow), make(quick)].map(maker => attach(maker, [...events]));
}"""


PICKER = ".model-picker input:visible"

# In the first frame that shows the field, which is when it can be typed in.
TYPE_AT_ONCE = """() => new MutationObserver((_, observer) => {
  const field = document.querySelector('#neighbours-own textarea');
  if (!field) return;
  observer.disconnect();
  requestAnimationFrame(() => {
    field.value = 'A {play}.\\nMore {play}.';
    field.dispatchEvent(new Event('input', {bubbles: true}));
  });
}).observe(document.body, {childList: true, subtree: true})"""

KEEP_BEACONS = """() => {
  const send = navigator.sendBeacon.bind(navigator);
  navigator.sendBeacon = (...said) => localStorage.setItem('beacons', JSON.stringify([...said, send(...said)]));
}"""  # Playwright tells nothing of what a page says as it goes


def test_mended_scripts_find_the_same_events(browser):
    page = browser.new_page()
    slow, quick = page.evaluate(COMPARE, MENDED["core-"][0])
    page.close()
    assert slow == quick
    assert slow.count("added") == 1
    assert slow.count("change") > 50


def test_the_first_page(open_page):
    """One page, step by step."""
    page = it_comes_packed_with_scripts_that_are_kept_and_says_when_it_is_drawn(open_page)
    charts_of_other_kinds_are_set_up_when_asked_for(page)
    a_list_closes_behind_the_focus(page)
    a_model_goes_along_from_tab_to_tab_and_arrow_keys_walk_them(page)
    a_page_that_is_left_says_so(page)


def it_comes_packed_with_scripts_that_are_kept_and_says_when_it_is_drawn(open_page):
    told = []
    page = open_page(prepare=lambda page: page.on("request", lambda sent: told.append(sent)))
    (sent,) = (sent for sent in told if sent.url.endswith("/drawn"))
    assert sent.response().status == 204
    assert not [sent.url for sent in told if "/heartbeat/" in sent.url]
    files = page.evaluate("performance.getEntriesByType('resource').map(file => file.name)")
    scripts = [file for file in files if "/assets/" in file]
    assert any(Path(script).name.startswith("core-") for script in scripts)
    assert "immutable" in httpx.get(scripts[0], timeout=60).headers["cache-control"]
    whole = page.evaluate("performance.getEntriesByType('navigation')[0]")
    assert whole["encodedBodySize"] < whole["decodedBodySize"] / 3
    return page


def charts_of_other_kinds_are_set_up_when_asked_for(page):
    assert page.evaluate("Object.keys(Plotly.PlotSchema.get().traces).sort()") == ["bar", "heatmap", "scatter"]
    drawn = page.evaluate("""async () => {
        Plotly.others();
        const figure = await Plotly.newPlot(document.createElement('div'), [{type: 'pie', values: [1, 2]}]);
        return [Plotly.others === undefined, figure._fullData[0].type, figure.querySelectorAll('.slice').length];
    }""")
    assert drawn == [True, "pie", 2]
    assert len(page.evaluate("Object.keys(Plotly.PlotSchema.get().traces)")) == 49


def a_list_closes_behind_the_focus(page):
    page.locator(PICKER).focus()
    expect(page.locator("ul[role=listbox]")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator(".model-picker:visible ~ * a:focus, .note a:focus")).to_have_count(1)
    expect(page.locator("ul[role=listbox]")).to_have_count(0)


def a_model_goes_along_from_tab_to_tab_and_arrow_keys_walk_them(page):
    page.locator(PICKER).fill("bert mini")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Fill in the blank").focus()
    for key, tab, model in (
        ("ArrowRight", "Generate", "MiniLM (causal)"),  # which has no BERT mini
        ("ArrowRight", "Attention", "BERT mini"),
        ("End", "Models", None),
        ("ArrowRight", "Fill in the blank", "BERT mini"),
    ):
        page.keyboard.press(key)
        expect(page.get_by_role("tab", name=tab, exact=True)).to_be_focused()
        expect(page.get_by_role("tab", name=tab, exact=True)).to_have_attribute("aria-selected", "true")
        if model:
            expect(page.locator(PICKER)).to_have_value(re.compile(f"^{re.escape(model)} "))


def a_page_that_is_left_says_so(page):
    with page.expect_request(lambda sent: "/queue/join" in sent.url) as asked:
        page.locator("#fill-text textarea").fill("The sun is ___.")
    come_to_rest(page)
    page.evaluate(KEEP_BEACONS)
    page.goto(page.evaluate("new URL('robots.txt', document.baseURI).href"))
    session = asked.value.post_data_json["session_hash"]
    assert page.evaluate("JSON.parse(localStorage.beacons)") == ["left", session, True]


def test_what_is_typed_as_soon_as_a_field_is_there_stays(open_page):
    page = open_page("?tab=neighbours")
    page.evaluate(TYPE_AT_ONCE)
    page.get_by_text("Sentences and word vectors of your own").click()
    expect(page.locator(".near-query .use-sentence")).to_have_text("A play.")
    come_to_rest(page)
    expect(page.locator("#neighbours-own textarea")).to_have_value("A {play}.\nMore {play}.")


@pytest.mark.slow
def test_a_page_that_lost_its_server_opens_anew_when_it_is_back(browser, address):
    context = browser.new_context()  # not open_page: what cannot be reached is an error in the console
    page = context.new_page()
    page.goto(f"{address}?{urlencode({'text': 'The farmer opened the ___.'})}")
    page.wait_for_selector("body[data-ready]", state="attached")
    context.set_offline(True)
    page.get_by_role("tab", name="Watch it", exact=True).click()
    expect(page.get_by_text("Connection to the server was lost").first).to_be_visible()
    with page.expect_navigation():
        context.set_offline(False)
    page.wait_for_selector("body[data-ready]", state="attached")
    expect(page.get_by_role("tab", name="Watch it", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".completions:visible .sentence")).to_have_text("The farmer opened the ___.")
    context.close()
