"""The tab that writes: text that streams, alternatives that are clicked, branches, and how it is stopped."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

FIRST = "The old man opened the door and"
PROMPT = "#generate-text textarea"
TOKENS = "#sheet .written .tok"
STATUS = "#sheet .sheet-status"
LEAVES = "#sheet .leaf"
ENOUGH = re.compile("As many new tokens as were asked for")


def link(**fields):
    return "?" + urlencode({"tab": "generate", **fields})


@pytest.fixture
def page(open_page):
    return open_page(link())


def write(page, prompt):
    page.locator(PROMPT).fill(prompt)
    page.locator(PROMPT).press("Enter")
    expect(page.locator("#sheet .given")).to_have_text(prompt)


# In the page itself: 200 tokens are written before a press from outside arrives.
PRESS_WHILE_WRITING = """how => new Promise(done => {
    document.querySelector('#generate-again').click();
    const look = () => {
        if (document.querySelectorAll('.sheet.writing .written .tok').length < 4) return setTimeout(look, 5);
        if (how === 'Escape') document.body.dispatchEvent(new KeyboardEvent('keydown', {key: how, bubbles: true}));
        else document.querySelector(how).click();
        done();
    };
    look();
})"""


def wait_for_writing(page, tokens):
    """Return while a text is being written: asked by the page itself, for writing is quicker than expect asks."""
    page.wait_for_function(f"document.querySelectorAll('.sheet.writing .written .tok').length >= {tokens}")


def written(page):
    return page.locator("#sheet .written").text_content()


def open_token(page, index):
    page.locator(TOKENS).nth(index).hover()
    popover = page.locator("#sheet .sheet-popover")
    expect(popover).to_be_visible()
    return popover


def test_a_visitor_reads_and_goes_on_from_an_alternative(page):
    """One page, step by step: to open it takes longer than to try it."""
    it_opens_on_a_finished_example(page)
    a_click_on_an_alternative_goes_on_from_there_and_both_texts_can_be_compared(page)


def it_opens_on_a_finished_example(page):
    expect(page.locator(TOKENS)).to_have_count(40)
    expect(page.locator("#sheet .given")).to_have_text(FIRST)
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    popover = open_token(page, 2)
    expect(popover.locator(".option")).to_have_count(10)
    expect(popover.locator(".facts")).to_contain_text("surprisal")
    first, other = page.locator(PROMPT).input_value(), page.locator("#sheet .sheet-other")
    look = page.locator(".look.block", has_text="Look for: the colour")
    expect(look).to_be_visible()
    page.locator(PROMPT).fill("Another beginning")
    expect(other).to_be_visible()
    expect(look).to_be_hidden()
    page.locator(PROMPT).fill(first)
    expect(other).to_be_hidden()
    for model, says in (("GPT mini", "MiniLM (causal) wrote this. Press Write"), ("MiniLM (causal)", "")):
        page.locator(".model-picker:visible input").fill(model)
        page.locator(".model-picker:visible input").press("Enter")
        expect(other).to_contain_text(says) if says else expect(other).to_be_hidden()
    temperature = page.locator(".settings input[type=number]:visible").first
    temperature.fill("1.5")
    expect(other).to_contain_text("This was written with the settings before. Press Write")
    temperature.fill("0.7")
    expect(other).to_be_hidden()
    temperature.fill("1.5")
    expect(other).to_be_visible()
    come_to_rest(page)


@pytest.mark.slow
def test_text_grows_token_by_token_and_the_same_seed_writes_the_same(page):
    page.evaluate("""() => {
        window.counts = new Set();
        const text = document.querySelector('#sheet .written');
        new MutationObserver(() => window.counts.add(text.childNodes.length)).observe(text, {childList: true});
    }""")
    write(page, "The queen put on her crown")
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    expect(page.locator(TOKENS)).to_have_count(40)
    assert len(page.evaluate("[...window.counts]")) > 4, "it came bit by bit"
    first = written(page)
    page.locator("#generate-again").click()
    expect(page.locator(LEAVES)).to_have_count(2)
    assert written(page) != first, "another seed"
    page.locator(".settings").get_by_text("More options").click()
    page.locator("#generate-seed input").fill("0")
    page.keyboard.press("Tab")
    page.locator("#generate-write").click()
    expect(page.locator(f"{LEAVES}[aria-current] b")).to_have_text("1")
    assert written(page) == first
    expect(page.locator(LEAVES)).to_have_count(2)


def a_click_on_an_alternative_goes_on_from_there_and_both_texts_can_be_compared(page):
    before = [token.text_content() for token in page.locator(TOKENS).all()]
    alternative = open_token(page, 2).locator(".option:not(.chosen)").first
    chosen = alternative.locator("bdi").text_content()
    alternative.click()
    expect(page.locator(TOKENS).nth(2)).to_have_text(re.compile(re.escape(chosen.strip("…"))))
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    after = [token.text_content() for token in page.locator(TOKENS).all()]
    assert after[:2] == before[:2] and after[2] != before[2]
    assert len(after) == 43, "40 more after the one that was clicked"
    expect(page.locator(LEAVES)).to_have_count(2)
    expect(page.locator(LEAVES).nth(1)).to_contain_text("parts from 1 after 2 tokens")

    page.locator("#sheet .beside").click()
    columns = page.locator("#sheet .sheet-compare .branch")
    expect(columns).to_have_count(2)
    expect(columns.nth(0).locator(".shared")).to_have_count(2)
    expect(columns.nth(1).locator(".sums")).to_contain_text("40 tokens · surprisal ")
    page.locator(LEAVES).first.click()  # back to the first branch, whole
    expect(page.locator(TOKENS)).to_have_count(40)
    assert [token.text_content() for token in page.locator(TOKENS).all()] == before

    look, other = page.locator(".look.block", has_text="Look for: the colour"), page.locator("#sheet .sheet-other")
    expect(other).to_contain_text("with other settings, which no link keeps. Press Write")
    page.get_by_role("button", name="The old man").click()
    expect(look).to_be_visible()
    come_to_rest(page)  # the same text once more
    expect(other).to_be_hidden()
    page.locator(LEAVES).last.click()
    expect(other).to_contain_text("with other settings")
    expect(look).to_be_hidden()
    page.locator(LEAVES).first.click()
    expect(other).to_be_hidden()
    come_to_rest(page)


@pytest.mark.slow
def test_an_alternative_can_be_clicked_while_text_is_written(open_page):
    page = open_page(link(length=200, text=FIRST, seed=5), until="restored")
    wait_for_writing(page, 9)
    open_token(page, 1).locator(".option:not(.chosen)").first.click()
    expect(page.locator(f"{TOKENS}.by-hand")).to_have_count(1)
    expect(page.locator(TOKENS).nth(12)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(STATUS)).to_contain_text("Stopped")
    expect(page.locator(f"{TOKENS}.by-hand")).to_have_count(1)


@pytest.mark.parametrize(
    "how", ["Escape", *(pytest.param(button, marks=pytest.mark.slow) for button in ("#generate-stop", "#sheet .stop"))]
)
def test_stop_keeps_what_was_written(open_page, how):
    page = open_page(link(length=100, text=FIRST, seed=7))
    expect(page.locator(STATUS)).to_have_text(re.compile("^100 tokens"))  # written once, the page is at rest
    page.evaluate(PRESS_WHILE_WRITING, how)
    expect(page.locator(STATUS)).to_contain_text("Stopped. What was written is kept.")
    count = page.locator(TOKENS).count()
    assert 4 <= count < 100
    come_to_rest(page)
    assert page.locator(TOKENS).count() == count
    page.get_by_role("button", name="Write on").click()
    expect(page.locator(TOKENS).nth(count + 2)).to_be_visible()
    page.keyboard.press("Escape")


@pytest.mark.slow
def test_the_colours_change_in_the_browser_alone(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    strengths = []
    for measure in ("Rank", "Entropy", "Surprisal", "Probability"):
        page.get_by_role("radio", name=measure).click()
        expect(page.locator("#sheet [aria-checked=true]")).to_have_text(measure)
        if measure != "Probability":
            expect(page).to_have_url(re.compile(f"colour={measure.lower()}"))
        strengths.append(page.locator(TOKENS).first.evaluate("token => token.style.getPropertyValue('--v')"))
        assert page.locator(TOKENS).first.get_attribute("data-words")
    assert len(set(strengths)) > 2
    assert not asked


@pytest.mark.slow
def test_arrow_keys_walk_tokens_and_alternatives(page):
    page.locator(TOKENS).last.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator(TOKENS).nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#sheet .option").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#sheet .option").nth(1)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#sheet .sheet-popover")).to_be_hidden()
    expect(page.locator(TOKENS).nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#sheet .option").first).to_be_focused()
    another = page.locator("#sheet .option:not(.chosen)").first
    another.press("Enter")
    expect(page.locator(f"{TOKENS}.by-hand")).to_have_count(1)
    come_to_rest(page)
    expect(page.locator(TOKENS).nth(1)).to_be_focused()  # what was chosen, in its place


@pytest.mark.slow
def test_a_link_writes_what_it_asks_for(open_page):
    page = open_page(link(text="He was born in 1921 in", strategy="greedy", length=8, repetition_penalty=1.2))
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    expect(page.locator(TOKENS)).to_have_count(8)
    expect(page.locator(".caption:visible")).to_contain_text("greedy, repetition penalty 1.2")
    expect(page.locator("#generate-temperature")).to_be_hidden()  # it does not act
    assert "repetition_penalty=1.2" in page.url
    again = open_page("?" + page.url.partition("?")[2])
    expect(again.locator(TOKENS)).to_have_count(8)
    text = written(again)
    assert text == written(page)
    there = open_page(again.get_by_role("link", name="Attention").get_attribute("href"))
    expect(there.locator("#attention-text textarea")).to_have_value("He was born in 1921 in")
    expect(there.locator("#attention-second textarea")).to_have_value(text)
    expect(there.locator(".model-picker:visible input")).to_have_value(re.compile(r"MiniLM \(causal\)"))


@pytest.mark.slow
def test_an_example_is_one_click(page):
    page.get_by_role("button", name="Greedy repeats itself").click()
    expect(page.locator("#sheet .given")).to_have_text("The man said,")
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    expect(page.locator(".caption:visible")).to_contain_text("greedy")


@pytest.mark.slow
def test_the_length_of_the_prompt_is_told_while_it_is_typed(page):
    write(page, "The cat sat on the mat")
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    page.locator(PROMPT).fill("The cat sat on the mat.")
    expect(page.locator("#generate-count")).to_contain_text("8 of 512 tokens; room for 504 more")


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("a\0b", "character"),
        ("word " * 5000, re.compile("5,00[0-9].*512|20,000")),
    ],
    ids=["NUL", "5,000 words"],
)
@pytest.mark.slow
def test_what_cannot_be_read_is_refused_where_it_stands(page, prompt, answer):
    page.locator(PROMPT).evaluate(
        "(box, text) => { box.value = text; box.dispatchEvent(new Event('input', {bubbles: true})); }", prompt
    )
    page.locator("#generate-write").click()
    expect(page.locator(".message.error:visible")).to_contain_text(answer)
    write(page, "The cat sat on the mat")  # and then it goes on
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    expect(page.locator(".message:visible")).to_have_count(0)


@pytest.mark.slow
def test_any_other_text_is_text(page):
    for prompt in ("<script>alert(1)</script><img src=x onerror=alert(1)>", "🦉 ${1+1} {{x}} ` \\", ""):
        page.locator(PROMPT).fill(prompt)
        page.locator("#generate-write").click()
        expect(page.locator("#sheet .given")).to_have_text(prompt)
        expect(page.locator(STATUS)).to_have_text(ENOUGH)
        assert page.locator("#sheet img, #sheet script").count() == 0


@pytest.mark.parametrize("dark", [pytest.param(dark, marks=pytest.mark.slow) for dark in (False, True)])
def test_a_phone_shows_all_of_it(open_page, dark):
    page = open_page(link(), width=390, height=844, dark=dark)
    page.locator(TOKENS).nth(12).click()
    popover = page.locator("#sheet .sheet-popover")
    expect(popover).to_be_visible()
    box = popover.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    for view in ("Next token", "Beams", "Write"):
        page.get_by_role("tab", name=view).click()
        come_to_rest(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
