"""What a student does in the fill-in-the-blank tab, in a real browser."""

import csv
import json
import re
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

BEST = ".completions li:first-child .sentence"


def write(page: Page, text: str) -> None:
    page.locator("#fill-text textarea").fill(text)


def show(page: Page, view: str) -> None:
    page.get_by_role("tab", name=view, exact=True).click()


def name_candidates(page: Page, words: str) -> None:
    """Type candidates as soon as those of the example have gone with its sentence."""
    box = page.get_by_label("Candidates: one line per blank")
    expect(box).to_have_value("")
    box.fill(words)


def bars(page: Page):
    return page.locator(".js-plotly-plot:visible .barlayer .point")


def message(page: Page):
    return page.locator(".message.error:visible")


def test_the_first_answer_is_read_taken_away_and_looked_at_in_other_views(page, tmp_path):
    """One page, step by step: to open it takes longer than to try it."""
    it_opens_on_a_finished_example(page)
    the_numbers_can_be_taken_away(page, tmp_path)
    several_models_stand_side_by_side(page)
    the_blanks_are_watched_being_filled(page)


def it_opens_on_a_finished_example(page):
    expect(page.locator(BEST)).to_contain_text("The teacher picked up the")
    expect(bars(page)).to_have_count(10)
    assert page.locator("#fill-text textarea").input_value() in page.content()
    page.get_by_role("button", name="Why it matters ↓").click()
    expect(page.locator(".why:visible", has_text="Devlin et al. 2019")).to_be_in_viewport()


def the_numbers_can_be_taken_away(page, tmp_path):
    with page.expect_download() as download:
        page.locator(".take-away:visible a", has_text="JSON").click()
    download.value.save_as(tmp_path / "blanks.json")
    fills = json.loads((tmp_path / "blanks.json").read_text(encoding="utf-8"))
    assert fills["model"] == "MiniLM (masked)" and len(fills["blanks"]) == 2
    with page.expect_download() as download:
        page.locator(".take-away:visible a", has_text="CSV of choices").click()
    download.value.save_as(tmp_path / "blanks.csv")
    with (tmp_path / "blanks.csv").open(encoding="utf-8-sig", newline="") as lines:
        words = {cell for row in csv.reader(lines) for cell in row}
    assert fills["blanks"][0]["choices"][0]["text"] in words
    drawn = page.locator(".js-plotly-plot:visible")
    read = "plot => JSON.stringify(plot.layout)"
    before = drawn.evaluate(read)
    with page.expect_download() as download:
        page.locator(".take-away:visible button", has_text="PNG").click()
    assert download.value.suggested_filename == "blanks-MiniLM-masked.png"
    assert "Best: The teacher picked up the" in page.locator("[data-action=png]:visible").get_attribute("data-title")
    download.value.save_as(tmp_path / "figure.png")
    picture = Image.open(tmp_path / "figure.png").convert("RGB")
    assert picture.width >= 2 * 760 and picture.getpixel((2, 2)) == (255, 255, 255)
    title = picture.crop((0, 0, picture.width, 80))
    assert min(title.convert("L").tobytes()) < 60  # dark words
    assert drawn.evaluate(read) == before


def several_models_stand_side_by_side(page):
    show(page, "Several models")
    expect(page.locator(".js-plotly-plot:visible .infolayer")).to_contain_text("(masked, early)")
    expect(bars(page)).to_have_count(10)


def the_blanks_are_watched_being_filled(page):
    show(page, "Watch it")
    expect(page.locator(".steps li:visible")).to_have_count(2)
    expect(page.locator(".note:visible", has_text=re.compile("^Now that blank . is"))).to_be_visible()
    slider = page.get_by_role("slider", name="Blanks filled")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps li:visible")).to_have_count(3)
    last = page.locator(".steps li:visible").last
    assert "___" not in last.locator(".sentence").inner_text()
    expect(last.locator(".sentence mark")).to_have_count(2)
    expect(page.locator(".total:visible")).to_contain_text("nats")
    expect(bars(page)).to_have_count(4)  # how unsure it was of each of two, at the start and in its turn
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".steps li:visible")).to_have_count(1)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".steps li:visible")).to_have_count(2)
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".steps li:visible")).to_have_count(3)
    page.get_by_role("button", name="Start over").click()
    expect(page.locator(".steps li:visible")).to_have_count(1)
    page.get_by_role("button", name="More options").click()
    page.get_by_role("radio", name="Left to right").first.check()  # of all views: this one follows
    expect(page.locator(".caption:visible", has_text="left to right")).to_be_visible()
    page.get_by_role("radio", name="Most confident first").last.check()  # of this view alone
    expect(page.locator(".caption:visible", has_text="most confident first")).to_be_visible()
    page.get_by_role("radio", name="Independent").check()
    page.get_by_role("button", name="More options").click()


def test_own_sentences_and_examples_are_answered(page):
    """One page, step by step."""
    the_answer_follows_the_typing(page)
    a_click_blanks_a_word_and_another_puts_it_back(page)
    own_candidates_are_ranked_beside_the_models(page)
    show(page, "Answer")
    an_example_is_one_click(page)


def the_answer_follows_the_typing(page):
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank a cup of")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)
    expect(bars(page)).to_have_count(5)


def a_click_blanks_a_word_and_another_puts_it_back(page):
    write(page, "The cat sat on the ___.")
    page.locator(".word", has_text=re.compile("^cat$")).click()
    expect(page.locator("#fill-text textarea")).to_have_value("The ___ sat on the ___.")
    expect(page.locator(f"{BEST} mark")).to_have_count(2)
    page.locator(".word.blank").first.click()
    expect(page.locator("#fill-text textarea")).to_have_value("The cat sat on the ___.")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)


def own_candidates_are_ranked_beside_the_models(page):
    write(page, "Paris is the capital of ___.")
    show(page, "My candidates")
    name_candidates(page, "France, the United States")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ the United States")).to_have_count(1)
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ France")).to_have_count(1)
    page.get_by_label("Candidates: one line per blank").fill("France\nPeru")  # said below the box, not by the sentence
    expect(page.locator(".views .message.error:visible")).to_contain_text("The text has 1 blank, and there are")
    expect(page.locator(".figure.block:visible")).to_have_css("opacity", "0.4")  # of those before


def an_example_is_one_click(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page.locator(BEST)).to_contain_text("They flew to Tokyo, the capital of")
    expect(page.locator(".look p")).to_contain_text("a fact rather than grammar")
    show(page, "My candidates")
    expect(page.get_by_label("Candidates: one line per blank")).to_have_value("Japan, China, the United States")
    page.locator(".word.blank").click()
    page.keyboard.type("Peru")
    expect(page.locator("#fill-text textarea")).to_have_value("They flew to Tokyo, the capital of Peru.")
    expect(page.locator(".look p")).to_have_count(0)


@pytest.mark.slow
def test_a_mask_of_the_model_is_a_blank_like_any_other(page):
    write(page, "The [MASK] sat on the mat.")
    expect(page.locator(".word.blank")).to_have_count(1)
    expect(page.locator(".word.blank")).to_have_text("___")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)


@pytest.mark.slow
def test_what_the_tokenizer_did(page):
    show(page, "Tokens")
    write(page, "unbelievably ___")
    expect(page.locator(".piece.special:visible").first).to_contain_text("[CLS]")
    expect(page.locator(".piece:visible", has_text="##")).not_to_have_count(0)
    expect(page.locator(".note:visible", has_text="of at most 512 tokens")).to_be_visible()


@pytest.mark.slow
def test_a_word_goes_back_into_its_own_blank(page):
    write(page, "The cat sat on the mat.")
    page.locator(".word", has_text=re.compile("^cat$")).click()
    expect(page.locator(".word.blank")).to_have_count(1)
    write(page, "___ The ___ sat on the mat.")
    expect(page.locator(".word.blank")).to_have_count(2)
    page.locator(".word.blank").nth(1).click()
    expect(page.locator("#fill-text textarea")).to_have_value("___ The cat sat on the mat.")


@pytest.mark.slow
def test_an_own_sentence_leaves_the_examples_candidates_and_second_sentence_behind(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page.locator(BEST)).to_contain_text("Tokyo")
    show(page, "Two sentences")
    page.get_by_label("Second sentence").fill("My own ___.")
    show(page, "My candidates")
    candidates = page.get_by_label("Candidates: one line per blank")
    write(page, "They flew to Kyoto, the capital of ___.")
    expect(page.locator(".take-away:visible a", has_text="JSON")).to_be_visible()
    expect(candidates).to_have_value("Japan, China, the United States")
    write(page, "A dog is the best friend of ___.")
    expect(candidates).to_have_value("")
    expect(page.locator(".message.idle:visible", has_text="at least one candidate")).to_be_visible()
    expect(page.locator(".figure.block:visible")).to_have_css("opacity", "0.4")
    candidates.fill("France, Spain")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ France")).to_have_count(1)
    write(page, "They flew to Madrid, the capital of ___.")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ Spain")).to_have_count(1)
    expect(candidates).to_have_value("France, Spain")
    show(page, "Two sentences")
    expect(page.get_by_label("Second sentence")).to_have_value("My own ___.")


@pytest.mark.slow
def test_a_chart_explains_what_a_reader_would_stumble_on(page):
    note = page.locator(".result-side .note:visible", has_text="are likeliest")
    expect(note).to_have_count(1)
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank")
    expect(note).to_have_count(0)
    show(page, "Watch it")
    expect(page.locator(".note:visible", has_text="shows most with several")).to_have_count(1)


@pytest.mark.slow
def test_an_objective_that_no_model_here_was_trained_on_says_so_and_shows_none_of_another(open_page):
    page = open_page("?" + urlencode({"show": "training", "objective": "span"}))
    expect(page.locator(".strings:visible")).to_contain_text("<extra_id_0>")
    page.get_by_label("Objective", exact=True).click()
    page.get_by_role("option", name=re.compile("BART")).click()
    expect(
        page.locator(".note:visible", has_text="No model that was trained like this is on this machine")
    ).to_be_visible()
    expect(page.locator(".strings:visible")).not_to_contain_text("<extra_id_0>")
    expect(page.locator(".block.formula:visible")).to_contain_text("Lewis et al. 2020")
