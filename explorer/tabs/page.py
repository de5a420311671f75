"""The whole page: heading, tabs in teaching order, endpoints, links."""

import gradio as gr

from explorer.models.registry import Registry
from explorer.settings import ASSETS, settings
from explorer.tabs import TABS
from explorer.tabs.asking import Page
from explorer.tabs.chosen_model import wire_chosen_model
from explorer.tabs.endpoints import add_endpoints
from explorer.tabs.links import wire_links
from explorer.tabs.upload_room import KEPT_SECONDS, LOOK_SECONDS

HEADING = """<header class="masthead"><h1>Language model explorer</h1>
<p>Look inside pre-trained language models, without writing code.</p></header>"""
SCRIPTS = (
    "page.js",
    "work.js",
    "narrow.js",
    "fields.js",
    "heirs.js",
    "taking_away.js",
    "decoding.js",
    "tokens.js",
    "branches.js",
    "beams.js",
    "writing.js",
    "next_token.js",
    "pictures.js",
    "attention_math.js",
    "attention.js",
    "attention_several.js",
    "attention_said.js",
    "attention_lines.js",
    "attention_matrix.js",
    "attention_table.js",
    "attention_take.js",
    "attention_typing.js",
    "attention_head.js",
    "attention_all.js",
    "heads.js",
    "switches.js",
    "neighbours.js",
    "sense_map.js",
    "owner.js",
)
STYLES = (
    "style.css",
    "generate.css",
    "scores.css",
    "attention.css",
    "heads.css",
    "neighbours.css",
    "sense_map.css",
    "senses.css",
    "similarity.css",
    "fine_tune.css",
)

THEME = gr.themes.Base(
    primary_hue=gr.themes.colors.blue,
    neutral_hue=gr.themes.colors.slate,
    font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
    font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
).set(  # enough contrast; the first two are --quiet-text of style.css
    body_text_color_subdued="#5b6472",
    body_text_color_subdued_dark="#a3adbb",
    button_primary_background_fill="*primary_600",
    button_primary_background_fill_hover="*primary_700",
)


def build_page(registry: Registry) -> gr.Blocks:
    """Lay every tab out on one page; no model is loaded until it is asked for."""
    with Page(
        title="Language model explorer", analytics_enabled=False, delete_cache=(LOOK_SECONDS, KEPT_SECONDS)
    ) as page:
        page.queue(max_size=settings().most_waiting, default_concurrency_limit=None)  # quickest while it is empty
        gr.HTML(HEADING, padding=False)
        with gr.Tabs(elem_classes="page-tabs") as tabs:
            linked = [build(registry) for build in TABS]
        wire_links(page, tabs, linked)
        wire_chosen_model(linked)
        add_endpoints(registry)
    return page


def page_style() -> dict[str, str]:
    """What launch() needs to dress the page: stylesheets and scripts, all our own and local."""
    script = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)
    return {"css": style, "head": f"<script>{script}</script>"}
