"""What a student does in the fill-in-the-blank tab, in a real browser."""

import csv
import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

BEST = ".completions li:first-child .sentence"


def write(page: Page, text: str) -> None:
    page.locator("#fill-text textarea").fill(text)


def show(page: Page, view: str) -> None:
    page.get_by_role("tab", name=view, exact=True).click()


def bars(page: Page):
    return page.locator(".js-plotly-plot:visible .barlayer .point")


def message(page: Page):
    return page.locator(".message.error:visible")


def test_the_page_opens_on_a_finished_example(page):
    expect(page.locator(BEST)).to_contain_text("The teacher opened the")
    expect(bars(page)).to_have_count(10)
    assert page.locator("#fill-text textarea").input_value() in page.content()


def test_the_answer_follows_the_typing(page):
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank a cup of")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)
    expect(bars(page)).to_have_count(5)


def test_a_click_blanks_a_word_and_another_puts_it_back(page):
    write(page, "The cat sat on the ___.")
    page.locator(".word", has_text=re.compile("^cat$")).click()
    expect(page.locator("#fill-text textarea")).to_have_value("The ___ sat on the ___.")
    expect(page.locator(f"{BEST} mark")).to_have_count(2)
    page.locator(".word.blank").first.click()
    expect(page.locator("#fill-text textarea")).to_have_value("The cat sat on the ___.")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)


def test_an_example_is_one_click(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page.locator(BEST)).to_contain_text("Tokyo is the capital city of")
    show(page, "My candidates")
    expect(page.get_by_label("Candidates: one line per blank")).to_have_value("Japan, China, the United States")


def test_watching_the_blanks_being_filled(page):
    show(page, "Watch it")
    expect(page.locator(".steps li:visible")).to_have_count(1)
    slider = page.get_by_role("slider", name="Blanks filled")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps li:visible")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps li:visible")).to_have_count(3)
    assert "___" not in page.locator(".steps li:visible").last.locator(".sentence").inner_text()


def test_own_candidates_are_ranked_beside_the_models(page):
    write(page, "Paris is the capital of ___.")
    show(page, "My candidates")
    page.get_by_label("Candidates: one line per blank").fill("France, the United States")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ the United States")).to_have_count(1)
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ France")).to_have_count(1)


def test_two_sentences_are_contrasted(page):
    write(page, "The king took off ___ hat.")
    show(page, "Two sentences")
    page.get_by_label("Second sentence").fill("The queen took off ___ hat.")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^his$"))).to_have_count(1)
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text=re.compile("^her$"))).to_have_count(1)
    expect(page.locator(".caption:visible")).to_contain_text("Jensen-Shannon divergence")


def test_several_models_stand_side_by_side(page):
    show(page, "Several models")
    expect(page.locator(".js-plotly-plot:visible .infolayer")).to_contain_text("MiniLM (masked, early)")
    expect(bars(page)).to_have_count(10)


def test_what_the_tokenizer_did(page):
    show(page, "Tokens")
    write(page, "unbelievably ___")
    expect(page.locator(".piece.special:visible").first).to_contain_text("[CLS]")
    expect(page.locator(".piece:visible", has_text="##")).not_to_have_count(0)
    expect(page.locator(".note:visible", has_text="of at most 512 tokens")).to_be_visible()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The cat sat on the mat.", "no blank"),
        ("___ ___", "only blanks"),
        ("", "no text"),
        ("word " * 3000 + "___", "tokens"),
        ("word " * 5000 + "___", "characters"),
        ("The cat sat on the <mask>.", "Write ___"),
    ],
)
def test_bad_input_is_explained_and_loses_nothing(page, text, says):
    before = page.locator(BEST).inner_text()
    write(page, text)
    expect(message(page)).to_contain_text(says)
    assert page.locator("#fill-text textarea").input_value() == text
    assert page.locator(BEST).inner_text() == before
    write(page, "The cat sat on the ___.")
    expect(message(page)).to_have_count(0)
    expect(page.locator(BEST)).to_contain_text("The cat sat on the")


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=window.broken=1> ___ <script>window.broken=1</script>",
        "😀 I ___ you 😀",
        "${window.broken=1} ___ \\",
        "הכלב ___ בבית",
        "كلب ___",
    ],
)
def test_any_text_is_shown_as_text(page, text):
    write(page, text)
    expect(page.locator(f"{BEST} mark")).to_have_count(1)
    expect(page.locator(BEST)).to_contain_text(text.split()[0])
    for view in ("Watch it", "Several models", "Tokens"):
        show(page, view)
        expect(page.locator(".take-away:visible")).to_be_visible()
    assert page.evaluate("window.broken") is None


def test_a_candidate_without_tokens_is_explained(page):
    show(page, "My candidates")
    page.get_by_label("Candidates: one line per blank").fill("​")
    expect(message(page)).to_be_visible()


def test_a_link_restores_the_view(open_page):
    query = urlencode({"tab": "fill", "text": "The dog ___ the cat.", "strategy": "left_to_right"})
    page = open_page("?" + query)
    expect(page.locator(BEST)).to_contain_text("The dog")
    expect(page.locator(".caption:visible")).to_contain_text("left to right")
    write(page, "The bird ___ away.")
    expect(page).to_have_url(re.compile("The\\+bird"))


def test_the_numbers_can_be_taken_away(page, tmp_path):
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
    with page.expect_download() as download:
        page.locator(".take-away:visible button", has_text="PNG").click()
    download.value.save_as(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_shows_the_page_without_scrolling_sideways(open_page, dark):
    page = open_page(width=390, height=844, dark=dark)
    expect(bars(page)).to_have_count(10)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
