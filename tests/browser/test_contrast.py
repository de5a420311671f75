"""Two sentences beside each other, in a real browser: the chart that is drawn, and what stands there without one."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_fill_blanks import show, write


def test_two_sentences_are_contrasted(page):
    write(page, "The king took off ___ hat.")
    show(page, "Two sentences")
    expect(page.get_by_label("Second sentence")).to_have_value("")  # the example's has left
    page.get_by_label("Second sentence").fill("The queen took off ___ hat.")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^his$"))).to_have_count(1)
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^her$"))).to_have_count(1)
    expect(page.locator(".caption:visible")).to_contain_text("Jensen-Shannon divergence")


@pytest.mark.slow
def test_an_example_brings_its_own_blank(open_page):
    page = open_page("?tab=fill&show=contrast&blank=2")
    blank = page.locator("input[aria-label='Blank']:visible")
    expect(blank).to_have_value("2")
    page.get_by_role("button", name="Bank").click()
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^river$"))).to_have_count(1)
    expect(blank).to_have_value("1")
    expect(page.locator(".result-side .error:visible")).to_have_count(0)


@pytest.mark.slow
def test_labels_of_a_contrast_stay_on_their_own_side(open_page):
    for width in (1280, 390):
        page = open_page(width=width)
        page.get_by_role("button", name="Bank").click()
        expect(page.get_by_role("tab", name="Two sentences", exact=True)).to_have_attribute("aria-selected", "true")
        expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^river$"))).to_have_count(1)
        labels = page.locator(".js-plotly-plot:visible .scatterlayer .trace")
        expect(labels).to_have_count(2)
        edges = labels.evaluate_all(
            "sides => sides.map(side => [...side.querySelectorAll('text')].map(t => t.getBoundingClientRect()))"
        )
        assert len(edges[0]) == len(edges[1]) == 16
        for left, right in zip(*edges, strict=True):
            assert left["right"] <= right["left"]
        assert page.locator(".js-plotly-plot:visible .ytick").first.bounding_box()["x"] >= 0
        assert max(edge["right"] for edge in edges[1]) <= width


@pytest.mark.slow
def test_two_sentences_that_are_the_same_have_no_chart(page):
    write(page, "The king took off ___ hat.")
    show(page, "Two sentences")
    expect(page.get_by_label("Second sentence")).to_have_value("")  # the example's has left
    page.get_by_label("Second sentence").fill("The king took off ___ hat.")
    expect(page.locator(".note:visible", has_text="make no difference")).to_be_visible()
    expect(page.locator(".figure:visible, .caption:visible")).to_have_count(0)
    page.get_by_label("Second sentence").fill("No gap here.")
    expect(page.locator(".result-side .error:visible")).to_contain_text("Second sentence: The text has no blank")
    page.get_by_label("Second sentence").fill("The queen took off ___ hat.")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^her$"))).to_have_count(1)
