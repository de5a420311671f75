"""How long a visitor waits in the tab Neighbours: from the press on a sentence to its neighbours on the page.

A real Chromium, a fresh program, without network: the first press, each further one, and another word:

    python benchmarks/neighbours_page.py [--rounds 15] [--json]
"""

from page_waits import SETTLE_MILLISECONDS, report_waits
from playwright.sync_api import Page

PRESS = """use => new Promise(done => {
  const row = document.querySelector(`.use-list [data-use="${use}"]`);
  const wanted = row.querySelector('.use-sentence').textContent;
  const began = performance.now();
  const look = () => document.querySelector('.near-query .use-sentence')?.textContent === wanted;
  const drawn = new MutationObserver(() => {
    if (!look()) return;
    drawn.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  drawn.observe(document.querySelector('#near-columns'), {childList: true, subtree: true, characterData: true});
  row.click();
})"""
CHOOSE = """word => new Promise(done => {
  const began = performance.now();
  const drawn = new MutationObserver(() => {
    if (document.querySelector('.near-query mark')?.textContent.toLowerCase().indexOf(word)) return;
    drawn.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  drawn.observe(document.querySelector('#near-columns'), {childList: true, subtree: true, characterData: true});
  [...document.querySelectorAll('#neighbours-word [role=option]')].find(one => one.textContent.trim().endsWith(word))
    .dispatchEvent(new MouseEvent('mousedown', {bubbles: true}));
})"""
OTHER_WORDS = ("light", "match", "cell", "spring", "star")


def measure_presses(page: Page, rounds: int) -> list[float]:
    """Milliseconds from a press to its neighbours, on a page whose word has its vectors."""
    waited = []
    for number in range(rounds):
        waited.append(page.evaluate(PRESS, 3 + 17 * number % 270))
        page.wait_for_timeout(SETTLE_MILLISECONDS / 3)
    return waited


def measure_words(page: Page) -> list[float]:
    """Milliseconds from the choice of another word to the neighbours of its first use, vectors to be computed."""
    waited = []
    for word in OTHER_WORDS:
        page.locator("#neighbours-word input").click()
        page.wait_for_selector("#neighbours-word [role=option]")
        waited.append(page.evaluate(CHOOSE, word))
        page.wait_for_timeout(SETTLE_MILLISECONDS)
    return waited


def measure(page: Page, rounds: int) -> dict[str, list[float]]:
    """All of it; the first press finds the vectors on their way."""
    waited = {"first press after a start": [page.evaluate(PRESS, 1)]}
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    waited["press to neighbours"] = measure_presses(page, rounds)
    waited["another word"] = measure_words(page)
    return waited


if __name__ == "__main__":
    report_waits(__doc__.splitlines()[0], "neighbours", measure, rounds=15)
