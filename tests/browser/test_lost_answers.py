"""A question that is asked while the stream of answers ends: Gradio takes the stream for open, and would never hear."""

from urllib.parse import urlencode

from tests.browser.test_links import VIEWS

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
