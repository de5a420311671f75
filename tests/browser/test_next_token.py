"""The next token while a slider moves: the browser's numbers are those of transformers, and the server is not asked."""

import base64
import csv
import json
import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from explorer.analysis.next_token_results import NextTokens
from explorer.figures.next_token import pack_next_tokens

LINK = "?tab=generate&show=next"
ROWS = "#next-token .tokens-next li"
MAKERS = {
    "repetition_penalty": RepetitionPenaltyLogitsProcessor,
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
    "typical_p": TypicalLogitsWarper,
}
IN_BROWSER = """([packed, ids, settings]) => {
    const {logits, highest} = JSON.parse(packed);
    const {decoding} = explorer;
    return decoding.stages(decoding.unpack(logits, highest), ids, settings).map(({name, left, mass, entropy, shares}) =>
        ({name, left, mass, entropy, shares: [...shares]}));
}"""


READ = """texts => texts.map(explorer.seenAmong(texts))"""


@pytest.fixture(scope="module")
def blank(browser, address):
    page = browser.new_page()
    page.goto(address)
    page.wait_for_function("window.explorer?.decoding")
    yield page
    page.close()


def test_tokens_that_would_read_the_same_are_told_apart(blank):
    texts = [' "', '"', " The", "The", " cat", ".", " ", " (", ""]
    assert blank.evaluate(READ, texts) == ['␣"', '"', "The", "…The", "cat", ".", "␣", "(", "(ends here)"]


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.2}, {"temperature": 1.7}, {"top_k": 7}, {"top_p": 0.5}, {"top_p": 0.05}, {"min_p": 0.1},
        {"typical_p": 0.4}, {"repetition_penalty": 1.4},
        {"repetition_penalty": 1.2, "temperature": 0.7, "top_k": 60, "top_p": 0.9, "min_p": 0.02, "typical_p": 0.8},
    ],
    ids=str,
)  # fmt: skip
def test_the_browser_computes_what_transformers_computes(blank, settings):
    logits = np.random.default_rng(3).normal(0, 3, 5000).astype(np.float32)
    logits[:3] = (9.0, 8.0, -7.0)
    ids = (0, 2, 4, 4)
    packed = pack_next_tokens(NextTokens("M", "", ids, (), (), 1.0, logits, (), 4, 512), "")
    stages = blank.evaluate(IN_BROWSER, [packed, list(ids), settings])
    sent = (logits - logits.max()).astype(np.float16).astype(np.float64) + logits.max()
    scores = torch.tensor(sent, dtype=torch.float64)[None]
    names = [name for name in MAKERS if name in settings]
    processors = LogitsProcessorList([MAKERS[name](settings[name]) for name in names])
    expected = processors(torch.tensor([ids]), scores).softmax(dim=-1)[0].numpy()
    assert [stage["name"] for stage in stages] == ["model", *names]
    last = stages[-1]
    assert np.abs(np.array(last["shares"]) - expected).max() < 1e-9
    assert last["left"] == int((expected > 0).sum())
    before = np.exp(sent - sent.max())
    assert np.isclose(last["mass"], before[expected > 0].sum() / before.sum())
    assert np.isclose(last["entropy"], -(expected[expected > 0] * np.log(expected[expected > 0])).sum())


def test_a_slider_redraws_without_the_server(open_page):
    page = open_page(LINK)
    expect(page.locator(ROWS).first).to_be_visible()
    before = page.locator(f"{ROWS} .after").all_text_contents()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    page.locator("#generate-temperature input[type=number]").fill("0.2")
    page.locator("#generate-top-p input[type=number]").fill("0.5")
    expect(page.locator("#next-token .kept")).to_have_text(re.compile(r"keep \d of 30,522 tokens"))
    cut = page.locator(f"{ROWS}.cut")
    expect(cut.first).to_contain_text("cut")
    expect(page.locator(f"{ROWS}.first-cut")).to_have_count(1)
    expect(page.locator("#next-token .note").first).to_contain_text("more, to which the model gives")
    assert page.locator(f"{ROWS} .after").all_text_contents() != before
    assert not asked
    page.locator("#generate-strategy input").click()
    page.get_by_role("option", name="Greedy").click()
    likeliest = page.locator(f"{ROWS} bdi").first.text_content()
    expect(page.locator("#next-token .kept")).to_contain_text(f"greedy takes the likeliest token, “{likeliest}”.")
    expect(page.locator(f"{ROWS} .after").first).to_be_hidden()
    page.locator("#generate-strategy input").click()
    page.get_by_role("option", name="Contrastive").click()
    expect(page.locator("#next-token .kept")).to_contain_text("or another of the likeliest that is less like")
    page.locator("#generate-penalty-alpha input[type=number]").fill("0")
    expect(page.locator("#next-token .kept")).to_contain_text(f"likeliest token, “{likeliest}”, as greedy does.")


@pytest.mark.slow
def test_what_is_taken_after_a_penalty_is_told_as_such(open_page):
    prompt = "&text=The+cat+and+the+dog+and+the+cat+and+the&repetition_penalty=1.8"
    page = open_page(f"{LINK}{prompt}&strategy=greedy")
    first = page.locator(f"{ROWS} bdi").first.text_content()
    kept = page.locator("#next-token .kept")
    expect(kept).to_contain_text("greedy takes the likeliest token after the controls, “")
    expect(kept).not_to_contain_text(f"“{first}”")


@pytest.mark.slow
@pytest.mark.parametrize(("prompt", "dots"), [("%20%20", 0), ("%5BSEP%5D+%5BCLS%5D", 0), ("The+___+sat", 1)])
def test_only_behind_a_word_do_tokens_go_on_with_one(open_page, prompt, dots):
    page = open_page(f"{LINK}&text={prompt}")
    expect(page.locator(ROWS).first).to_be_visible()
    words = page.locator(f"{ROWS} bdi").all_text_contents()
    assert any(word.startswith("…") for word in words) == bool(dots), words


@pytest.mark.slow
def test_what_is_kept_is_shown_where_all_of_the_likeliest_are_cut(open_page):
    page = open_page(f"{LINK}&text=The+little+girl+went+to+the&temperature=1&top_p=1&typical_p=0.05")
    kept = page.locator(f"{ROWS}:not(.cut)")
    expect(kept).to_have_count(3)
    assert all(int(place) > 50 for place in kept.locator(".place").all_text_contents())
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV of before and after").click()
    rows = list(csv.DictReader(saved.value.path().read_text("utf-8-sig").splitlines()))
    left = page.locator("#next-token .stages tbody tr").last.locator("td").first.text_content()
    after = [float(row["probability_after"]) for row in rows]
    assert sum(share > 0 for share in after) == int(left) and sum(after) == pytest.approx(1)


@pytest.mark.slow
def test_the_table_says_what_each_control_leaves(open_page):
    page = open_page(LINK + "&temperature=0.5&top_p=0.8&top_k=20")
    rows = page.locator("#next-token .stages tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(2)).to_contain_text("top k 20")
    expect(rows.nth(2).locator("td").first).to_have_text("20")
    link = page.locator(".take-away:visible a", has_text="JSON").get_attribute("href")
    facts = json.loads(base64.b64decode(link.partition("base64,")[2]))
    assert facts["token_count"] == 8
    assert len(facts["tokens"]) == 50


@pytest.mark.slow
def test_a_link_to_what_follows_the_written_text_writes_it_again(open_page):
    page = open_page(f"{LINK}&after=written&text=The+snail+went&length=5")
    expect(page.locator("#next-token .ending")).to_have_text(re.compile(r"The snail went( \S+){5} \?$"))
    expect(page.locator(".note:visible", has_text="A link writes the text anew")).to_be_visible()
    page.locator("#generate-text textarea").fill("The dog went")
    expect(page.locator(".note:visible", has_text="Nothing is written from this prompt yet")).to_be_visible()


@pytest.mark.slow
def test_the_text_written_so_far_can_be_looked_behind(open_page):
    page = open_page(LINK)
    expect(page.locator("#next-token .ending")).to_have_text(re.compile("opened the door and \\?$"))
    page.get_by_label("The text written so far").check()
    expect(page.locator("#next-token .ending")).not_to_have_text(re.compile("opened the door and \\?$"))
    expect(page.locator("#next-token .ending")).to_contain_text("he will be very")


@pytest.mark.slow
def test_beams_are_as_many_as_the_strategy_has(open_page):
    page = open_page("?tab=generate")
    page.get_by_role("button", name="Beam search", exact=True).click()
    expect(page.locator(".caption:visible")).to_contain_text("beam search, beams 5")
    page.locator("#sheet .tok").nth(3).click()
    popover = page.locator("#sheet .sheet-popover")
    expect(popover.locator(".option.chosen")).to_contain_text("taken")  # a search cuts nothing away
    expect(popover).not_to_contain_text(re.compile("cut|after"))
    page.get_by_role("tab", name="Beams", exact=True).click()
    expect(page.locator(".caption:visible")).to_contain_text("5 beams")
    page.get_by_role("tab", name="Write", exact=True).click()
    page.locator("#generate-beams input[type=number]").fill("3")
    page.locator("#generate-beams input[type=number]").press("Tab")
    page.get_by_role("tab", name="Beams", exact=True).click()
    expect(page.locator(".caption:visible")).to_contain_text("3 beams")


def test_beams_are_drawn_as_they_live_and_die(open_page):
    page = open_page("?tab=generate&show=beams&beam_width=3&beam_tokens=5")
    expect(page.locator(".beam-tree g.lives").first).to_be_visible()
    expect(page.locator(".beam-tree .step")).to_have_count(5)
    expect(page.locator(".beam-tree g.winning")).to_have_count(5)
    last = page.locator(".beam-tree g.winning").last
    last.click()
    expect(page.locator(".beam-told")).to_have_text(last.locator("title").text_content())
    expect(page.locator(".beam-told")).to_contain_text("%")
    told = page.locator(".beam-tree g.told title")
    page.locator(".beam-tree").focus()
    for key in ("Home", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
        page.keyboard.press(key)
        expect(told).to_have_count(1)
        expect(page.locator(".beam-told")).to_have_text(told.text_content())
    expect(page.locator(".beam-tree g[data-step='0']").nth(1)).to_have_class(re.compile("told"))
    page.keyboard.press("End")
    expect(last).to_have_class(re.compile("told"))
    expect(page.locator(".completions:visible li")).to_have_count(3)
    with page.expect_download() as download:
        page.locator(".take-away:visible button", has_text="PNG").click()
    assert download.value.suggested_filename == "beams-MiniLM-causal.png"
    dropped = page.get_by_label("Show what was dropped")
    dropped.uncheck()
    expect(page.locator(".beam-tree g.dropped")).to_have_count(0)
    expect(page).to_have_url(re.compile("dropped=false"))
    other = open_page("?" + page.url.partition("?")[2])
    expect(other.get_by_label("Show what was dropped")).not_to_be_checked()
    expect(other.locator(".beam-tree g.lives").first).to_be_visible()
    expect(other.locator(".beam-tree g.dropped")).to_have_count(0)
