"""How long a visitor waits in the tab Generate: from the press on Write to the first token on the page.

A real Chromium, a fresh program, without network; and how long the chart takes to follow a slider:

    python benchmarks/first_token.py [--rounds 12] [--json]
"""

from page_waits import SETTLE_MILLISECONDS, report_waits
from playwright.sync_api import Page

WRITE = """() => new Promise(done => {
  const began = performance.now();
  const drawn = new MutationObserver(changes => {
    if (!changes.some(change => change.addedNodes.length)) return;
    drawn.disconnect();
    done(performance.now() - began);
  });
  drawn.observe(document.querySelector('#sheet .written'), {childList: true});
  document.querySelector('button#generate-write, #generate-write button').click();
})"""
SLIDE = """value => new Promise(done => {
  const slider = document.querySelector('#generate-temperature input[type=range]');
  const began = performance.now();
  new MutationObserver((changes, drawn) => {
    drawn.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  }).observe(document.querySelector('#next-token'), {childList: true, subtree: true});
  slider.value = value;
  slider.dispatchEvent(new Event('input', {bubbles: true}));
})"""


def measure_first_tokens(page: Page, rounds: int) -> list[float]:
    """Milliseconds from the press to the first token, each for another prompt, after one that is not counted."""
    waited = []
    for number in range(rounds + 1):
        page.locator("#generate-text textarea").fill(f"The queen number {number} put on her crown and")
        page.wait_for_timeout(SETTLE_MILLISECONDS)  # the count of tokens under the prompt is asked for, too
        waited.append(page.evaluate(WRITE))
        page.wait_for_selector("#sheet:not(.writing)")
    return waited[1:]


def measure_slider(page: Page, rounds: int) -> list[float]:
    """Milliseconds from a move of the temperature to the chart drawn anew, after one that is not counted."""
    page.get_by_role("tab", name="Next token").click()
    page.wait_for_selector("#next-token li")
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    waited = []
    for number in range(rounds + 1):
        waited.append(page.evaluate(SLIDE, f"{0.5 + 0.05 * number:.2f}"))
        page.wait_for_timeout(SETTLE_MILLISECONDS / 3)
    return waited[1:]


def measure(page: Page, rounds: int) -> dict[str, list[float]]:
    """Both."""
    return {"press to first token": measure_first_tokens(page, rounds), "slider to chart": measure_slider(page, rounds)}


if __name__ == "__main__":
    report_waits(__doc__.splitlines()[0], "generate", measure, rounds=12)
