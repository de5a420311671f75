"""Whoever walks the page by Tab sees where they are: no ring around what is focused is cut off by what is around it."""

import pytest
from playwright.sync_api import expect

STILL = "* { transition: none !important }"
STOPS = 45
MOST_CUT = 1.0  # in pixels, of the two that a ring is wide
CUT = """() => {
    const at = document.activeElement;
    if (!at?.matches(':focus-visible')) return null;
    const style = getComputedStyle(at), box = at.getBoundingClientRect();
    const wide = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    let most = 0;
    for (let around = at.parentElement; around && around !== document.body; around = around.parentElement) {
        const {overflowX, overflowY} = getComputedStyle(around), edge = around.getBoundingClientRect();
        if (overflowX !== 'visible') most = Math.max(most, edge.left - box.left + wide, box.right + wide - edge.right);
        if (overflowY !== 'visible') most = Math.max(most, edge.top - box.top + wide, box.bottom + wide - edge.bottom);
        if (most) break;
    }
    return [most, style.outlineStyle, at.outerHTML.slice(0, 120)];
}"""


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["fill", "attention", "generate", "neighbours"])
def test_no_ring_is_cut_off(open_page, tab):
    page = open_page(f"?tab={tab}")
    expect(page.get_by_role("tab", selected=True).first).to_be_visible()
    page.add_style_tag(content=STILL)
    rings = []
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        rings.append(page.evaluate(CUT))
    found = [ring for ring in rings if ring]
    assert len(found) > STOPS / 2 and all(style == "solid" for _, style, _ in found)
    assert [ring for ring in found if ring[0] > MOST_CUT] == []
