"""The whole page: heading, tabs in teaching order, endpoints, links."""

import gradio as gr

from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs import TABS
from explorer.tabs.endpoints import add_endpoints
from explorer.tabs.links import wire_links

HEADING = """<header class="masthead"><h1>Language model explorer</h1>
<p>Look inside pre-trained language models, without writing code.</p></header>"""
KEPT_SECONDS = 3600  # files that Gradio keeps for a session

THEME = gr.themes.Base(
    primary_hue=gr.themes.colors.blue,
    neutral_hue=gr.themes.colors.slate,
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
    font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
)


def build_page(registry: Registry) -> gr.Blocks:
    """Lay every tab out on one page; no model is loaded until it is asked for."""
    with gr.Blocks(
        title="Language model explorer", analytics_enabled=False, delete_cache=(KEPT_SECONDS, KEPT_SECONDS)
    ) as page:
        gr.HTML(HEADING, padding=False)
        with gr.Tabs(elem_classes="page-tabs") as tabs:
            linked = [build(registry) for build in TABS]
        wire_links(page, tabs, linked)
        add_endpoints(registry)
    return page


def page_style() -> dict[str, str]:
    """What launch() needs to dress the page: stylesheet and script, both our own and local."""
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    return {"css": (ASSETS / "style.css").read_text(encoding="utf-8"), "head": f"<script>{script}</script>"}
