"""What the fill-in-the-blank tab says to what it cannot answer, and that any text is text, in a real browser."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.test_fill_blanks import BEST, message, name_candidates, show, write


@pytest.mark.slow
def test_a_model_that_needs_internet_names_those_that_do_not(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "BERT base"}))
    expect(message(page)).to_contain_text("BERT base needs internet, which is off here. Choose MiniLM (masked)")
    it_takes(page, 2)
    expect(page.locator(".model-picker")).not_to_contain_text("Hugging Face Hub")


@pytest.mark.slow
def test_a_misspelt_model_is_answered_by_the_nearest(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "BERT bass"}))
    expect(message(page)).to_contain_text("Did you mean BERT base")
    it_takes(page, 3)
    box = page.locator(".model-picker:visible").bounding_box()
    below = message(page).bounding_box()["y"] - box["y"] - box["height"]
    assert 0 < below < 40, "what is wrong with the model stands below its box"


def it_takes(page, lines):
    assert message(page).bounding_box()["height"] < 26 + 22 * lines


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
    it_is_in_sight_wherever_the_visitor_looks(page)


def it_is_in_sight_wherever_the_visitor_looks(page):
    page.set_viewport_size({"width": 390, "height": 500})
    page.evaluate("""() => {
        scrollTo(0, document.body.scrollHeight);
        const box = document.querySelector('#fill-text textarea');
        box.value = 'No blank.';
        box.dispatchEvent(new Event('input', {bubbles: true}));
    }""")
    expect(message(page)).to_contain_text("no blank")
    expect(message(page)).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(message(page)).not_to_be_in_viewport()


@pytest.mark.slow
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
    write(page, "word " * 3900 + "___")
    expect(message(page)).to_contain_text("tokens")
    expect(message(page)).to_be_in_viewport(ratio=1)
    expect(page.locator(".words")).to_contain_text("… and 3,841 more")
    write(page, "word " * 5000 + "___")
    expect(message(page)).to_contain_text("characters")
    expect(page.locator(".words button")).to_have_count(0)  # what is too long to be read is not split into words


@pytest.mark.slow
def test_an_old_short_id_of_the_hub_is_understood(open_page):
    page = open_page("?" + urlencode({"tab": "fill", "model": "bert-base-uncased"}))
    expect(message(page)).to_contain_text("BERT base needs internet")


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
