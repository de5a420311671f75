"""Number boxes of sliders: what is no number, or beyond the ends, is put right in place, without a word of Gradio's."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest


def write(box, typed):
    box.click()
    box.press("Control+a")
    box.press("Delete")
    box.press_sequentially(typed)


TAKEN = {"1.5": "1.5", "abc": "0.7", "1000": "2", "": "0.7", "-1": "0.1", "0.01": "0.1"}  # of what is typed


@pytest.mark.slow
def test_a_slider_takes_what_it_can_of_what_is_typed_and_else_its_default(open_page):
    page = open_page("?tab=generate")  # open_page looks for Gradio's own errors
    box, slider = page.locator("#generate-temperature input[type=number]"), page.get_by_label("slider for Temperature")
    for typed, taken in TAKEN.items():
        write(box, typed)
        box.press("Tab")
        expect(box).to_have_value(taken)
        expect(slider).to_have_value(taken)
        come_to_rest(page)
        expect(box).to_have_value(taken)


def test_what_is_typed_quickly_into_an_emptied_box_is_heard(open_page):
    page = open_page("?tab=fine-tune")
    page.locator(".controls-side").get_by_role("button", name="More options").locator("visible=true").click()
    write(page.get_by_label("number input for Length in tokens"), "384")  # 3 is too few, and none at first
    expect(page.locator("#tune-otherwise")).to_contain_text("texts cut at 384 tokens")
    write(page.get_by_label("number input for Length in tokens"), "1000")
    expect(page.locator("#tune-otherwise")).to_contain_text("texts cut at 512 tokens")


@pytest.mark.slow
def test_a_number_that_was_folded_away_makes_a_text_that_of_the_settings_before(open_page):
    page = open_page("?tab=generate")
    page.get_by_role("button", name="More options").locator("visible=true").click()
    length, other = page.get_by_label("number input for Length"), page.locator(".sheet-other")
    for typed in ("12", "40"):  # that of the text in sight
        length.fill(typed)
        length.press("Tab")
        if typed == "40":
            expect(other).to_be_hidden()
        else:
            expect(other).to_contain_text("This was written with the settings before")


@pytest.mark.slow
def test_a_click_into_the_box_of_a_slider_reaches_it(open_page):
    page = open_page("?tab=generate")
    page.get_by_role("button", name="More options").locator("visible=true").click()
    for width in (1280, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for label in ("Length", "Repetition penalty", "Temperature"):
            box = page.get_by_label(f"number input for {label}")
            box.click(position={"x": 6, "y": 8})  # playwright waits until nothing else would be hit
            expect(box).to_be_focused()
