"""The picture of a head says and shows what is pointed at on the page."""

import pytest
from PIL import Image
from playwright.sync_api import expect

HEAD = ".attention-head"
SENTENCE = "text=The+keys+to+the+old+cabinet+are+on+the+table.&model=MiniLM+%28masked%29"
NOTE_TEXTS = """() => {
    window.written = [];
    const {prototype} = CanvasRenderingContext2D, write = prototype.fillText;
    prototype.fillText = function (text, ...rest) {
        window.written.push(text);
        return write.call(this, text, ...rest);
    };
}"""
FRAME = (0xD5, 0x5E, 0x00)


def frame_pixels(page):
    """How many pixels of the picture are of a frame, once its sentence is that of the page."""
    page.evaluate(NOTE_TEXTS)
    with page.expect_download() as download:
        page.locator(f"{HEAD} [data-take=png]").click()
    assert page.locator(f"{HEAD} .head-said").text_content() in page.evaluate("window.written")
    colours = Image.open(download.value.path()).convert("RGB").getcolors(1 << 24)
    return sum(count for count, colour in colours if colour == FRAME)


@pytest.mark.slow
def test_a_picture_of_a_matrix_holds_the_cell_that_is_pinned(open_page):
    page = open_page(f"?tab=attention&{SENTENCE}&look=matrix.p3.k9")
    said = page.locator(f"{HEAD} .head-said")
    expect(said).to_contain_text("“to” (token 4) looks at “the” (10): ")
    assert frame_pixels(page) > 100
    page.locator(HEAD).press("Escape")
    expect(said).to_contain_text("Strongest here: ")
    assert frame_pixels(page) == 0
