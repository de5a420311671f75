"""Figures that are drawn after the page has opened."""

import gradio as gr
import pytest

from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.page import build_page


def test_a_figure_that_one_answer_draws_twice_is_in_the_page_from_the_start():
    """Gradio may keep the older of two values that come at once for what is not in the page yet."""
    page = build_page(Registry(CATALOGUE, lambda: pytest.fail("nothing is loaded")))
    plots = {block.elem_id: block for block in page.blocks.values() if isinstance(block, gr.Plot)}
    staged = {name: plot.visible for name, plot in plots.items() if "staged" in plot.elem_classes}
    drawn_twice = {"rogue-predictions", "rogue-covariance", "cures-centroid", "cures-nearest"}
    assert drawn_twice < set(staged) and all(visible is True for visible in staged.values())
