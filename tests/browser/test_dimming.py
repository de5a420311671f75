"""An answer to the question before is dimmed as soon as another is asked, until the new one is there."""

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route

from tests.browser.conftest import come_to_rest

NEW = "The small dog ran to the"
SHADE = """wanted => {
  const parts = document.querySelectorAll('.result-side :is(.result, .figure, .caption, .take-away)');
  const shown = [...parts].filter(part => part.getClientRects().length && part.innerText.trim());
  const shade = part => (part ? getComputedStyle(part).opacity * shade(part.parentElement) : 1);
  return shown.length > 1 && shown.every(part => Math.abs(shade(part) - wanted) < 0.01);
}"""


class HeldBack:
    """What a page asks of the server, which hears of it later."""

    def __init__(self, page: Page) -> None:
        self.questions: list[Route] = []
        self.is_over = False
        page.route("**/queue/join*", lambda asked: asked.continue_() if self.is_over else self.questions.append(asked))

    def let_go(self) -> None:
        self.is_over = True
        for asked in self.questions:
            asked.continue_()


def write(box: str, text: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f"{box} textarea").fill(text)


def choose_another_use(page: Page) -> None:
    page.locator("#use-list button").nth(1).click()


def choose_another_model(page: Page) -> None:
    page.locator(".model-picker:visible input").click()
    page.get_by_role("option", name="BERT mini").click()


ASKED = {  # what sets off a new answer, by tab and view
    "fill": {"answer": write("#fill-text", f"{NEW} ___.")},
}
ASKED_TOO = {
    "fill": {view: write("#fill-text", f"{NEW} ___.") for view in ("watch", "compare")},
    "generate": {view: write("#generate-text", NEW) for view in ("next", "beams", "layers")},
    "attention": {view: write("#attention-text", NEW) for view in ("head", "all")},
    "neighbours": {"nearest": choose_another_use},
    "anisotropy": {"layers": choose_another_model},
}


@pytest.mark.parametrize(
    ("tab", "view", "ask"),
    [
        *((tab, view, ask) for tab, views in ASKED.items() for view, ask in views.items()),
        *(
            pytest.param(tab, view, ask, marks=pytest.mark.slow)
            for tab, views in ASKED_TOO.items()
            for view, ask in views.items()
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "asked",
)
def test_an_old_answer_is_dimmed_while_the_next_is_computed(open_page, tab, view, ask):
    page = open_page("?" + urlencode({"tab": tab, "show": view}))
    page.wait_for_function(SHADE, arg=1)
    before = page.locator(".result-side:visible").inner_text()
    held_back = HeldBack(page)
    ask(page)
    page.wait_for_function(SHADE, arg=0.4)
    held_back.let_go()
    come_to_rest(page)
    page.wait_for_function(SHADE, arg=1)
    assert page.locator(".result-side:visible").inner_text() != before
