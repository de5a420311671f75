"""View: what the tokenizer did to the sentence."""

from functools import partial

import gradio as gr

from explorer import analysis
from explorer.figures.sentences import token_strip
from explorer.figures.token_words import bytes_note, spelling_note
from explorer.models.card import Ability
from explorer.models.registry import Registry
from explorer.tabs.code import code_of
from explorer.tabs.fill_blanks.view import Sentence
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View


def build(registry: Registry, sentence: Sentence) -> View:
    """Lay out the view."""
    with gr.Tab("Tokens", id="tokens") as tab:
        pieces = gr.HTML(padding=False, elem_classes="result")
        below = gr.HTML(padding=False)

    @in_place(registry, outputs=2, ability=Ability.FILL_BLANKS)
    def draw(models: Registry, model: str, text: str) -> tuple:
        tokenization = models.run(model, partial(analysis.tokenize_text, text=text))
        code = code_of((tokenization.model, "tokenize_text", {"text": text}))
        tokens = [piece.token for piece in tokenization.pieces]
        told = spelling_note(tokens) + bytes_note(tokens, text)
        return token_strip(tokenization), told + download_links(tokenization, "tokens", code=code)

    return View(tab, draw, [sentence.model, sentence.text], [pieces, below])
