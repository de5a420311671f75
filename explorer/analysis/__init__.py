"""What to compute. Each analysis takes a loaded model and returns a frozen result.

Analyses need torch, and the page must be there before torch is: names are imported when first used.
"""

import sys
from importlib import import_module
from types import ModuleType

ANALYSES = {
    "fill_blanks": "explorer.analysis.fill_blanks",
    "fill_blanks_batch": "explorer.analysis.fill_blanks",
    "reveal_blanks": "explorer.analysis.reveal_blanks",
    "rank_candidates": "explorer.analysis.rank_candidates",
    "contrast_texts": "explorer.analysis.contrast_texts",
    "fill_spans": "explorer.analysis.span_filling",
    "continue_text": "explorer.analysis.generation",
    "search_beams": "explorer.analysis.beam_search",
    "tokenize_text": "explorer.analysis.tokenize_text",
    "measure_prompt": "explorer.analysis.measure_prompt",
    "compute_loss": "explorer.analysis.compute_loss",
    "draw_replacements": "explorer.analysis.compute_loss",
    "show_objective": "explorer.analysis.compute_loss",
    "find_telling_example": "explorer.analysis.compute_loss",
    "next_tokens": "explorer.analysis.next_tokens",
    "read_layers": "explorer.analysis.logit_lens",
    "score_text": "explorer.analysis.scoring",
    "score_texts": "explorer.analysis.scoring",
    "choose_option": "explorer.analysis.option_choice",
    "measure_heads": "explorer.analysis.heads",
    "match_relations": "explorer.analysis.head_relations",
    "ablate_heads": "explorer.analysis.head_ablation",
    "rank_heads": "explorer.analysis.head_ablation",
    "read_attention": "explorer.analysis.attention",
    "embed_occurrences": "explorer.analysis.embeddings",
    "stream_occurrences": "explorer.analysis.embeddings",
    "find_static_neighbours": "explorer.analysis.static_neighbours",
    "score_senses": "explorer.analysis.senses",
    "score_cured_senses": "explorer.analysis.senses",
    "measure_anisotropy": "explorer.analysis.anisotropy",
    "measure_cures": "explorer.analysis.anisotropy",
    "find_rogue_dimensions": "explorer.analysis.rogue_dimensions",
    "ablate_rogues": "explorer.analysis.rogue_dimensions",
    "compare_similarity": "explorer.analysis.similarity",
    "find_texts": "explorer.analysis.similarity",
}


def __getattr__(name: str) -> object:
    if name not in ANALYSES:
        raise AttributeError(f"there is no analysis {name!r}; choose one of: {', '.join(ANALYSES)}")
    # Two threads that import parts of transformers in different orders break each other's imports: all begin with this.
    import_module("explorer.models.loading")
    return getattr(import_module(ANALYSES[name]), name)


class _Package(ModuleType):
    """Importing analysis/fill_blanks.py would put that module in the place of the function of the same name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in ANALYSES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
