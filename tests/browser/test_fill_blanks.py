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
    last = page.locator(".steps li:visible").last
    assert "___" not in last.locator(".sentence").inner_text()
    expect(last.locator(".sentence mark")).to_have_count(2)
    expect(page.locator(".total:visible")).to_contain_text("nats")
    expect(bars(page)).to_have_count(0)
    png = page.locator(".take-away button:visible", has_text="PNG")
    expect(png).to_have_count(0)
    slider.focus()
    page.keyboard.press("Home")
    expect(png).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".steps li:visible")).to_have_count(2)


def test_own_candidates_are_ranked_beside_the_models(page):
    write(page, "Paris is the capital of ___.")
    show(page, "My candidates")
    name_candidates(page, "France, the United States")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ the United States")).to_have_count(1)
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ France")).to_have_count(1)


@pytest.mark.slow
def test_a_mask_of_the_model_is_a_blank_like_any_other(page):
    write(page, "The [MASK] sat on the mat.")
    expect(page.locator(".word.blank")).to_have_count(1)
    expect(page.locator(".word.blank")).to_have_text("___")
    expect(page.locator(f"{BEST} mark")).to_have_count(1)


def test_several_models_stand_side_by_side(page):
    show(page, "Several models")
    expect(page.locator(".js-plotly-plot:visible .infolayer")).to_contain_text("(masked, early)")
    expect(bars(page)).to_have_count(10)


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
    write(page, "Kyoto is the capital city of ___.")
    expect(page.locator(".take-away:visible a", has_text="JSON")).to_be_visible()
    expect(candidates).to_have_value("Japan, China, the United States")
    write(page, "A dog is the best friend of ___.")
    expect(candidates).to_have_value("")
    expect(page.locator(".note:visible", has_text="at least one candidate")).to_be_visible()
    expect(message(page)).to_have_count(0)
    expect(page.locator(".figure:visible")).to_have_count(0)
    candidates.fill("France, Spain")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ France")).to_have_count(1)
    write(page, "Madrid is the capital city of ___.")
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ Spain")).to_have_count(1)
    expect(candidates).to_have_value("France, Spain")
    show(page, "Two sentences")
    expect(page.get_by_label("Second sentence")).to_have_value("My own ___.")


@pytest.mark.slow
def test_a_chart_explains_what_a_reader_would_stumble_on(page):
    note = page.locator(".result-side .note:visible", has_text="need not be the top bars")
    expect(note).to_have_count(1)
    write(page, "She drank a cup of ___.")
    expect(page.locator(BEST)).to_contain_text("She drank")
    expect(note).to_have_count(0)
    show(page, "Watch it")
    expect(page.locator(".note:visible", has_text="shows most with several")).to_have_count(1)


@pytest.mark.slow
def test_a_model_that_needs_internet_names_those_that_do_not(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "BERT base"}))
    expect(message(page)).to_contain_text("BERT base needs internet the first time")
    expect(message(page)).to_contain_text("Choose one of: MiniLM (masked)")
    assert len(message(page).inner_text()) < 250
    expect(page.locator(".model-picker")).not_to_contain_text("Hugging Face Hub")


@pytest.mark.slow
def test_a_misspelt_model_is_answered_by_the_nearest(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "BERT bass"}))
    expect(message(page)).to_contain_text("did you mean BERT base")
    assert len(message(page).inner_text()) < 250


def test_bad_input_is_explained_and_loses_nothing(page):
    for text, says in (
        ("The cat sat on the mat.", "no blank"),
        ("___ ___", "only blanks"),
        ("", "no text"),
        ("word " * 3000 + "___", "tokens"),
        ("word " * 5000 + "___", "characters"),
        ("The cat sat on the <mask>.", "Write ___"),
    ):
        before = page.locator(BEST).inner_text()
        write(page, text)
        expect(message(page)).to_contain_text(says)
        assert page.locator("#fill-text textarea").input_value() == text
        assert page.locator(BEST).inner_text() == before
        write(page, "The cat sat on the ___.")
        expect(message(page)).to_have_count(0)
        expect(page.locator(BEST)).to_contain_text("The cat sat on the")


def test_any_text_is_shown_as_text(page):
    for text in (
        "<img src=x onerror=window.broken=1> ___ <script>window.broken=1</script>",
        "😀 I ___ you 😀",
        "${window.broken=1} ___ \\",
        "הכלב ___ בבית",
        "كلب ___",
    ):
        write(page, text)
        best = page.locator(BEST).locator("visible=true")  # the view "Several models" has one, too
        expect(best).to_contain_text(text.split()[0])
        expect(best.locator("mark")).to_have_count(1)
        for view in ("Watch it", "Several models", "Tokens", "Answer"):
            show(page, view)
            expect(page.locator(".take-away:visible")).to_be_visible()
        assert page.evaluate("window.broken") is None


@pytest.mark.slow
def test_what_is_wrong_with_a_long_text_is_said_in_view(page):
    write(page, "word " * 5000 + "___")
    expect(message(page)).to_contain_text("characters")
    expect(message(page)).to_be_in_viewport(ratio=1)
    expect(page.locator(".words")).to_contain_text("… and 4,941 more")


@pytest.mark.slow
def test_an_old_short_id_of_the_hub_is_understood(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "bert-base-uncased"}))
    expect(message(page)).to_contain_text("BERT base needs internet the first time")


@pytest.mark.slow
def test_a_long_candidate_is_quoted_in_short(page):
    write(page, "The cat sat on the ___.")
    show(page, "My candidates")
    name_candidates(page, "word" * 200 + " ___")
    expect(message(page)).to_contain_text("…'")
    assert len(message(page).inner_text()) < 300


@pytest.mark.slow
def test_a_candidate_without_tokens_is_explained(page):
    show(page, "My candidates")
    page.get_by_label("Candidates: one line per blank").fill("​")
    expect(message(page)).to_be_visible()


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
    drawn = page.locator(".js-plotly-plot:visible")
    read = "plot => JSON.stringify({...plot.layout, height: undefined})"  # plotly drops it 100 ms after it has drawn
    before = drawn.evaluate(read)
    with page.expect_download() as download:
        page.locator(".take-away:visible button", has_text="PNG").click()
    assert download.value.suggested_filename == "blanks.png"
    download.value.save_as(tmp_path / "figure.png")
    picture = Image.open(tmp_path / "figure.png").convert("RGB")
    assert picture.width >= 2 * 760 and picture.getpixel((2, 2)) == (255, 255, 255)
    title = picture.crop((0, 0, picture.width, 80))
    assert min(title.convert("L").tobytes()) < 60  # dark words
    assert drawn.evaluate(read) == before


@pytest.mark.slow
def test_an_objective_that_no_model_here_was_trained_on_says_so_and_shows_no_other_example(open_page):
    page = open_page("?" + urlencode({"show": "training", "objective": "span"}))
    expect(page.locator(".strings:visible")).to_contain_text("<extra_id_0>")
    page.get_by_label("Objective", exact=True).click()
    page.get_by_role("option", name=re.compile("BART")).click()
    expect(
        page.locator(".note:visible", has_text="No model that was trained like this is on this machine")
    ).to_be_visible()
    expect(page.locator(".strings:visible")).to_have_count(0)
    expect(page.locator(".block.formula:visible")).to_contain_text("Lewis et al. 2020")
