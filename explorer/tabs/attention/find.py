"""View: every head measured, on a map to press on, with the patterns that have a name."""

import gradio as gr

from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_patterns import RELATION_WORDS, THRESHOLDS, name_patterns, relation_label
from explorer.analysis.head_results import DECODER_READS, GIVEN, HeadMeasures, RelationMatches
from explorer.figures.head_maps import RELATION, head_map, map_measure, pattern_list
from explorer.figures.notes import note
from explorer.figures.sentences import caption
from explorer.figures.style import count_of
from explorer.models.card import Ability, ModelCard
from explorer.models.registry import Registry
from explorer.tabs.attention.code import asked_of
from explorer.tabs.attention.measured import Measured
from explorer.tabs.attention.readings import Ask, tidy_ask
from explorer.tabs.attention.texts import has_stacks, what_is_read
from explorer.tabs.attention.view import Prompt
from explorer.tabs.code import Asked, code_of
from explorer.tabs.messages import in_place
from explorer.tabs.taking_away import download_links
from explorer.tabs.views import View

PAPER = "https://aclanthology.org/W19-4828"
FIRST = "next"
OWN, BUILT_IN = "own", "built-in"
SOURCES = [("built-in sentences", BUILT_IN), ("your text", OWN)]
RELATIONS_ARE_BUILT_IN = "What heads find (det, obj and their like) was measured on the built-in sentences."
DECODER_IS_UNSEEN = "The encoder does not see what the decoder reads: its heads were measured on the text alone."
STACKS = [("the encoder", "encoder"), ("the decoder", "decoder"), ("cross-attention", "cross")]
INSTEAD = "previous"  # where a measure is not defined for the model


def build(registry: Registry, prompt: Prompt) -> View:
    """Lay out the view."""
    measured = Measured()
    choices = [(measure.label, key) for key, measure in MEASURES.items()]
    choices += [(f"Finds {relation_label(relation)}", RELATION + relation) for relation in RELATION_WORDS]
    with gr.Tab("Find a head", id="find") as tab:
        with gr.Row(elem_classes="controls"):
            key = gr.Dropdown(
                choices, value=FIRST, label="What heads do", filterable=False, scale=3, elem_id="find-measure"
            )
            stack = gr.Radio(STACKS, value="encoder", label="Heads of", scale=3, visible=False, elem_id="find-stack")
            source = gr.Radio(SOURCES, value=BUILT_IN, label="Measured on", scale=3, elem_id="find-source")
        heads = gr.HTML(padding=False, elem_classes="result", elem_id="found-heads")
        below = gr.HTML(padding=False, elem_classes="result", elem_id="found-below")

    @in_place(registry, outputs=2, ability=Ability.EMBED)
    def draw(
        models: Registry, model: str, text: str, second: str, new_tokens: int, key: str, stack: str, source: str,
        which: str,
    ) -> tuple:  # fmt: skip
        asked = stack if has_stacks(models.card(model)) else None
        ask = tidy_ask(models, model, Ask(model, text, second, int(new_tokens))) if source == OWN else None
        measures = measured.measures(models, model, ask, asked)
        relations = measured.relations(models, model, asked)
        patterns = name_patterns(measures, relations)
        mapped = map_measure(measures, relations, key)
        missing = ""
        if mapped is None:
            why = measures.left_out.get(key, "Too few words of the built-in set depend so.")
            label = MEASURES[key].label if key in MEASURES else key
            instead = INSTEAD if INSTEAD in measures.values else "same"
            missing = note(f"{label}: {why} The map shows “{MEASURES[instead].label}” instead.")
            mapped = map_measure(measures, relations, instead)
        if measures.decoder_reads:
            missing += note(DECODER_READS[measures.decoder_reads])
        if source == OWN:
            missing += note(RELATIONS_ARE_BUILT_IN)
            if ask.second.strip() and measures.second_text is None:
                missing += note(DECODER_IS_UNSEEN)
        drawn = missing + head_map(mapped, measures.stack, patterns, which)
        card, stacked = models.card(model), {"stack": asked} if asked else {}
        before = [(model, "measure_heads", stacked)]
        if ask:
            before = asked_of(card, ask, "measure_heads", {"texts": [ask.text]} | stacked)
        code = _code(before, (model, "match_relations", stacked))
        foot = _foot(card, measures, relations, code)
        return drawn, pattern_list(patterns, measures, THRESHOLDS) + foot

    inputs = [*prompt.inputs, key, stack, source, prompt.which]
    return View(tab, draw, inputs, [heads, below], {"measure": key, "of": stack, "on": source})


def _code(measuring: list[Asked], matching: Asked) -> str:
    """Code of measures and relations."""
    answers = [f"result_{len(measuring) + place}" for place in range(2)]
    return code_of(*measuring, matching, made=", ".join(answers))


def _foot(card: ModelCard, measures: HeadMeasures, relations: RelationMatches, code: str) -> str:
    """What was measured, on what; and all of it to take away."""
    own = what_is_read(card, measures.second_text)
    texts = own if measures.source == GIVEN else f"built-in set of {measures.texts} English sentences"
    parts = [
        f"{measures.model}, {measures.stack}",
        f"places and spread: {texts}, n = {count_of(measures.tokens, 'token')}, special tokens not among "
        "them; fewer where a token has none before or after it",
        _of_induction(measures),
        f"relations: built-in set of {relations.sentences} sentences annotated by hand, {relations.words:,} words; "
        "each best head was chosen on these same words. UD, not comparable with the paper’s",
    ]
    links = download_links(measures, "heads", of="measures", with_link=False)
    links += download_links(relations, "relations", of="relations", code=code)
    return caption(parts, PAPER) + f"<div class='two-takes'>{links}</div>"


def _of_induction(measures: HeadMeasures) -> str:
    count = measures.counts.get("induction")
    return f"induction: {count:,} random tokens, seed {measures.seed}" if count else ""
