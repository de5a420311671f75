"""Python that reads the attention of what was asked; see tabs.code."""

from explorer.models.card import ModelCard
from explorer.tabs.attention.readings import Ask, writes_on
from explorer.tabs.code import Asked, Said, code_of

VIEW = "from explorer.analysis.attention_view import view_attention"
PLACE = "@view@"  # attention_take.js says there which head, and what of it
WRITTEN = Said("tuple(step.token_id for step in result_1)")


def asked_of(card: ModelCard, ask: Ask, analysis: str, options: dict[str, object]) -> list[Asked]:
    """An analysis of what is read, behind what has to be asked before: the text that the model writes first.

    Args:
        card: Of the model.
        ask: What is read.
        analysis: Its name.
        options: Of it, without what is read beside the text.
    """
    if not (ask.new_tokens and writes_on(card)):
        beside = {"second_text": ask.second} if ask.second else {}
        return [(ask.model, analysis, options | beside)]
    first = {"prompt": ask.text, "strategy": "greedy", "max_new_tokens": ask.new_tokens}
    return [(ask.model, "continue_text", first), (ask.model, analysis, options | {"written": WRITTEN})]


def reading_code(card: ModelCard, ask: Ask, *, of_a_head: bool) -> str:
    """Code that reads all attention, or, with PLACE for the page to fill, one head of it."""
    asked = asked_of(card, ask, "read_attention", {"text": ask.text})
    reading = f"result_{len(asked)}"
    if of_a_head:
        return code_of(*asked, imports=[VIEW], made=f"view_attention({reading}, {PLACE})")
    return code_of(*asked, made=reading if len(asked) > 1 else "")
