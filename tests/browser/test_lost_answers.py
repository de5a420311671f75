"""What a busy server, or the stream of its answers, would lose of what is asked in quick succession."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest
from tests.browser.test_generate import ENOUGH, PROMPT, STATUS
from tests.browser.test_links import VIEWS

# Gradio takes a stream that is about to end for open, and would never hear the answer.
# The second question is sent when the first stream has ended, and answered before the page reads that it has.
BETWEEN = """(() => {
  const plain = window.fetch, LATE_MILLISECONDS = 500;
  let joins = 0, ended, told;
  const hasEnded = new Promise(done => (ended = done)), isTold = new Promise(done => (told = done));
  window.fetch = async (resource, options) => {
    const path = new URL(resource.url ?? resource, document.baseURI).pathname;
    if (path.endsWith('/queue/join') && (joins += 1) === 2) {
      await hasEnded;
      const answer = await plain(resource, options);
      setTimeout(told, LATE_MILLISECONDS);
      window.betweenStreams = true;
      return answer;
    }
    const answer = await plain(resource, options);
    if (!path.endsWith('/queue/data') || ended.isOver) return answer;
    ended.isOver = true;
    const whole = new Response(await answer.text(), answer); // until the server ends it
    ended();
    await isTold;
    return whole;
  };
})();"""


def test_what_is_asked_between_two_streams_is_answered(open_page):
    own, check = VIEWS["compare"]
    query = {"tab": "fill", "text": "The ___ sat on the ___.", "show": "compare", **own}
    page = open_page("?" + urlencode(query), prepare=lambda page: page.add_init_script(BETWEEN))
    assert page.evaluate("betweenStreams")
    check(page)


# The press for "First" reaches the server after that for "Second".
OVERTAKEN = """(() => {
  const plain = window.fetch;
  let pass;
  const isSecondSent = new Promise(done => (pass = done));
  window.fetch = async (resource, options) => {
    const isPress = String(resource.url ?? resource).includes('/queue/join') && options.body.includes('"sample"');
    if (isPress && options.body.includes('"First"')) await isSecondSent;
    const answer = await plain(resource, options);
    if (isPress && options.body.includes('"Second"')) setTimeout(pass, 300);
    return answer;
  };
})();"""


def test_of_two_presses_the_later_one_is_written_whichever_the_server_hears_of_first(open_page):
    page = open_page("?tab=generate", prepare=lambda page: page.add_init_script(OVERTAKEN))
    for prompt in ("First", "Second"):
        page.locator(PROMPT).fill(prompt)
        page.locator(PROMPT).press("Enter")
    expect(page.locator("#sheet .given")).to_have_text("Second")
    come_to_rest(page)
    expect(page.locator("#sheet .given")).to_have_text("Second")
    expect(page.locator(STATUS)).to_have_text(ENOUGH)
    expect(page.get_by_role("link", name="CSV of steps")).to_be_visible()


@pytest.mark.slow
def test_what_was_refused_is_forgotten_as_soon_as_another_prompt_is_typed(open_page):
    page = open_page("?tab=generate")
    for _ in range(2):
        page.locator(PROMPT).fill("The " * 600)
        page.locator(PROMPT).press("Enter")
        expect(page.locator(".message.error:visible")).to_contain_text("601 tokens")
        come_to_rest(page)
        page.locator(PROMPT).fill("Once upon a time")
        expect(page.locator(".message:visible")).to_have_count(0)
        expect(page.locator("#generate-count")).to_contain_text("5 of 512 tokens")
