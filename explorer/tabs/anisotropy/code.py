"""Python that measures the corpus of the tab, and compares or searches texts; see tabs.code."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.anisotropy_results import Anisotropy, RogueDimensions, SimilarityScores
from explorer.analysis.cures import CURES
from explorer.tabs.anisotropy.material import (
    DRAWS,
    EVERY,
    FEW_DRAWS,
    MOST_ROGUES,
    PLACES,
    ROGUE_POINTS,
    read_corpus,
)
from explorer.tabs.anisotropy.text_material import OWN
from explorer.tabs.code import Asked, Said, code_of, lines_code

SENTENCES = Said("sentences")
SHIPPED = "from explorer.analysis.own_corpus import read_own_corpus"
PAIRS = "from explorer.analysis.pair_files import read_pairs"
SHIPPED_PAIRS = "from explorer.analysis.shipped_pairs import read_shipped_pairs"
FIT_TEXTS = "from explorer.analysis.fit_texts import choose_fit_texts"
JOIN = "from dataclasses import replace"


def layers_code(own: str, found: Sequence[Anisotropy]) -> str:
    """Code that measures all layers of models, of the corpus that was typed, or the shipped one."""
    imports, before = _sentences(own)
    asked = [(one.model, "measure_anisotropy", _options(own, one)) for one in found]
    return code_of(*asked, imports=imports, before=before)


def cures_code(own: str, found: Sequence[Anisotropy], components: int) -> str:
    """Code that measures all layers of a model before and after cures."""
    imports, before = _sentences(own)
    options = _options(own, found[0]) | {"cures": [one.cure for one in found], "components": components}
    return code_of((found[0].model, "measure_cures", options), imports=imports, before=before)


def rogue_code(own: str, found: RogueDimensions, k: int, value: str) -> str:
    """Code that finds the dimensions that add most to the mean cosine, and, if measured, what is lost without k."""
    imports, before = _sentences(own)
    options = _options(own, found) | {"k": MOST_ROGUES, "random_points": ROGUE_POINTS, "places": 0}
    asked: list[Asked] = [(found.model, "find_rogue_dimensions", options)]
    if found.ablation is None:
        return code_of(*asked, imports=imports, before=before)
    layer = found.ablation.layer
    draws = DRAWS if layer == found.layer_count - 1 else FEW_DRAWS
    lost = {"found": Said("result_1"), "sentences": SENTENCES, "layer": layer, "k": k, "places": PLACES}
    asked.append((found.model, "ablate_rogues", lost | {"value": value, "draws": draws}))
    made = "replace(result_1, ablation=result_2)"
    return code_of(*asked, imports=[*imports, JOIN], before=before, made=made)


def similarity_code(own: str, which: str, typed: str, scores: Sequence[SimilarityScores]) -> str:
    """Code that compares cosines of pairs with people's scores.

    Args:
        own: The corpus that cures are fitted on, as typed.
        which: A key of SHIPPED_PAIRS, or OWN.
        typed: The visitor's own pairs.
        scores: Of each model.
    """
    cures = {one.model: list(dict.fromkeys(score.cure for score in one.scores)) for one in scores}
    needs_fit = any(CURES[cure].needs_fit for some in cures.values() for cure in some)
    imports, before = _sentences(own) if needs_fit else ([], [])
    if which == OWN:
        imports.append(PAIRS)
        before += [lines_code("lines", typed), "pairs = read_pairs(lines)"]
    else:
        imports.append(SHIPPED_PAIRS)
        before.append(f"pairs = read_shipped_pairs({which!r}).pairs")
    options: dict[str, object] = {"pairs": Said("pairs"), "name": scores[0].name}
    if needs_fit:
        imports.append(FIT_TEXTS)
        before.append(f"texts, _ = choose_fit_texts(pairs, sentences, {read_corpus(own).name!r})")
        options["fit_texts"] = Said("texts")
    asked = [(model, "compare_similarity", options | {"cures": some}) for model, some in cures.items()]
    return code_of(*asked, imports=imports, before=before)


def search_code(own: str, model: str, options: dict[str, object], cures: Sequence[str]) -> str:
    """Code that finds the texts nearest to a query after each cure; the options are of find_texts."""
    imports, before = _sentences(own)
    before.append("texts = list(dict.fromkeys(sentences))")
    texts = {"texts": Said("texts")}
    asked = [(model, "find_texts", options | texts | {"cure": cure}) for cure in cures]
    return code_of(*asked, imports=imports, before=before)


def _sentences(own: str) -> tuple[list[str], list[str]]:
    """Imports, and lines that name the corpus `sentences`."""
    if not own.strip():
        return [SHIPPED], [f"sentences = read_own_corpus()[::{EVERY}]"]
    return [], [lines_code("lines", own), "sentences = [line.strip() for line in lines if line.strip()]"]


def _options(own: str, one: Anisotropy | RogueDimensions) -> dict[str, object]:
    """What was measured, as the analyses take it."""
    protocol, corpus = one.protocol, read_corpus(own)
    return {"sentences": SENTENCES, "corpus": corpus.name, "unit": protocol.unit, "specials": protocol.specials}
