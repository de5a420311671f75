"""Lists of choices that are entered and left again: Gradio says then, too, that they were used."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest


def pass_list(page, label, key):
    page.get_by_label(label, exact=True).click()
    come_to_rest(page)
    page.keyboard.press(key)
    page.locator("body").click(position={"x": 2, "y": 2})
    come_to_rest(page)


def test_the_sentence_stays_where_the_word_is_only_passed(open_page):
    page = open_page("?tab=neighbours&word=bank&use=50")
    query = page.locator(".near-query .use-sentence")
    expect(page).to_have_url(re.compile("use=50"))
    sentence = query.inner_text()
    for key in ("Tab", "Escape"):
        pass_list(page, "Word", key)
        expect(query).to_have_text(sentence)
        expect(page).to_have_url(re.compile("use=50"))
    for word in ("play", "bank"):  # another is asked for
        page.get_by_label("Word", exact=True).fill(word)
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"word={word}&use=0"))
    expect(query).not_to_have_text(sentence)


def test_epochs_and_name_stay_where_the_task_is_only_passed(open_page):
    page = open_page("?tab=fine-tune&epochs=2")
    expect(page.locator("#tune-otherwise")).to_contain_text("epochs: 2")
    for key in ("Tab", "Escape"):
        pass_list(page, "Task", key)
        expect(page.locator("#tune-otherwise")).to_contain_text("epochs: 2")
    page.get_by_label("Task", exact=True).click()
    page.get_by_role("option", name="Tag words").click()
    expect(page.locator("#tune-otherwise")).to_contain_text("Tag words")
