"""Lists of choices that are entered and left again: Gradio says then, too, that they were used."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest


def pass_list(page, label, key):
    page.get_by_label(label, exact=True).click()
    come_to_rest(page)
    page.keyboard.press(key)
    page.locator("body").click(position={"x": 2, "y": 2})
    come_to_rest(page)


@pytest.mark.slow
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
    one, race = (page.locator("#tune-kind").get_by_label(label) for label in ("One run", "Race"))
    one.focus()
    for key, there in (("ArrowRight", race), ("ArrowLeft", one), ("ArrowDown", race)):
        page.keyboard.press(key)
        expect(there).to_be_checked()
        expect(there).to_be_focused()
    expect(page).to_have_url(re.compile("run=race"))


def test_letters_find_an_entry_in_a_list_that_cannot_be_searched(open_page):
    page = open_page("?tab=attention&show=find")
    heads = page.get_by_label("What heads do")
    entries, here = page.get_by_role("option"), page.locator("[role='option'].active")
    heads.click()
    all_entries = entries.count()
    heads.press("f")
    expect(here).to_have_attribute("aria-label", "First token")
    heads.press("Home")
    heads.press_sequentially("finds s")
    expect(here).to_have_attribute("aria-label", re.compile("^Finds subjects"))
    assert entries.count() == all_entries > 10
    heads.press("Escape")
    expect(entries).to_have_count(0)
    heads.press("e")  # opens it again
    expect(here).to_have_attribute("aria-label", "End token")
    heads.press("e")
    expect(here).to_have_attribute("aria-label", "Entropy")
    heads.press("Home")
    heads.press_sequentially("finds s")
    expect(here).to_have_attribute("aria-label", re.compile("^Finds subjects"))
    heads.press("Enter")
    expect(heads).to_have_value(re.compile("^Finds subjects"))
    come_to_rest(page)
    expect(page).to_have_url(re.compile("measure="))
    expect(heads).to_be_focused()  # so that the arrows go on from there
    expect(entries).to_have_count(0)
    heads.press("ArrowDown")
    expect(entries).to_have_count(all_entries)


def test_what_is_typed_takes_the_place_of_the_model_and_escape_brings_it_back(open_page):
    page = open_page("?tab=generate")
    picker = page.locator(".model-picker:visible input")
    before = picker.input_value()
    picker.click()
    page.keyboard.type("gpt")
    expect(picker).to_have_value("gpt")
    page.keyboard.press("Escape")
    expect(picker).to_have_value(before)
    page.keyboard.press("Tab")
    come_to_rest(page)
    expect(page.locator(".message-place .message.error")).to_have_count(0)
    for _ in range(2):  # also where Escape left the focus in the field
        picker.click()
        page.keyboard.type("gpt")
        expect(picker).to_have_value("gpt")
        page.keyboard.press("Escape")
    picker.click()
    page.keyboard.type("gpt")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(picker).to_have_value(re.compile("^GPT mini"))
    come_to_rest(page)
    expect(picker).to_be_focused()
    expect(page.get_by_role("option")).to_have_count(0)
    picker.press("ArrowDown")
    expect(page.get_by_role("option").nth(1)).to_be_visible()
    picker.press("Tab")
    expect(page.get_by_role("option")).to_have_count(0)
    expect(picker).to_have_value(re.compile("^GPT mini"))


HOLD_BACK = """(() => {
  const plain = window.fetch, passed = new Promise(done => (window.letPass = done));
  window.fetch = async (resource, options) => {
    const {pathname} = new URL(resource.url ?? resource, document.baseURI);
    if (window.isHeld && pathname.endsWith('/queue/join')) await passed;
    return plain(resource, options);
  };
})();"""


@pytest.mark.parametrize(
    ("typed", "count", "then", "taken"),
    [("gpt", 1, [], 0), pytest.param("mini", 2, ["ArrowDown"], 1, marks=pytest.mark.slow)],
)
def test_choices_that_come_late_leave_what_was_looked_for(open_page, typed, count, then, taken):
    page = open_page("?tab=generate", prepare=lambda page: page.add_init_script(HOLD_BACK))
    picker, entries = page.locator(".model-picker:visible input"), page.get_by_role("option")
    page.evaluate("window.isHeld = true")
    picker.click()
    page.keyboard.type(typed)
    expect(entries).to_have_count(count)
    for key in then:
        page.keyboard.press(key)
    wanted = entries.nth(taken)
    expect(wanted).to_contain_class("active")
    name = wanted.get_attribute("aria-label")
    with page.expect_response(lambda response: "/queue/join" in response.url):
        page.evaluate("letPass()")
    come_to_rest(page)
    expect(entries).to_have_count(count)
    expect(wanted).to_contain_class("active")
    page.keyboard.press("Enter")
    expect(picker).to_have_value(name)


@pytest.mark.slow
def test_another_seed_is_offered_only_where_it_changes_the_text(open_page):
    page = open_page("?tab=generate")
    strategy, again = page.locator("#generate-strategy input"), page.locator("#generate-again")
    expect(again).to_be_enabled()
    for letter, is_drawn in (("g", False), ("s", True)):
        strategy.click()
        strategy.press(letter)
        strategy.press("Enter")
        expect(again).to_be_enabled(enabled=is_drawn)
        come_to_rest(page)


@pytest.mark.slow
def test_tabs_without_room_and_the_card_of_a_token_close_behind_the_focus(open_page):
    page = open_page("?tab=generate", width=390, height=844)
    more, menu = page.get_by_role("button", name="More tabs").first, page.locator(".overflow-dropdown").first
    for key, closes_on in (("Escape", more), ("Tab", page.locator(".to-why:visible"))):
        more.focus()
        page.keyboard.press("Enter")
        expect(menu).to_be_visible()
        for _ in range(1 if key == "Escape" else 1 + menu.locator("button").count()):
            page.keyboard.press(key)
        expect(menu).to_be_hidden()
        expect(closes_on).to_be_focused()
    token, card = page.locator(".sheet-text .written > *").first, page.locator("#sheet [role=dialog]")
    token.focus()
    page.keyboard.press("ArrowRight")
    expect(card).to_be_visible()
    page.keyboard.press("Tab")
    expect(card).to_be_hidden()
    expect(page.get_by_role("button", name="Write on")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(card).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(card.get_by_role("button").first).to_be_focused()
