"""The views "Find a head" and "Switch heads off", driven as a visitor drives them."""

import re

import pytest
from playwright.sync_api import expect

FIND = "?tab=attention&show=find"
OFF = "?tab=attention&show=off&text=The+cat+sat+on+the+___."


def value(cell):
    return float(re.search(r": ([0-9.]+) ", cell.get_attribute("title")).group(1))


@pytest.mark.slow
def test_a_head_is_found_by_its_measure_and_opened(open_page):
    page = open_page(FIND + "&measure=previous")
    cells = page.locator("#found-heads .found-grid [data-open-head]")
    expect(cells).to_have_count(72)
    best = max(range(72), key=lambda index: value(cells.nth(index)))
    assert cells.nth(best).get_attribute("data-open-head") == "encoder-1-3"
    expect(page.locator("#found-heads .found-list tbody tr").first).to_contain_text("1-3")
    expect(page.locator("#found-heads .found-says")).to_contain_text("n = 536 tokens")
    expect(page.locator("#found-below")).to_contain_text("built-in set of 68 English sentences")
    cells.nth(best).click()
    expect(page.locator("#attention-head .head-said")).to_be_visible()
    expect(page).to_have_url(re.compile("at=encoder-1-3"))


@pytest.mark.slow
def test_heads_between_encoder_and_decoder_are_found_too(open_page):
    page = open_page(FIND + "&measure=same&model=MiniLM+(span)&of=cross")
    expect(page.locator("#found-below")).to_contain_text("MiniLM (span), cross")
    expect(page.locator("#found-heads .note").first).to_contain_text("15 % of its tokens hidden")
    page.get_by_label("the decoder", exact=True).check()
    expect(page.locator("#found-below")).to_contain_text("MiniLM (span), decoder")
    expect(page).to_have_url(re.compile("of=decoder"))
    page.locator("#found-heads [data-open-head=decoder-2-3]").first.click()
    expect(page).to_have_url(re.compile("at=decoder-2-3"))
    assert page.get_by_label("the encoder", exact=True).is_hidden()


@pytest.mark.slow
def test_a_relation_stands_beside_what_distance_alone_finds(open_page):
    page = open_page(FIND + "&measure=relation:det")
    says = page.locator("#found-heads .found-says")
    expect(says).to_contain_text("determiners (det: the → cat)")
    expect(says).to_contain_text("the word 1 to the right: 66 %")
    expect(page.locator("#found-below")).to_contain_text("UD, not comparable with the paper’s")
    pattern = page.locator(".found-pattern", has_text="finds determiners")
    expect(pattern).to_contain_text("n = 92 words")
    target = pattern.get_attribute("data-open-head")
    pattern.click()
    expect(page.locator(".attention-head")).to_have_attribute("data-painted", target)


@pytest.mark.slow
def test_the_list_is_sorted_by_a_press(open_page):
    page = open_page(FIND)
    rows = page.locator("#found-heads .found-list tbody tr")
    expect(rows).to_have_count(72)
    values = [float(one) for one in rows.evaluate_all("rows => rows.map(row => row.dataset.value)")]
    assert values == sorted(values, reverse=True)
    page.locator("[data-sort=head]").click()
    expect(rows.first).to_contain_text("1-1")
    page.locator("[data-sort=value]").click()
    assert [float(one) for one in rows.evaluate_all("rows => rows.map(row => row.dataset.value)")] == values


@pytest.mark.slow
def test_the_text_at_left_is_measured_instead(open_page):
    page = open_page(FIND + "&on=own&text=</script>+שלום+%26+<b>hello</b>+there.")
    expect(page.locator("#found-below")).to_contain_text("places and spread: your text")
    expect(page.locator("#found-heads .found-grid [data-open-head]")).to_have_count(72)
    page.locator("#attention-text textarea").fill("cat " * 600)
    expect(page.locator(".message.error:visible")).to_contain_text("reads at most 512")
    for part in ("#found-heads", "#found-below"):  # both are of the text before
        expect(page.locator(part)).to_have_css("opacity", "0.4")


@pytest.mark.slow
def test_a_causal_model_has_no_next_token(open_page):
    page = open_page(FIND + "&model=MiniLM+(causal)&measure=next")
    expect(page.locator("#found-heads")).to_contain_text("sees no next token")
    expect(page.locator("#found-heads .found-says")).to_contain_text("Previous token")


@pytest.mark.slow
def test_arrow_keys_walk_the_map(open_page):
    page = open_page(FIND)
    page.locator("[data-open-head=encoder-2-3]").first.focus()
    for key, word in (("ArrowRight", "encoder-2-4"), ("ArrowDown", "encoder-3-4"), ("ArrowLeft", "encoder-3-3")):
        page.keyboard.press(key)
        expect(page.locator(f".found-grid [data-open-head={word}]")).to_be_focused()


def test_heads_are_switched_off_and_on(open_page):
    page = open_page(OFF + "&off=3-1")  # as in a shell; what the page writes names the stack, too
    answer = page.locator("#off-answer")
    expect(answer).to_contain_text("1 of 72 heads off")
    expect(page.locator(".off-map [aria-pressed=true]")).to_have_count(1)
    expect(page.locator("[data-cell=encoder-3-1]")).to_have_attribute("aria-pressed", "true")
    expect(answer.locator(".off-choices li")).to_have_count(10)
    cell = page.locator("[data-cell=encoder-4-9]")
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    expect(answer).to_contain_text("2 of 72 heads off: layer 3 head 1, layer 4 head 9")
    page.locator("[data-layer=encoder-6]").click()
    expect(answer).to_contain_text("14 of 72 heads off")
    page.locator("[data-do=turn]").click()
    expect(answer).to_contain_text("58 of 72 heads off")
    page.locator("[data-do=off]").click()
    expect(answer).to_contain_text("72 of 72 heads off")
    page.locator("[data-do=on]").click()
    expect(answer).to_contain_text("0 of 72 heads off")
    expect(answer).to_contain_text("divergence 0.000 bits")
    expect(page.locator(".off-map [aria-pressed=true]")).to_have_count(0)


@pytest.mark.slow
def test_what_is_off_stands_in_the_address(open_page):
    page = open_page(OFF)
    expect(page.locator("#off-answer")).to_contain_text("1 of 72 heads off: layer 1 head 3")
    page.locator("[data-cell=encoder-2-2]").click()
    expect(page).to_have_url(re.compile("off=encoder-1-3(,|%2C)encoder-2-2"))
    again = open_page("?" + page.url.partition("?")[2])
    expect(again.locator("#off-answer")).to_contain_text("2 of 72 heads off: layer 1 head 3, layer 2 head 2")
    expect(again.locator("[data-cell=encoder-2-2]")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_every_head_is_tried_by_itself(open_page):
    page = open_page(OFF)
    expect(page.locator("#off-answer .off-choices").first).to_be_visible()
    page.locator("#off-try").click()
    ranked = page.locator("#off-ranked")
    expect(ranked).to_contain_text("Which single head matters most here")
    expect(ranked).not_to_contain_text("tried so far", timeout=90_000)
    expect(ranked.locator("tbody tr")).to_have_count(8)
    first = ranked.locator("button").first.get_attribute("data-open-head")
    expect(page.locator(f"[data-cell={first}]")).to_have_attribute("style", re.compile(r"--c: ?1"))
    page.locator("[data-cell=encoder-5-5]").click()  # the map keeps what was found
    expect(page.locator("#off-answer")).to_contain_text("2 of 72 heads off")
    expect(ranked.locator("tbody tr")).to_have_count(8)
    expect(ranked.locator("a", has_text="CSV of heads")).to_be_visible()
    expect(page).to_have_url(re.compile("tried=true"))
    again = open_page("?" + page.url.partition("?")[2])  # the link tries them, too
    expect(again.locator("#off-ranked a", has_text="CSV of heads")).to_be_visible(timeout=90_000)
    expect(again.locator("#off-ranked tbody tr")).to_have_count(8)
    expect(again.locator("#off-answer")).to_contain_text("2 of 72 heads off")
    page.locator("#attention-text textarea").fill("The dog sat on the ___.")
    expect(ranked.locator("tbody tr")).to_have_count(0)  # that was another text
    expect(page).not_to_have_url(re.compile("tried=true"))


@pytest.mark.slow
def test_without_a_blank_the_sentence_embedding_is_compared(open_page):
    page = open_page("?tab=attention&show=off&text=The+cat+sat+on+the+mat.")
    expect(page.locator("#off-answer")).to_contain_text("cosine to the intact one")
    page.locator("#off-blank").click()
    expect(page.locator("#attention-text textarea")).to_have_value("The cat sat on the ___.")
    expect(page.locator("#off-answer .off-choices li")).to_have_count(10)
    expect(page.locator("#off-blank")).to_be_hidden()


@pytest.mark.parametrize(("width", "dark"), [(390, False), pytest.param(1280, True, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_nothing_sticks_out(open_page, width, dark):
    for query, ready in ((FIND, ".found-grid"), (OFF, ".off-choices")):
        page = open_page(query, width=width, dark=dark)
        expect(page.locator(ready).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_trying_heads_can_be_stopped_and_keeps_what_was_found(open_page):
    page = open_page(OFF.replace("The+cat", "The+cat+and+" * 60 + "cat"))
    expect(page.locator("#off-answer .off-choices").first).to_be_visible()
    page.locator("#off-try").click()
    expect(page.locator("#off-ranked")).to_contain_text("tried so far", timeout=90_000)
    page.locator(".message.working [data-action=stop]").click()
    expect(page.locator(".message.stopped")).to_be_visible()
    expect(page.locator("#off-ranked")).to_contain_text("tried so far")
    expect(page.locator("#off-ranked tbody tr")).to_have_count(8)


def press_and_copy(page, press):
    """What Copy link copies when it is pressed in the moment after another press."""
    return page.evaluate(
        """async press => {
          const copied = new Promise(done => (navigator.clipboard.writeText = async text => done(text)));
          const seen = selector => [...document.querySelectorAll(selector)].find(one => one.checkVisibility());
          seen(press).dispatchEvent(new MouseEvent('click', {bubbles: true}));
          seen('[data-action=link]').click();
          return copied;
        }""",
        press,
    )


def test_a_link_that_is_copied_at_once_leads_to_what_was_just_pressed(open_page):
    page = open_page("?tab=attention&at=encoder-3-10")
    assert "at=encoder-3-11" in press_and_copy(page, "[aria-label^='Next head']")
    page.get_by_role("tab", name="Switch heads off").click()
    expect(page.locator("#off-answer")).to_contain_text("1 of 72 heads off")
    assert "encoder-2-5" in press_and_copy(page, "[data-cell=encoder-2-5]")
