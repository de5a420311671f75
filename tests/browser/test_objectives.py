"""How a model was trained, by objectives that no shipped model has, in a real browser."""

import csv
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import serving
from tests.browser.test_fill_blanks import message, write
from tests.browser.test_masking import TEXT


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving("tests/browser/objectives_page.py", tmp_path_factory.mktemp("objectives page") / "log") as url:
        yield url


@pytest.fixture
def opened(open_page):
    def open(objective="masked", text=TEXT, **more):
        page = open_page("?" + urlencode({"tab": "fill", "show": "training", "objective": objective, "text": text}),
                         **more)  # fmt: skip
        expect(page.locator(".caption:visible")).to_contain_text("paper")
        return page

    return open


def choose(page, objective: str) -> None:
    page.get_by_label("Objective", exact=True).click()
    page.get_by_role("option", name=objective).click()


@pytest.mark.slow
def test_blanks_are_filled_before_training_hides_words_itself(opened):
    page = opened(text="The cat sat on the ___.")
    expect(page.locator(".caption:visible")).to_contain_text("blanks filled by the chosen model")
    write(page, "The dog sat on the mat.")
    expect(page.locator(".caption:visible")).not_to_contain_text("blanks filled")
    expect(message(page)).to_have_count(0)


@pytest.mark.slow
def test_another_objective_brings_its_own_model_and_formula(opened):
    page = opened()
    choose(page, "Causal language model")
    expect(page.locator(".caption:visible")).to_contain_text("MiniLM (causal)")
    expect(page.get_by_label("Model of this objective")).to_be_visible()
    expect(page.get_by_label("Seed", exact=True)).to_be_hidden()  # nothing is left to chance
    expect(page.locator(".tokens:visible .loss")).to_have_count(21)
    choose(page, "Masked language model")
    expect(page.locator(".epoch:visible")).to_have_count(8)
    expect(page.get_by_label("Model of this objective")).to_be_hidden()


@pytest.mark.slow
def test_replaced_words_are_guessed_first(opened):
    page = opened("replaced")
    tokens = page.locator(".guess:visible")
    expect(tokens).to_have_count(21)
    expect(page.locator(".truth:visible")).to_have_count(0)
    for index in range(21):
        tokens.nth(index).click()
    tokens.nth(20).click()
    page.get_by_role("button", name="Show what was replaced").click()
    expect(page.locator(".score:visible")).to_have_text(re.compile(r"^You found \d of \d, and accused 1\d in vain\.$"))
    expect(page.locator(".truth.loss:visible")).to_have_count(21)
    expect(page.locator(".detecting .note:visible", has_text="drawn by MiniLM (masked)")).to_be_visible()


@pytest.mark.parametrize(
    ("objective", "model", "shows"),
    [
        ("span", "Tiny T5", "What the decoder should write"),
        ("denoising", "Tiny BART", "What the decoder should write"),
        ("bilm", "Tiny ELMo", "What the model reads"),
        ("span_masked", "MiniLM (masked)", "What the model reads"),
        ("whole_word", "MiniLM (masked)", "What the model reads"),
    ],
)
@pytest.mark.slow
def test_the_other_objectives_are_drawn(opened, objective, model, shows):
    page = opened(objective)
    expect(page.locator(".caption:visible")).to_contain_text(model)
    expect(page.locator(".step:visible", has_text=shows)).to_have_count(1)
    expect(message(page)).to_have_count(0)


@pytest.mark.slow
def test_the_next_sentence_is_asked_for(opened):
    page = opened("next_sentence")
    verdict = page.locator(".verdict:visible")
    expect(verdict).to_contain_text("The second sentence follows the first")
    expect(page.locator(".segment:visible", has_text="B")).to_have_count(5)  # nobody was there . [SEP]
    second = page.get_by_label("Second sentence").last
    second.fill("")
    expect(page.locator(".note:visible", has_text="Write a second sentence above.")).to_be_visible()
    second.fill("Nobody came back home.")
    expect(page.locator(".segment:visible", has_text="B")).to_have_count(6)
    expect(verdict).to_be_visible()


@pytest.mark.slow
def test_languages_are_lifted_by_a_small_alpha(opened):
    page = opened()
    page.get_by_role("button", name="Many languages").click()
    times = page.locator(".languages:visible tr", has_text="Swahili").locator(".number")
    before = times.inner_text()
    page.get_by_role("spinbutton", name="α").fill("1")
    page.keyboard.press("Tab")
    expect(times).to_have_text("× 1")
    assert before != "× 1"
    page.get_by_label("Languages shown").fill("Welsh")
    page.get_by_role("option", name="Welsh").click()
    expect(page.locator(".languages:visible tr", has_text="Welsh")).to_contain_text("0.8 GiB")
    with page.expect_download() as download:
        page.locator("a[download='languages.csv']:visible").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert sum(float(row["sampled"]) for row in rows) == pytest.approx(1)
    assert all(float(row["sampled"]) == pytest.approx(float(row["share"])) for row in rows)


@pytest.mark.slow
def test_the_view_fits_a_phone(opened):
    for objective in ("masked", "replaced", "denoising"):
        page = opened(objective, width=390, height=844)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
