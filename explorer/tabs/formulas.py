"""Texts with formulas: the question that a tab answers, and the fold at its end that says why it matters."""

import gradio as gr

LATEX = [{"left": "$$", "right": "$$", "display": True}, {"left": "$", "right": "$", "display": False}]
WHY_TITLE = "Why it matters"
TO_WHY = f"<button type='button' class='to-why'>{WHY_TITLE} ↓</button>"  # page.js opens the tab's fold


def build_question(question: str, below: str = "") -> None:
    """Lay out what a tab answers, with a way to the fold of build_why.

    Args:
        question: HTML.
        below: HTML, for instance the answer.
    """
    gr.HTML(f"<h2 class='question'>{question} {TO_WHY}</h2>{below}", padding=False)


def build_why(text: str, title: str = f"{WHY_TITLE}, and what it does not show") -> None:
    """Lay out a text in Markdown, folded away, with formulas between dollar signs."""
    with gr.Accordion(title, open=False, elem_classes="why"):
        gr.Markdown(text, latex_delimiters=LATEX)
