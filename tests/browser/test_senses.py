"""The views "Senses in numbers" and "Quiz", and the control "Which vector", driven as a visitor drives them."""

import re

import pytest
from playwright.sync_api import expect

NUMBERS = "?tab=neighbours&show=numbers&word=mouse"
QUIZ = "?tab=neighbours&show=quiz&word=mouse&model=MiniLM+(masked)"
OWN = "&word=play&own=" + "%0A".join(
    ["stage%09A+{play}+in+three+acts.", "stage%09She+wrote+a+{play}.", "game%09We+{play}+chess.", "game%09They+{play}."]
)
UNLABELLED = "&word=play&own=A+play.%0AThe+play+was+<b>long</b>.%0AWe+play."
SLOW = 120_000  # the first embedding on a busy machine


@pytest.mark.slow
def test_senses_stand_in_numbers_beside_what_is_had_without_a_model(open_page):
    page = open_page(NUMBERS + "&model=MiniLM+(masked)&layer=4")
    rows = page.locator("#numbers-table tbody tr")
    expect(rows).to_have_count(7, timeout=SLOW)
    expect(page.locator("#numbers-table tr.at th")).to_have_text("4")
    expect(page.locator("#numbers-said")).to_contain_text("MiniLM (masked), layer 4:")
    expect(page.locator("#numbers-said")).to_contain_text(re.compile("Without a model: .*bag of words [0-9]+ %"))
    for chart in ("nearest", "centroid", "silhouette", "self-similarity"):
        expect(page.locator(f"#numbers-{chart} .js-plotly-plot")).to_be_visible()
    expect(page.locator("#numbers-confused tbody tr")).to_have_count(3)
    counts = page.locator("#numbers-confused tbody td.number").all_inner_texts()
    assert sum(int(one) for one in counts if one.isdigit()) == 84, "every use is taken for something"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    with page.expect_download() as taken:
        page.locator(".with-figure [data-file^=centroid]").click()
    assert taken.value.suggested_filename.startswith("centroid-MiniLM-masked")
    page.get_by_label("the sense of the nearest use").check()
    expect(page).to_have_url(re.compile("taken_for=nearest"))


@pytest.mark.slow
def test_a_sum_of_layers_has_a_row_of_its_own_and_bad_weights_a_message(open_page):
    page = open_page(NUMBERS + OWN)
    expect(page.locator("#numbers-table tbody tr")).to_have_count(7, timeout=SLOW)
    page.get_by_role("button", name="Which vector").click()
    page.get_by_label("sum of the last four").check()
    expect(page.locator("#numbers-table tr.at th")).to_have_text("sum of layers 3 to 6")
    page.get_by_label("weighted sum of all").check()
    expect(page.locator("#numbers-table tr.at th")).to_contain_text("all weights alike")
    page.locator("#vector-weights textarea, #vector-weights input").first.fill("0.2, 0.5, 0.3")
    expect(page.locator(".message.error:visible")).to_contain_text("There are 3 weights")
    page.locator("#vector-weights textarea, #vector-weights input").first.fill("0 0 0 0 0 0 1")
    expect(page.locator(".message.error:visible")).to_have_count(0)
    expect(page.locator("#numbers-table tr.at th")).to_contain_text("(0, 0, 0, 0, 0, 0, 1)")
    chosen, last = (page.locator("#numbers-table tbody tr").nth(place).locator("td").first for place in (7, 6))
    assert chosen.inner_text() == last.inner_text(), "all weight on the last layer is the last layer"
    expect(page).to_have_url(re.compile("join=weighted&weights=0\\+0"))
    page.get_by_label("weighted sum of normalised layers").check()
    expect(page.locator("#numbers-table tr.at th")).to_have_text(re.compile("of normalised layers \\(0, 0, 0"))
    expect(page).to_have_url(re.compile("join=normalised&weights=0\\+0"))


@pytest.mark.slow
def test_sentences_without_labels_say_what_is_missing(open_page):
    page = open_page(NUMBERS + UNLABELLED)
    expect(page.locator("#numbers-said .missing")).to_contain_text("have no labels", timeout=SLOW)
    expect(page.locator("#numbers-self-similarity .js-plotly-plot")).to_be_visible()
    expect(page.locator("#numbers-nearest")).to_be_hidden()
    expect(page.locator("#numbers-table thead")).to_contain_text("random words")


@pytest.mark.slow
def test_two_models_stand_on_one_axis_and_a_shallow_model_shortens_the_slider(open_page):
    page = open_page(NUMBERS + OWN + "&model=GPT+mini&against=ELMo+mini")
    expect(page.locator("#numbers-table tbody tr")).to_have_count(7 + 3 + 2, timeout=SLOW)
    expect(page.locator("#numbers-nearest")).to_contain_text("ELMo mini")
    page = open_page(NUMBERS + OWN + "&model=ELMo+mini")
    expect(page.locator("#vector-layer input[type=range]")).to_have_attribute("max", "2", timeout=SLOW)
    expect(page.locator("#vector-layer input[type=range]")).to_have_value("2")
    expect(page.locator("#numbers-table tbody tr")).to_have_count(3)


@pytest.mark.parametrize("by_keyboard", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_visitor_guesses_first_and_then_the_model(open_page, by_keyboard):
    page = open_page(QUIZ + "&question=7")
    choices = page.locator("#quiz-sheet button[data-guess]")
    expect(choices).to_have_count(4, timeout=SLOW)
    expect(page.locator("#quiz-sheet .cosine")).to_have_count(0)
    first = page.locator("#quiz-sheet .near-query").inner_text()
    if by_keyboard:
        choices.nth(1).focus()
        page.keyboard.press("Enter")
    else:
        choices.nth(1).click()
    expect(page.locator(".quiz-verdict")).to_be_visible(timeout=SLOW)
    expect(page.locator("li.quiz-choice")).to_have_count(4)
    expect(page.locator("li.quiz-choice.right")).to_contain_text("means the same")
    expect(page.locator("li.quiz-choice").nth(1)).to_contain_text("your guess")
    expect(page.locator(".quiz-verdict")).to_contain_text("A bag of words")
    expect(page.locator(".quiz-verdict")).to_be_focused()  # what was pressed is gone
    expect(page.locator("#quiz-score")).to_contain_text("1 question")
    expect(page.locator("#quiz-score")).to_contain_text("chance 0.25")
    page.locator("#quiz-another").click()
    expect(page.locator("#quiz-sheet button[data-guess]")).to_have_count(4)
    expect(page).to_have_url(re.compile("question=8"))
    assert page.locator("#quiz-sheet .near-query").inner_text() != first
    page.locator("#quiz-sheet button[data-guess]").first.click()
    expect(page.locator("#quiz-score")).to_contain_text("2 questions")
    page.go_back()
    expect(page.locator(".quiz-verdict")).to_have_count(0)


@pytest.mark.slow
def test_a_quiz_of_own_sentences_needs_labels(open_page):
    page = open_page(QUIZ.replace("&word=mouse", "") + UNLABELLED)
    expect(page.locator(".message.error:visible")).to_contain_text("A quiz needs sentences labelled", timeout=SLOW)
    page = open_page(QUIZ.replace("&word=mouse", "") + OWN)
    expect(page.locator("#quiz-sheet button[data-guess]")).to_have_count(3, timeout=SLOW)


@pytest.mark.slow
def test_who_stands_on_the_last_layer_stands_on_the_last_of_the_next_model(open_page):
    page = open_page(NUMBERS + OWN)
    layer = page.locator("#vector-layer input[type=range]")
    expect(page.locator("#numbers-table tbody tr")).to_have_count(7, timeout=SLOW)
    for model, last in (("ELMo mini", "2"), ("MiniLM (span)", "6")):
        page.locator(".model-picker:visible input").click()
        page.get_by_role("option", name=model).click()
        expect(layer).to_have_attribute("max", last, timeout=SLOW)
        expect(layer).to_have_value(last)
        expect(page.locator("#numbers-table tbody tr")).to_have_count(int(last) + 1, timeout=SLOW)


@pytest.mark.slow
def test_any_number_asks_a_question_that_its_link_names(open_page):
    page = open_page(QUIZ)
    number = page.locator("#quiz-number input")
    for typed, read, key in (("-3", "3", "Enter"), ("99999999999999999999", "0", "Tab"), ("", "0", "Enter")):
        number.fill("7")
        number.fill(typed)
        number.press(key)
        expect(number).to_have_value(read)
        expect(page).to_have_url(re.compile(f"question={read}$"))
        expect(page.locator("#quiz-sheet button[data-guess]")).to_have_count(4, timeout=SLOW)
        expect(page.get_by_text(f"question {read} ·")).to_be_visible()
    expect(page.locator(".toast-body")).to_have_count(0)
