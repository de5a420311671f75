"""Texts with formulas, and the fold at the end of a tab that says why it matters."""

import gradio as gr

LATEX = [{"left": "$$", "right": "$$", "display": True}, {"left": "$", "right": "$", "display": False}]


def build_why(text: str, title: str = "Why it matters, and what it does not show") -> None:
    """Lay out a text in Markdown, folded away, with formulas between dollar signs."""
    with gr.Accordion(title, open=False):
        gr.Markdown(text, latex_delimiters=LATEX)
