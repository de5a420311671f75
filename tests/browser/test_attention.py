"""Attention on the page."""

import csv
import io
import re
from collections import Counter

import numpy as np
import pytest
from playwright.sync_api import expect

from explorer.analysis.attention_levels import to_words, without_tokens
from explorer.analysis.attention_packing import unpack_weights
from explorer.analysis.attention_results import AttentionStack
from explorer.tabs.attention.first_reading import read_first_reading
from tests.browser.conftest import come_to_rest

TEXT = "#attention-text textarea"
HEAD = ".attention-head"
SAID = f"{HEAD} .head-said"
UNITS = f"{HEAD} .lines-tokens.query .unit"
TAB = "?tab=attention"
DRAWN_HUES = """element => {  // whose pixels are in the drawing
    const canvas = element.querySelector('.lines-canvas'), style = getComputedStyle(canvas);
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const isClose = (place, value, at) => Math.abs(data[place + at] - value) < 12;
    const isNear = (place, wanted) => data[place + 3] > 100 && wanted.every((value, at) => isClose(place, value, at));
    return [0, 1, 2, 3, 4, 5].map(hue => `--head-${hue}`).filter(name => {
        const wanted = style.getPropertyValue(name).match(/[0-9a-f]{2}/g).map(part => parseInt(part, 16));
        for (let place = 0; place < data.length; place += 4) if (isNear(place, wanted)) return true;
        return false;
    });
}"""


def test_a_visitor_reads_takes_away_and_walks(open_page):
    """One page, step by step: to open it takes longer than to try it."""
    page = open_page(TAB)
    it_opens_on_a_finished_example(page)
    numbers_are_taken_away(page)
    several_heads_are_drawn_over_each_other(page)
    arrow_keys_walk_heads_and_layers(page)


def it_opens_on_a_finished_example(page):
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "encoder-4-2")
    expect(page.locator(SAID)).to_contain_text("“are” (token 8) looks at “keys” (3) 87 %")
    page.mouse.move(5, 5)  # where the pointer rests while the page scrolls the third token under it
    page.locator(UNITS).nth(2).dispatch_event("pointerover", {"clientX": 5, "clientY": 5})
    expect(page.locator(SAID)).to_contain_text("“are” (token 8)")
    page.locator(UNITS).nth(2).hover()
    expect(page.locator(SAID)).to_contain_text("“keys” (token 3) looks at")
    page.mouse.move(5, 5)
    expect(page.locator(SAID)).to_contain_text("“are” (token 8)")


def several_heads_are_drawn_over_each_other(page):
    head = page.locator(HEAD)
    page.locator(".head-several summary").click()
    chips = page.get_by_role("group", name="Heads drawn over each other")
    chips.get_by_role("button", name="Head 5", exact=True).click()
    chips.get_by_role("button", name="Head 9", exact=True).click()
    expect(head).to_have_attribute("data-heads", "2 5 9")
    expect(page.locator(SAID)).to_contain_text(
        "“are” (token 8) looks most at: head 2 “keys” (3) 87 %; head 5 “[CLS]” (1)"
    )
    expect(page.locator(f"{HEAD} .lines-tokens.key .unit").nth(2)).to_have_attribute(
        "data-share", re.compile("^2: 87 % · 9: ")
    )
    drawn = head.evaluate(DRAWN_HUES)
    assert drawn == ["--head-1", "--head-2", "--head-4"], drawn
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of these heads").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert download.value.suggested_filename == "attention-encoder-4-2-5-9-MiniLM-masked.csv"
    assert Counter(row["head"] for row in rows) == dict.fromkeys("259", 13 * 13)
    packed = read_first_reading().stacks[0]
    fifth = unpack_weights(packed.roots[3, 4]).ravel()
    np.testing.assert_allclose([float(row["weight"]) for row in rows if row["head"] == "5"], fifth, atol=1e-6)
    code = head.locator("[data-action=code]").get_attribute("data-code")
    assert "= tuple(view_attention(result_1, stack='encoder', layer=3, head=head) for head in (1, 4, 8))\n" in code
    page.wait_for_url("**h5.h9**")
    chips.get_by_role("button", name="Head 2", exact=True).click()  # the one that is named: the next takes its place
    expect(head).to_have_attribute("data-heads", "5 9")
    expect(head).to_have_attribute("data-painted", "encoder-4-5")
    page.wait_for_url("**at=encoder-4-5**")
    page.locator("[data-form='matrix']").click()
    expect(head).to_have_attribute("data-heads", "5")
    page.locator("[data-form='lines']").click()
    chips.get_by_role("button", name="All").click()
    expect(head).to_have_attribute("data-heads", re.compile(r"^5( [0-9]+){11}$"))
    chips.get_by_role("button", name="Only one").click()
    expect(head).to_have_attribute("data-heads", "5")
    page.locator("[data-set='head']").select_option("2")
    expect(head).to_have_attribute("data-painted", "encoder-4-2")


def arrow_keys_walk_heads_and_layers(page):
    head, tokens = page.locator(HEAD), page.locator(f"{HEAD} .lines-tokens[data-side='query']")
    tokens.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(head).to_have_attribute("data-painted", "encoder-4-3")
    expect(page.locator(SAID)).to_contain_text(f"“{tokens.locator('.unit.at').inner_text()}”")  # marked and told
    page.wait_for_url("**look=p8")  # it stays, as one that is pressed
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(tokens.locator(".unit.at")).to_have_count(0)
    page.evaluate("explorer.attention.dress('p8')")  # what Gradio tells of the Enter, late: no news
    expect(tokens.locator(".unit.at")).to_have_count(0)
    expect(page.locator(SAID)).to_contain_text("Strongest here: ")
    page.locator(".head-stage").focus()
    page.keyboard.press("ArrowUp")
    expect(head).to_have_attribute("data-painted", "encoder-3-3")
    page.wait_for_url("**at=encoder-3-3**")
    page.evaluate("explorer.attention.dress('table.h5.h7')")
    legend = page.locator(f"{HEAD} .head-legend")
    expect(legend).to_contain_text("Of head 3 alone: only Lines draws 3 heads over each other.")
    page.locator("[data-set='head']").select_option("rollout")
    expect(head).to_have_attribute("data-painted", "encoder-3-rollout")
    expect(legend).not_to_contain_text("alone")  # it is of all heads
    page.evaluate("explorer.attention.dress('')")
    expect(legend).to_contain_text("the layers up to 3 are multiplied")
    expect(page.locator("[data-take='csv']").first).to_have_text("CSV of these weights")
    page.locator("[data-set='layer']").select_option("mean")
    expect(head).to_have_attribute("data-painted", "encoder-mean")


@pytest.mark.slow
def test_every_head_in_little_opens_its_head_and_a_link_brings_it_back(open_page):
    page = open_page(TAB)
    page.get_by_role("tab", name="All heads").click()
    thumbs = page.locator("#attention-all .thumb")
    expect(thumbs).to_have_count(72)
    special = page.locator("#attention-all").get_by_label("Special tokens")
    special.uncheck()
    expect(page.locator("#attention-all .note").first).to_contain_text("Hidden: [CLS], [SEP], which took")
    special.check()
    expect(page.locator("#attention-all .note").first).not_to_contain_text("Hidden")
    thumbs.nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "encoder-2-2")
    expect(page.locator(".head-stage")).to_be_focused()  # not the body: arrow keys walk on from there
    page.locator("[data-form='matrix']").click()
    page.wait_for_url("**look=matrix**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(HEAD)).to_have_attribute("data-painted", "encoder-2-2")
    expect(again.locator(".matrix-canvas")).to_be_visible()
    box = again.locator(".matrix-canvas").bounding_box()
    again.mouse.move(box["x"] + 96 + 20, box["y"] + 84 + 20)
    expect(again.locator(SAID)).to_contain_text("“[CLS]” (token 1) looks at “[CLS]” (1): ")


@pytest.mark.slow
def test_an_example_opens_where_its_head_is_and_says_what_to_look_for(open_page):
    page = open_page(TAB)
    leads_on = page.locator(".look.block", has_text="“Find a head” counts")
    page.get_by_role("tab", name="Find a head").click()
    expect(leads_on).to_be_visible()  # it says what to choose there
    page.get_by_role("tab", name="All heads").click()
    expect(leads_on).to_be_hidden()
    look = page.locator(".look.block", has_text="Look for: how much of this head")
    page.get_by_role("button", name="Nothing to do").click()
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "encoder-5-6")
    expect(page.get_by_role("tab", name="Head", exact=True)).to_have_attribute("aria-selected", "true")
    expect(look).to_be_visible()
    expect(page.locator(f"{HEAD} .lines-tokens.query .unit")).not_to_have_count(0)
    page.locator(".model-picker:visible input").click()
    page.locator("[role=option]:visible", has_text="MiniLM (causal)").click()
    expect(look).to_be_hidden()  # of another model it may be false
    come_to_rest(page)
    expect(page.locator(SAID)).to_contain_text("Strongest here, but for what the first token looks at: ")


@pytest.mark.slow
def test_a_table_lists_the_strongest_links_and_a_link_brings_it_back(open_page):
    page = open_page(TAB)
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "encoder-4-2")
    page.locator("[data-form='table']").click()
    rows = page.locator(".link-table tbody tr")
    first = read_first_reading().stacks[0]
    weights = unpack_weights(first.roots[3 - first.first_layer, 1])
    expect(rows).to_have_count(int(np.count_nonzero(weights)))
    shown = [float(cell) for cell in page.locator(".link-table td.number:not(.place)").all_text_contents()]
    assert np.allclose(shown, np.sort(weights[weights > 0])[::-1], atol=6e-6)
    rows.nth(1).hover()
    expect(page.locator(f"{SAID} b")).to_have_attribute("title", f"{shown[1]:.5f}")
    page.wait_for_url("**look=table**")
    again = open_page(page.url[page.url.index("?") :])
    expect(again.locator(".link-table tbody tr").first).to_contain_text(f"{shown[0]:.5f}")


def test_typing_reads_anew_words_join_pieces_and_what_is_hidden_is_said(open_page):
    page = open_page(TAB)
    page.locator(TEXT).fill("Unbelievable </script><b>tokens</b> @view@) مرحبا")
    pieces = page.locator(UNITS)
    expect(pieces.nth(1)).to_have_text("unbelievable")
    assert "</script>" not in page.locator(f"{HEAD} .head-stage").inner_html()
    page.locator(".head-more summary").click()
    page.get_by_label("Special tokens").uncheck()
    expect(page.locator(".head-legend")).to_contain_text("Hidden: [CLS], [SEP], which took")
    page.get_by_label("Whole words").check()
    expect(page.locator(f"{UNITS}.special")).to_have_count(0)
    expect(pieces.last).to_have_text("مرحبا")
    code = page.locator(f"{HEAD} [data-action=code]").get_attribute("data-code")
    assert "text='Unbelievable </script><b>tokens</b> @view@) مرحبا'" in code
    assert "(result_1, stack='encoder', layer=3, head=1, level='words', hide_special=True)" in code


@pytest.mark.slow
def test_words_and_hidden_tokens_in_the_browser_are_those_of_the_analysis(open_page):
    page = open_page(TAB)
    packed = read_first_reading().stacks[0]
    stack = AttentionStack("encoder", packed.queries, packed.keys, unpack_weights(packed.roots))
    hidden = [place for place, token in enumerate(stack.keys) if token.is_special]
    for is_by_words in (False, True):
        shown = to_words(stack) if is_by_words else stack
        hidden = [place for place, token in enumerate(shown.keys) if token.is_special]
        expected = without_tokens(shown, hidden)
        found = page.evaluate(
            """async words => {
                const {heads, data} = document.querySelector('.attention-head').explorer;
                const {queries} = data.stacks[0];
                const look = {words, special: false, first: true, pair: ''};
                const made = explorer.attentionMath.select(await heads.get('encoder-4-2'), queries, queries, look);
                return [[...made.values], made.absorbed, made.rows.map(unit => unit.text)];
            }""",
            is_by_words,
        )
        np.testing.assert_allclose(found[0], expected.stack.weights[3, 1].ravel(), atol=2e-5)
        assert abs(found[1] - expected.absorbed[3, 1]) < 1e-4
        if is_by_words:
            assert found[2] == [token.text for token in expected.stack.queries]


def numbers_are_taken_away(page):
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of this head").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert len(rows) == 13 * 13
    one = next(row for row in rows if (row["query_token"], row["key_token"]) == ("are", "keys"))
    assert (one["layer"], one["head"], one["query"], one["key"]) == ("4", "2", "8", "3")
    packed = read_first_reading().stacks[0]
    assert float(one["weight"]) == pytest.approx(float(unpack_weights(packed.roots[3, 1])[7, 2]), abs=1e-6)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").first.click()
    assert download.value.suggested_filename == "attention-encoder-4-2-MiniLM-masked.png"


def test_what_a_model_writes_and_what_a_decoder_looks_at(open_page):
    page = open_page(TAB)
    page.get_by_role("button", name="What fills the gap?").click()
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "cross-6-1")
    expect(page.locator(".stack-choice")).to_be_visible()
    expect(page.locator(f"{HEAD} .lines-tokens.key .unit")).to_have_count(11)
    page.get_by_role("button", name="While it writes").click()
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "decoder-5-9")
    expect(page.locator(UNITS)).to_have_count(7 + 12)
    expect(page.locator(f"{UNITS}.begins")).to_have_count(1)
    page.get_by_label("Written so far").fill("10")
    expect(page.locator(UNITS)).to_have_count(10)
    expect(page.locator(".head-legend")).to_contain_text(" of 55 weights, those ")  # none to a later token
    page.get_by_role("button", name="The same word in the other").click()
    expect(page.locator(".head-legend")).to_contain_text("Left out: the text that is not looked at here, which took ")


@pytest.mark.slow
def test_any_length_that_the_model_reads_and_no_more(open_page):
    page = open_page(TAB)
    page.locator(TEXT).fill("dog " * 510)
    expect(page.locator(UNITS)).to_have_count(512, timeout=60_000)
    page.locator("[data-step='head,1']").click()
    expect(page.locator(HEAD)).to_have_attribute("data-painted", "encoder-4-3", timeout=60_000)
    page.locator(TEXT).fill("dog " * 511)
    expect(page.locator(".message.error")).to_contain_text("512")
    page.locator(TEXT).fill("")
    expect(page.locator(".message.error")).to_contain_text("There is no text")
    page.locator(TEXT).fill("a")
    expect(page.locator(UNITS)).to_have_count(3)


@pytest.mark.slow
def test_a_model_without_attention_says_so(open_page):
    page = open_page(f"{TAB}&model=ELMo mini&text=Any text.")
    expect(page.locator(".message.error")).to_contain_text("no attention")
