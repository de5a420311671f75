"""The view "Map": points move with the layer, a click on one makes it the query, PCA is shown until UMAP is ready."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

MAP = "?tab=neighbours&show=map&word=mouse&method=pca"
READY = "#sense-map-around [data-key]"
POINTS = """() => {
  const plot = document.querySelector('#sense-map .js-plotly-plot'), found = {};
  plot.data.filter(trace => trace.customdata).forEach(trace => Array.from(trace.customdata).forEach(
    (use, index) => (found[use] = [trace.x[index], trace.y[index]])));
  return found;
}"""


# In the page, as the map may be there before anybody outside sees that it is on its way.
ESCAPE_AT_WORK = """() => new Promise(done => {
  const escape = () => {
    if (!document.querySelector('.message.meanwhile [data-action=stop]')) return false;
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}));
    return true;
  };
  const watch = new MutationObserver(() => escape() && (watch.disconnect(), done()));
  setTimeout(done, 60_000);
  escape() ? done() : watch.observe(document.body, {childList: true, subtree: true});
})"""


RING = """() => document.querySelector('#sense-map .js-plotly-plot')
  .data.find(({name}) => name === 'query').marker.color"""


def in_layer(page, layer):
    expect(page.locator(f'#sense-map-around [data-key][data-layer="{layer}"]')).to_be_attached()
    return page.evaluate(POINTS)


@pytest.fixture
def drawn(open_page):
    page = open_page(MAP)
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    return page


def test_a_visitor_moves_takes_away_and_clicks(drawn):
    """One page, step by step: to open it takes longer than to try it."""
    the_layer_moves_the_points_without_the_server(drawn)
    numbers_and_picture_are_taken_away(drawn)
    a_click_on_a_point_makes_it_the_query(drawn)


def the_layer_moves_the_points_without_the_server(drawn):
    asked = []
    drawn.on("request", lambda request: asked.append(request.url))
    last = in_layer(drawn, 6)
    assert len(last) == 84
    asked.clear()
    drawn.locator("#sense-map-around").get_by_role("button", name="3", exact=True).click()
    third = in_layer(drawn, 3)
    assert sum(third[use] != last[use] for use in last) > 80
    expect(drawn.locator("#vector-layer input[type=number]")).to_have_value("3")  # the other views follow
    expect(drawn.locator("#sense-map-around [data-layer='3'][aria-pressed='true']")).to_be_visible()
    drawn.locator("#vector-layer input[type=number]").fill("0")
    first = in_layer(drawn, 0)
    assert first != third
    drawn.locator("#sense-map-around").get_by_role("button", name="6", exact=True).click()
    assert in_layer(drawn, 6) == last
    come_to_rest(drawn)
    assert drawn.evaluate(POINTS) == last  # nor does the server draw it anew
    expect(drawn.locator("#sense-map-says")).to_contain_text("of the variance")


@pytest.mark.slow
def test_play_goes_through_all_layers(drawn):
    drawn.emulate_media(reduced_motion="reduce")
    drawn.locator("#sense-map-around").get_by_role("button", name="Run through layers").click()
    in_layer(drawn, 0)
    expect(drawn.get_by_role("button", name="Pause")).to_be_visible()
    expect(drawn.locator(".figure:visible").first).to_have_css("opacity", "1")  # it is of the layer already
    in_layer(drawn, 6)
    expect(drawn.locator("#sense-map-around").get_by_role("button", name="Run through layers")).to_be_visible()


def a_click_on_a_point_makes_it_the_query(drawn):
    in_layer(drawn, 6)
    before = drawn.locator("#neighbours-use input").input_value()
    point = drawn.locator("#sense-map .points path.point").nth(40)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    drawn.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hover = drawn.locator("#sense-map .hovertext")
    expect(hover).to_contain_text("mouse")
    drawn.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(drawn.locator("#neighbours-use input")).not_to_have_value(before)
    use = int(drawn.locator("#neighbours-use input").input_value())
    ring = "() => document.querySelector('#sense-map .js-plotly-plot').data.find(trace => trace.name === 'query').x[0]"
    assert drawn.evaluate(ring) == drawn.evaluate(POINTS)[str(use)][0]
    pressed = drawn.locator("#sense-map-says .map-pressed bdi").inner_text()
    assert drawn.locator(f"#use-list [data-use='{use}']").inner_text()[2:].strip()[:60] in pressed
    expect(drawn).to_have_url(re.compile(f"use={use}"))
    drawn.get_by_role("tab", name="Neighbours").last.click()
    sentence = drawn.locator(f"#use-list [data-use='{use}']").inner_text()
    expect(drawn.locator("#near-columns .near-query")).to_contain_text(sentence[2:].strip())


@pytest.mark.slow
def test_labels_cover_no_other_label(open_page):
    page = open_page(MAP.replace("mouse", "play"))
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    for layer in (6, 0, 3):
        page.locator("#sense-map-around").get_by_role("button", name=str(layer), exact=True).click()
        in_layer(page, layer)
        boxes = [text.bounding_box() for text in page.locator("#sense-map .textpoint").all()]
        assert 2 < len(boxes) <= 10
        for number, one in enumerate(boxes):
            for other in boxes[number + 1 :]:
                is_beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
                is_above = one["y"] + one["height"] <= other["y"] + 2 or other["y"] + other["height"] <= one["y"] + 2
                assert is_beside or is_above, (layer, one, other)


@pytest.mark.slow
def test_a_link_restores_three_dimensions(open_page):
    page = open_page(MAP + "&dimensions=3")
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    expect(page.locator("#sense-map .gl-container canvas").first).to_be_attached()
    assert page.evaluate("document.querySelector('#sense-map .js-plotly-plot')._fullData[0].type") == "scatter3d"
    expect(page.locator(".map-pressed")).to_contain_text("Where the arrow points:")
    pointed = page.evaluate("document.querySelector('#sense-map .js-plotly-plot').layout.scene.annotations")
    assert len(pointed) == 1 and pointed[0]["showarrow"]


@pytest.mark.slow
def test_marks_of_the_legend_hide_and_show(drawn):
    in_layer(drawn, 6)
    mark = drawn.locator("#sense-map-says .map-mark").first
    before = drawn.locator("#sense-map .points path.point").count()
    mark.click()
    expect(mark).to_have_attribute("aria-pressed", "false")
    expect(drawn.locator("#sense-map .points path.point")).not_to_have_count(before)
    mark.click()
    expect(drawn.locator("#sense-map .points path.point")).to_have_count(before)


def numbers_and_picture_are_taken_away(drawn):
    in_layer(drawn, 6)
    panel = drawn.get_by_role("tabpanel").filter(has=drawn.locator("#sense-map")).last
    with drawn.expect_download() as download:
        panel.get_by_role("link", name="JSON").click()
    result = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    assert len(result["maps"]["coordinates"]) == 7 and result["maps"]["method"] == "pca"
    with drawn.expect_download() as download:
        panel.get_by_role("button", name="PNG", exact=True).click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    assert download.value.suggested_filename == "map-mouse-MiniLM-masked.png"
    title = panel.get_by_role("button", name="PNG", exact=True).get_attribute("data-title")
    assert title.startswith("“mouse”, MiniLM (masked), layer 6, ")


@pytest.mark.slow
def test_umap_follows_pca_and_a_link_restores_it(open_page):
    page = open_page("?tab=neighbours&show=map&word=mouse", until="restored")
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    expect(page.locator("#sense-map-says")).to_contain_text("of the variance")  # by PCA
    expect(page.locator(".message.meanwhile")).to_contain_text("PCA is shown until UMAP is drawn", timeout=60_000)
    expect(page.locator(".message.meanwhile")).to_be_hidden(timeout=200_000)  # compiled on a busy machine
    expect(page.locator(READY)).to_be_attached()
    expect(page.locator("#sense-map-says")).not_to_contain_text("of the variance")
    umap = page.evaluate(POINTS)
    page.locator("#map-method").get_by_text("PCA").click()
    expect(page.locator("#sense-map-says")).to_contain_text("of the variance")
    expect(page).to_have_url(re.compile("method=pca"))
    page.locator("#map-method").get_by_text("UMAP").click()
    expect(page.locator("#sense-map-says")).not_to_contain_text("of the variance")
    expect(page.locator(READY)).to_be_attached()
    come_to_rest(page)
    assert page.evaluate(POINTS) == umap  # kept, and the same


@pytest.mark.slow
def test_stop_keeps_the_map_by_pca(open_page):
    page = open_page("?tab=neighbours&show=map&word=play&method=tsne&pieces=first", until="restored")
    page.evaluate(ESCAPE_AT_WORK)
    expect(page.locator(".message.stopped")).to_be_visible()
    expect(page.locator("#sense-map-says")).to_contain_text("of the variance")


@pytest.mark.slow
def test_own_sentences_two_of_them_and_markup(open_page):
    page = open_page("?tab=neighbours&show=map&own=We {play} <img src=x onerror=alert(1)>.%0Ab%09A {play}.")
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    expect(page.locator("#sense-map .points path.point")).to_have_count(3)  # two uses, and the ring
    expect(page.get_by_text("UMAP needs at least 5 uses here")).to_be_visible()
    assert page.locator("#sense-map img[src='x'], #sense-map-says img").count() == 0


@pytest.mark.slow
def test_on_a_phone_nothing_is_wider_than_the_page(open_page):
    page = open_page(MAP, width=390, height=844, dark=True)
    expect(page.locator(READY)).to_be_attached(timeout=90_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#sense-map .js-plotly-plot").bounding_box()["height"] < 400
    assert page.locator("#sense-map .textpoint").count() == 0  # they would cover the points
    before = page.evaluate(RING)
    camera = "document.querySelector('#sense-map .modebar-btn')"
    page.evaluate(f"{camera}.addEventListener('click', () => {{ window.taken = ({RING})(); }}, true)")
    with page.expect_download():
        page.get_by_role("button", name="PNG", exact=True).locator("visible=true").click()
    assert page.evaluate("window.taken") == "#1b1f24", "white on white"
    assert page.evaluate(RING) == before != "#1b1f24"


@pytest.mark.slow
def test_a_sentence_that_was_typed_is_said_to_be_no_point_of_the_map(open_page):
    page = open_page("?tab=neighbours&show=map&method=pca&query=Children play in the park.")
    said = page.locator(".map-pressed")
    expect(said).to_contain_text("is no point of this map")
    page.locator("#use-list [data-use]").nth(3).click()  # which takes its place
    expect(said).to_contain_text("lists what is nearest to it")
