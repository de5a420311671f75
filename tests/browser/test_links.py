"""The address restores what was on the page, and Back and Forward step through it."""

import re
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import come_to_rest
from tests.browser.test_fill_blanks import BEST, bars, show, write

TEXT = "#fill-text textarea"


def in_sight(page: Page, view: str):
    return expect(page.get_by_role("tab", name=view, exact=True)).to_have_attribute("aria-selected", "true")


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def is_watched_from_left_to_right(page):
    in_sight(page, "Watch it")
    expect(page.locator(".caption:visible")).to_contain_text("left to right")
    expect(page.locator("#watch-step input[type=number]")).to_have_value("2")


def ranks_the_dog(page):
    expect(page.locator(".js-plotly-plot:visible .ytick", has_text="★ dog")).to_have_count(1)


def contrasts_the_second_blank(page):
    expect(page.get_by_role("spinbutton", name="Blank").locator("visible=true")).to_have_value("2")
    expect(page.locator(".caption:visible")).to_contain_text("Jensen-Shannon")


def compares_four_words_of_each(page):
    in_sight(page, "Several models")
    expect(bars(page)).to_have_count(8)


def opens_the_fold_of_the_languages(page):
    expect(page.locator("#fold-languages .languages tbody tr")).to_have_count(2)
    expect(page.locator("#fold-languages .caption")).to_contain_text("α = 0.7")


def shows_tokens(page):
    expect(page.locator(".piece:visible", has_text="sat")).to_have_count(1)


VIEWS = {  # what its link holds, and what is to be seen
    "watch": ({"order": "left_to_right", "step": "2"}, is_watched_from_left_to_right),
    "candidates": ({"candidates": "cat, dog\nmat"}, ranks_the_dog),
    "contrast": ({"other": "A ___ sat on an ___.", "blank": 2}, contrasts_the_second_blank),
    "compare": ({"compare": "MiniLM (masked, early)", "compared_blank": 2, "top_k": 4}, compares_four_words_of_each),
    "tokens": ({}, shows_tokens),
    "training": ({"alpha": "0.7", "languages": "German|Tamil"}, opens_the_fold_of_the_languages),
}


@pytest.mark.slow
def test_a_link_restores_the_answer(open_page):
    query = {"text": "The dog ___ the ___.", "strategy": "left_to_right", "top_k": 3, "count": 2}
    page = open_page("?" + urlencode({"tab": "fill", **query}))
    expect(page.locator(BEST)).to_contain_text("The dog")
    expect(page.locator(".caption:visible")).to_contain_text("left to right")
    expect(bars(page)).to_have_count(6)
    expect(page.locator(".completions:visible li")).to_have_count(2)
    write(page, "The bird ___ away.")
    expect(page).to_have_url(re.compile("The\\+bird"))
    assert asked(page)["top_k"] == ["3"] and asked(page)["count"] == ["2"]


@pytest.mark.parametrize(
    "view",
    [
        "compare",
        "training",
        *(pytest.param(view, marks=pytest.mark.slow) for view in ("watch", "candidates", "contrast", "tokens")),
    ],
)
def test_a_link_restores_every_view_and_its_own_controls(open_page, view):
    own, check = VIEWS[view]
    page = open_page("?" + urlencode({"tab": "fill", "text": "The ___ sat on the ___.", "show": view, **own}))
    check(page)
    top = "views => views.getBoundingClientRect().top + scrollY"
    before = page.locator(".views:visible").first.evaluate(top)
    page.locator("#fill-text textarea").press_sequentially(" ")
    assert page.locator(".views:visible").first.evaluate(top) == before, "no line on what to look for kept room"


@pytest.mark.slow
def test_a_link_to_an_own_sentence_holds_nothing_of_the_example(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page).to_have_url(re.compile("Tokyo"))
    write(page, "My ___.")
    expect(page).to_have_url(re.compile("My\\+___.*candidates=&other=$"))


@pytest.mark.slow
def test_nonsense_in_a_link_is_left_out(open_page):
    page = open_page("?" + urlencode({"tab": "no", "show": "<b>", "top_k": "many", "count": -1, "order": "x"}))
    in_sight(page, "Answer")
    expect(bars(page)).to_have_count(10)
    left_out = "Left out of the link, as there is no such"
    expect(page.locator(".look.block:visible")).to_contain_text(left_out)
    page = open_page("?tab=fine-tune&task=tagging&method=mix")
    told = page.locator(".look.block:visible")
    expect(told).to_contain_text(f"{left_out} choice here: How much of the model moves “mix”.")
    page.get_by_text("Race", exact=True).click()
    expect(told).to_have_count(0)


def test_back_and_forward_step_through_views_and_examples(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page).to_have_url(re.compile("Tokyo"))
    show(page, "Tokens")
    expect(page).to_have_url(re.compile("show=tokens"))
    write(page, "A sentence of ___ own.")
    expect(page).to_have_url(re.compile("own"))
    page.get_by_role("button", name="Mozart").click()
    expect(page).to_have_url(re.compile("Mozart"))
    show(page, "Models")
    expect(page).to_have_url(re.compile("tab=models"))

    page.go_back()
    in_sight(page, "Fill in the blank")
    expect(page.locator(TEXT)).to_have_value("Mozart was a famous ___.")
    page.go_back()
    expect(page.locator(TEXT)).to_have_value("A sentence of ___ own.")
    expect(page.locator(".piece:visible", has_text="own")).to_have_count(1)
    page.go_back()
    in_sight(page, "Answer")
    expect(page.locator(BEST)).to_contain_text("They flew to Tokyo")
    page.go_back()
    expect(page.locator(BEST)).to_contain_text("The teacher picked up the")
    page.go_forward()
    expect(page.locator(BEST)).to_contain_text("They flew to Tokyo")


@pytest.mark.slow
def test_quick_steps_end_where_they_should(page):
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page).to_have_url(re.compile("Tokyo"))
    for view, name in (("Tokens", "tokens"), ("Watch it", "watch"), ("Two sentences", "contrast")):
        show(page, view)
        expect(page).to_have_url(re.compile(f"show={name}"))
    page.evaluate("history.back(); setTimeout(() => history.back(), 40)")
    in_sight(page, "Tokens")
    expect(page.locator("body[data-ready]")).to_be_attached()
    assert asked(page)["show"] == ["tokens"]
    assert asked(page)["text"] == ["They flew to Tokyo, the capital of ___."]


@pytest.mark.slow
def test_a_late_answer_in_a_tab_that_was_left_does_not_take_the_address_back(page):
    page.evaluate("""() => {
        const send = window.fetch, held = [];
        let asked = 0;
        window.fetch = async (...request) => {  // the press itself is answered
            if (String(request[0].url ?? request[0]).includes("queue/join") && asked++)
                await new Promise(resolve => held.push(resolve));
            return send(...request);
        };
        window.holdNoMore = () => void (window.fetch = send);
        window.release = () => held.map(resolve => resolve()).length;
    }""")
    page.get_by_role("button", name="Capital of Japan").click()
    expect(page.locator(TEXT)).to_have_value(re.compile("Tokyo"))
    page.evaluate("holdNoMore()")
    page.get_by_role("tab", name="Models", exact=True).click()
    expect(page).to_have_url(re.compile("tab=models"))
    assert page.evaluate("release()") > 0
    come_to_rest(page)  # what was under way in the first tab has come
    assert asked(page)["tab"] == ["models"]


@pytest.mark.slow
def test_a_framed_token_comes_back_with_another_model_and_what_it_writes(open_page):
    text = "&text=The+red+fox+met+the+blue+owl&model=MiniLM+(causal)&write=3&at=decoder-5-10&look="
    said = open_page(f"?tab=attention{text}p5").locator(".attention-head .head-said")
    expect(said).to_have_text(re.compile(r"^“the” \(token 6\) looks at “"))


@pytest.mark.slow
def test_a_token_that_is_framed_no_more_stays_so_and_heads_over_each_other_come_back_without_one(open_page):
    page = open_page("?tab=attention")
    framed = page.locator(".attention-head .head-said")
    expect(framed).to_contain_text("“are” (token 8) looks at")
    page.locator(".attention-head .head-stage").press("Escape")
    expect(page).to_have_url(re.compile("look=lines"))
    again = open_page("?" + page.url.partition("?")[2])
    expect(again.locator(".attention-head .head-said")).to_contain_text("Strongest here")
    page.locator(".attention-head .lines-tokens.key .unit").nth(3).click()
    expect(page).to_have_url(re.compile("look=k3"))
    again = open_page("?" + page.url.partition("?")[2])
    expect(again.locator(".attention-head .head-said")).to_contain_text("“to” (token 4) is looked at by")
    again = open_page("?tab=attention&at=encoder-4-2&look=matrix.p7.k2")
    expect(again.locator(".attention-head .head-said")).to_have_text(
        re.compile("“are” .token 8. looks at “keys” .3.: 87\\s%")
    )
    several = open_page("?tab=attention&at=encoder-4-2&look=h4.h7")
    expect(several.locator(".attention-head")).to_have_attribute("data-heads", "2 4 7")


@pytest.mark.slow
def test_of_a_text_that_cannot_be_looked_at_nothing_is_claimed(open_page):
    text = "&text=The+red+fox+met+the+blue+owl&model=MiniLM+(causal)&write=3&at=decoder-5-10&look=01"
    page = open_page(f"?tab=attention{text}")
    expect(page.locator(".attention-head .head-said")).to_contain_text(
        "a decoder sees nothing that comes after a token"
    )
    expect(page.locator(".attention-head .head-legend")).to_have_text(re.compile("^Left out: the text .* 100 % of"))
    all_heads = open_page(f"?tab=attention{text}&show=all")
    expect(all_heads.locator(".attention-all .note").first).to_contain_text("the first text cannot look at the second")
