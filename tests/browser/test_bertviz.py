"""What bertviz draws, in its frame, in a real browser."""

from playwright.sync_api import expect

# What a frame draws is in sight as a whole, once the page has heard how high it is. Its policy bars wait_for_function.
IS_WHOLE = """html => new Promise(done => {
  const isWhole = () => html.scrollWidth <= innerWidth && html.scrollHeight <= innerHeight;
  const look = () => (isWhole() ? done(true) : setTimeout(look, 50));
  setTimeout(() => done(false), 30_000);
  look();
})"""


def test_bertviz_draws_short_texts_in_a_frame_that_runs_nothing_of_theirs(open_page):
    page = open_page("?tab=attention&show=bertviz&text=A </script><script>document.title='x'</script> bone")
    frame = page.frame_locator("iframe.bertviz")
    expect(frame.locator("#vis svg")).to_be_attached(timeout=60_000)
    expect(frame.locator("text", has_text="script").first).to_be_attached()
    assert frame.locator("head title").text_content() == "bertviz" and page.title() == "Language model explorer"
    page.get_by_label("Model view").check()
    drawn = page.frame_locator("iframe.bertviz[title^='bertviz, model']")
    expect(drawn.locator("svg text", has_text="Heads")).to_be_attached()  # which the head view has not
    assert drawn.locator("html").evaluate(IS_WHOLE)
    page.locator("iframe.bertviz").focus()
    for key in ("Tab", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(drawn.locator("rect:focus")).to_have_attribute("aria-label", "Layer 1, head 1")
    expect(drawn.locator("text.detail", has_text="Layer 1, Head 1")).to_be_attached()
    page.locator("#attention-text textarea").fill("dog " * 100)
    expect(page.locator(".message.error")).to_contain_text("bertviz draws at most")
