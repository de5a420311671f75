"""Python that embeds the uses of a word, and finds what the views of the tab show; see tabs.code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent

from explorer.analysis.embedding_results import NearUses, Occurrences
from explorer.analysis.labelled_uses import LabelledUses
from explorer.analysis.sense_scoring import draw_words
from explorer.tabs.code import Asked, Said, code_of, lines_code, options_code
from explorer.tabs.neighbours.measuring import LEAST_WORDS
from explorer.tabs.neighbours.which_vector import LAYER, Vector, ask_for

USES = "from explorer.analysis.labelled_uses import {}"
VECTORS = "from explorer.analysis.vectors import choose_vectors"
NEAR = "from explorer.analysis.neighbours import find_near_uses, prepare_points"
BOTH = "from explorer.analysis.embedding_results import UseNeighbours"
FILE = "from explorer.analysis.static_vectors import find_file_neighbours, read_static_vectors"
MAPS = "from explorer.analysis.projections import project_occurrences"
PAIRS = "from explorer.analysis.paired_maps import pair_projections"
SCORES = "from explorer.analysis.sense_scoring import {}"
ADJUSTED = "from explorer.analysis.vectors import adjust_layers"
REPLACE = "from dataclasses import replace"
WORDS = {"sentences": Said("[sentence for sentence, _ in words]"), "positions": Said("[place for _, place in words]")}


def near_code(
    word: str,
    own: str,
    typed: LabelledUses | None,
    place: int,
    found: Sequence[tuple[NearUses, dict[str, object]]],
    k: int,
    looked_up: str = "",
    file: str = "",
) -> str:
    """Code that finds the uses nearest to one, and the words nearest to the word whatever the sentence.

    Args:
        word: As typed.
        own: Likewise.
        typed: A use that was typed beside them.
        place: Of the query among all, from 0.
        found: What was found, and which vectors of all uses it is of, as choose_vectors takes them.
        k: How many were asked for.
        looked_up: The word whose nearest words were found; "" = there are none.
        file: Name of the file of word vectors that they are from; "" = they are the first model's tokens.
    """
    imports, before = _uses(word, own)
    imports += [VECTORS, NEAR, BOTH]
    if typed:
        imports.append(USES.format("LabelledUses"))
        columns = {"sentences": typed.sentences, "positions": typed.positions, "senses": typed.senses}
        joined = ", ".join(f"uses.{name} + {one!r}" for name, one in columns.items())
        before.append(f"uses = LabelledUses({joined})")
    asked, made = [], ""
    for number, (near, which) in enumerate(found, 1):
        asked.append(_embedding(near.model, near.pieces))
        points = f"prepare_points(choose_vectors(result_{number}, {options_code(which)}))"
        more = options_code({"use": place, "vector": near.vector, "k": k, "senses": Said("uses.senses")})
        made += f"    find_near_uses(\n        result_{number},\n        {points},\n        {more},\n    ),\n"
    words, options = "None", {"word": looked_up, "k": k}
    if looked_up and file:
        imports += [FILE, "from pathlib import Path"]
        before.append(f"vectors = read_static_vectors(Path({file!r}))  # a file of yours")
        words = f"find_file_neighbours(vectors, {options_code(options)})"
    elif looked_up:
        asked.append((found[0][0].model, "find_static_neighbours", options))
        words = f"result_{len(asked)}"
    made = indent(f"near=(\n{made}),\nstatic={words},\n", "    ")
    return code_of(*asked, imports=imports, before=before, made=f"UseNeighbours(\n{made})")


def map_code(word: str, own: str, found: Mapping[str, Occurrences], vector: Vector, options: dict[str, object]) -> str:
    """Code that draws a map.

    Args:
        word: As typed.
        own: Likewise.
        found: The vectors of all uses by model.
        vector: Which of them.
        options: Of project_occurrences, how they are drawn.
    """
    imports, before = _uses(word, own)
    drawn = []
    for number, occurrences in enumerate(found.values(), 1):
        how = {"senses": Said("uses.senses")} | options | ask_for(vector, occurrences)
        drawn.append(f"project_occurrences(result_{number}, {options_code(how)})")
    made = drawn[0] if len(drawn) == 1 else "pair_projections(\n" + "".join(f"    {one},\n" for one in drawn) + ")"
    asked = [_embedding(model, vector.pieces) for model in found]
    return code_of(*asked, imports=[*imports, MAPS, *[PAIRS] * (len(drawn) > 1)], before=before, made=made)


def scores_code(word: str, own: str, found: Mapping[str, Occurrences], vector: Vector, seed: int) -> str:
    """Code that scores the senses of a word in each layer, and by the chosen vector where it is no single layer.

    Args:
        word: As typed.
        own: Likewise.
        found: The vectors of all uses by model.
        vector: Which of them is chosen.
        seed: Of the random words and the intervals.
    """
    imports, before = _uses(word, own)
    is_joined = vector.combine != LAYER
    if not is_joined and vector.adjust == "none":
        options = {name: Said(f"uses.{name}") for name in ("sentences", "positions", "senses")}
        options |= {"pieces": vector.pieces, "seed": seed}
        return code_of(*((model, "score_senses", options) for model in found), imports=imports, before=before)
    uses = next(iter(found.values()))
    with_words = len(draw_words(uses.sentences, uses.positions, seed)) >= LEAST_WORDS
    if with_words:
        before.append(f"words = draw_words(uses.sentences, uses.positions, {seed})")
    asked, layers, joined = [], [], []
    for model, occurrences in found.items():
        asked.append(_embedding(model, vector.pieces))
        at, words = f"result_{len(asked)}", ""
        if with_words:
            asked.append((model, "embed_occurrences", WORDS | {"pieces": vector.pieces}))
            words = f"result_{len(asked)}"
        of_words = f"{_adjusted(words, vector.adjust)}.vectors" if words else ""
        layers.append(_scored(_adjusted(at, vector.adjust), of_words, seed))
        chosen = f"choose_vectors({{}}, {options_code(ask_for(vector, occurrences))})[None]"
        one = f"replace({at}, vectors={chosen.format(at)}, layers={at}.layers[-1:])"
        joined.append(_scored(one, chosen.format(words) if words else "", seed))
    imports += [SCORES.format("draw_words, score_vectors" if with_words else "score_vectors")]
    imports += [ADJUSTED] * (vector.adjust != "none") + [REPLACE, VECTORS] * is_joined
    made = [*layers, *joined] if is_joined else layers
    return code_of(
        *asked, imports=imports, before=before,
        made=made[0] if len(made) == 1 else "(\n" + "".join(f"    {one},\n" for one in made) + ")",
    )  # fmt: skip


def _adjusted(occurrences: str, adjust: str) -> str:
    return occurrences if adjust == "none" else f"adjust_layers({occurrences}, {adjust!r})"


def _scored(occurrences: str, words: str, seed: int) -> str:
    options = {"random_words": Said(words)} if words else {}
    return f"score_vectors({occurrences}, uses.senses, {options_code(options | {'seed': seed})})"


def _uses(word: str, own: str) -> tuple[list[str], list[str]]:
    """Imports, and lines that name the uses of a word `uses`."""
    word = " ".join(word.split())
    if not own.strip():
        return [USES.format("shipped_uses")], [f"uses = shipped_uses({word.lower()!r})"]
    imports = [USES.format("gather_uses"), "from explorer.analysis.uses import english_forms"]
    return imports, [
        lines_code("lines", own), f"uses = gather_uses(lines, {word!r}, forms=english_forms({word!r}))"
    ]  # fmt: skip


def _embedding(model: str, pieces: str) -> Asked:
    options = {"sentences": Said("uses.sentences"), "positions": Said("uses.positions"), "pieces": pieces}
    return model, "embed_occurrences", options
