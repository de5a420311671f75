"""The views "Similarity" and "Search", driven as a visitor drives them, on few texts so that it is quick."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

SLOW = 120_000  # the first forward passes on a busy machine
CORPUS = ["It rained all day.", "A king had a dog.", "She rides a <b>bicycle</b>.", "The cat is asleep.", "Snow fell."]
PAIRS = ["the cat sat\ta cat was sitting\t4.5", "a king\ta green bicycle\t0", "it rains\tit does not <i>rain</i>\t1",
         "a dog\tan owl\t2", "snow fell\tthere was snow\t4"]  # fmt: skip


def link(show, **fields):
    given = {"own": "\n".join(CORPUS), "show": show} | fields
    return "?tab=anisotropy&" + "&".join(f"{name}={quote(value)}" for name, value in given.items())


def test_own_pairs_are_compared_before_and_after_a_cure(open_page, tmp_path):
    page = open_page(link("similarity", pairs="own", pair_cure="z_score", pair_models=""))
    expect(page.locator("#similarity-refused .message.error")).to_contain_text("no pairs yet", timeout=SLOW)
    file = tmp_path / "pairs.tsv"
    file.write_text("\n".join(PAIRS), encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.locator("#similarity-file").click()
    chooser.value.set_files(file)
    rows = page.locator("#similarity-table tbody tr")
    expect(rows).to_have_count(4, timeout=SLOW)
    expect(page.locator(".message.error:visible")).to_have_count(0)
    expect(rows.nth(2)).to_contain_text(re.compile("z-scores.*[0-9]+ −?[0-9]+ to [0-9]+", re.DOTALL))
    expect(page.locator("#similarity-plot .js-plotly-plot")).to_be_visible()
    expect(page.locator("#similarity-parting .near-uses li").first).to_contain_text("score:")
    expect(page.locator("#similarity-parting .near-uses i i")).to_have_count(0)
    page.get_by_label("best", exact=True).check()
    expect(rows.nth(2)).to_contain_text("layer")
    expect(rows).to_have_count(3)
    expect(page.locator("#similarity-table")).to_contain_text("That flatters")
    expect(page).to_have_url(re.compile("pair_layer=best"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.slow
def test_a_query_finds_sentences_before_and_after_a_cure(open_page):
    page = open_page(link("search", query="the weather was wet"), width=390)
    items = page.locator("#search-columns li")
    expect(items).to_have_count(2 * len(CORPUS), timeout=SLOW)
    expect(items.first).to_contain_text("It rained all day.")
    page.locator("#search-query textarea, #search-query input").first.fill("a cat asleep")
    expect(items.first).to_contain_text("The cat is asleep.")
    expect(page.locator("#search-columns")).to_contain_text("<b>bicycle</b>")
    expect(page).to_have_url(re.compile("query=a\\+cat"))
    page.locator("#search-query textarea, #search-query input").first.fill(" ")
    expect(page.locator("#search-refused .message.error")).to_contain_text("There is no query")
    expect(items).to_have_count(2 * len(CORPUS))  # the answer before stays, dimmed
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
def test_on_a_phone_what_is_wrong_with_a_query_is_said_in_sight(open_page):
    page = open_page(link("search", query="the weather was wet"), width=390, height=600)
    page.locator("#search-query textarea, #search-query input").first.fill(" ")
    expect(page.locator("#search-refused .message.error")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(page.locator("#search-refused .message.afloat")).to_have_count(0)


@pytest.mark.slow
def test_what_is_too_long_for_a_link_leaves_the_rest_in_it(open_page):
    page = open_page("?tab=anisotropy")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    remember = """([own, pairs]) => {
        const names = ['own', 'show', 'pairs', 'own_pairs', 'query'];
        explorer.remember('anisotropy', true, names, {}, [own, 'layers', 'own', pairs, 'cats']);
    }"""
    for own, pairs, kept, words in (
        ("x" * 3_000, PAIRS[0], {"own", "own_pairs", "query"}, "Copied"),
        ("x" * 9_000, PAIRS[0], {"own_pairs", "query", "without"}, "Copied, without your sentences: too long"),
        ("x" * 2_500, PAIRS[0] * 80, {"own", "query", "without"}, "Copied, without your pairs: too long"),
    ):
        page.evaluate(remember, [own, pairs])
        named = page.evaluate("[...new URLSearchParams(location.search).keys()]")
        assert set(named) == {"tab", "show", "pairs"} | kept
        said = page.locator("button[data-action=link]:visible").first
        said.click()
        expect(said).to_have_text(words)
        said.click()  # again, while it says so
        expect(said).to_have_text(re.compile("^Copy link$"))
    reopened = open_page(page.evaluate("location.search"))
    left = "Too long for a link, and so not in this one: Your pairs. What stands here does without"
    expect(reopened.locator(".look.block:visible")).to_contain_text(left)
