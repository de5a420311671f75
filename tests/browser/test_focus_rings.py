"""Whoever walks the page by Tab sees where they are: what has the focus is not covered, and its ring is not cut off."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import come_to_rest

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
COVER = """() => {
    const at = document.activeElement, box = at?.getBoundingClientRect();
    if (!at || at === document.body || box.width < 2 || box.height < 2) return ['', ''];
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const points = [[x, y], [box.left + 3, y], [box.right - 3, y], [x, box.top + 3], [x, box.bottom - 3]]
        .filter(([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight);
    const own = at.closest('label') ?? at.labels?.[0] ?? (at.matches('input, textarea') && at.closest('.block'));
    const isOn = over => at.contains(over) || over.contains(at) || (own && own.contains(over));
    const others = points.map(([x, y]) => document.elementFromPoint(x, y)).filter(over => over && !isOn(over));
    const said = element => element.outerHTML.slice(0, 120);
    return [said(at), !points.length ? 'out of sight' : others.length > points.length / 2 ? said(others[0]) : ''];
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


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["fill", "generate", "attention", "neighbours", "anisotropy", "fine-tune", "models"])
def test_what_has_the_focus_is_not_covered_in_any_view(open_page, tab):
    page = open_page(f"?tab={tab}")
    page.add_style_tag(content=STILL)
    views, found = page.locator(".views:visible [role=tab]:visible"), []
    for name in views.all_inner_texts():
        views.filter(has_text=name).first.click()
        come_to_rest(page)
        for _ in range(STOPS):
            page.keyboard.press("Tab")
            found.append((name, *page.evaluate(COVER)))
    assert sum(bool(at) for _, at, _ in found) > STOPS / 2
    assert [one for one in found if one[2]] == []
