"""Vectors, neighbours and senses as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.terminal import columns, percent

if TYPE_CHECKING:
    from explorer.analysis.corpus_results import CorpusOccurrences
    from explorer.analysis.embedding_results import NearUses, Occurrences, StaticNeighbours
    from explorer.analysis.projection_results import Projection
    from explorer.analysis.sense_results import CuredSenses, Estimate, PairedUses, SenseScores

MOST_SHOWN = 20  # uses of a corpus
SHOWN_AROUND = 40  # characters of a sentence on either side of a use


def describe_occurrences(result: Occurrences) -> str:
    """One line for each use, with the length of its vector in the last layer asked for."""
    lengths = (result.vectors[-1] ** 2).sum(axis=-1) ** 0.5
    rows = [["use", "length", "tokens", "sentence"]]
    uses = zip(result.sentences, result.positions, result.tokens, lengths, strict=True)
    for number, (sentence, (start, end), tokens, length) in enumerate(uses):
        rows.append([number, f"{length:.2f}", " ".join(tokens), around(sentence, start, end)])
    layers, points, dim = result.vectors.shape
    about = f"{points:,} vectors of {dim:,} numbers in each of {layers} layers ({', '.join(map(str, result.layers))})"
    model = f"Model: {result.model} · layer 0 = input embeddings · length: in layer {result.layers[-1]}"
    return columns(rows, right=[0, 1]) + "\n\n" + "\n".join([*result.remarks, about, model])


def describe_corpus(result: CorpusOccurrences) -> str:
    """What was found in a corpus, its first uses, and where the vectors are."""
    uses = result.uses
    rows = [["use", "line", "sentence"]]
    shown = zip(uses.lines[:MOST_SHOWN], uses.sentences, uses.positions, strict=False)
    rows += [[number, line, around(sentence, *span)] for number, (line, sentence, span) in enumerate(shown)]
    count = len(uses.sentences)
    more = [f"… and {count - MOST_SHOWN:,} more; --json prints all."] if count > MOST_SHOWN else []
    kept = " (kept from before)" if result.is_from_cache else ""
    about = f"{count:,} uses with vectors; {uses.found:,} in the {uses.sentences_read:,} lines of {uses.corpus}"
    layers, points, dim = result.occurrences.vectors.shape
    where = f"Vectors{kept}: {result.file} [{layers} layers, {points:,} uses, {dim} numbers]"
    return (
        columns(rows, right=[0, 1]) + "\n\n" + "\n".join([*more, *uses.remarks, about, where, f"Model: {result.model}"])
    )


def describe_near_uses(result: NearUses) -> str:
    """One line for each neighbour, nearest first."""
    rows = [["cosine", "use", "sense", "sentence"]]
    for one in result.neighbours:
        rows.append([f"{one.cosine:.3f}", one.index, one.sense, around(one.sentence, one.start, one.end)])
    query = f"Query: {around(result.sentence, result.start, result.end)}"
    about = f"Model: {result.model} · {result.vector} · nearest of {result.count:,} uses"
    return "\n\n".join([query, columns(rows, right=[0, 1]), "\n".join([*result.remarks, about])])


def describe_static_neighbours(result: StaticNeighbours) -> str:
    """One line for each neighbour, nearest first."""
    rows = [["cosine", "word", "token"]]
    rows += [[f"{one.cosine:.3f}", one.text, one.token] for one in result.neighbours]
    about = f"Vector of: {' '.join(result.tokens)}\nSource: {result.source} · {result.count:,} words"
    return columns(rows, right=[0]) + f"\n\n{about}"


def describe_senses(result: SenseScores) -> str:
    """One line for each layer, then what can be had without a model."""
    rows = [["layer", "nearest use", "centroid", "silhouette", "self-similarity", "random words"]]
    for layer in result.layers:
        rows.append(
            [
                layer.layer,
                _share(layer.nearest),
                _share(layer.centroid),
                _number(layer.silhouette),
                _number(layer.self_similarity),
                _number(layer.baseline) if layer.baseline else "-",
            ]
        )
    bags = "not counted" if result.bag_of_words is None else percent(result.bag_of_words)
    without = (
        f"Without a model: chance {percent(result.chance_nearest)} for the nearest use, "
        f"{percent(result.chance_centroid)} for the sense centroid · "
        f"most frequent sense {percent(result.most_frequent)} · bag of words {bags}"
    )
    senses = ", ".join(f"{sense} {count}" for sense, count in result.senses)
    about = f"{result.uses:,} uses: {senses}\nModel: {result.model} · {result.intervals}"
    return columns(rows, right=range(6)) + "\n\n" + "\n".join([without, *result.remarks, about])


def describe_cured_senses(result: Sequence[CuredSenses]) -> str:
    """One line for each layer and cure, with the uses that the cure changed."""
    rows = [["layer", "cure", "nearest use", "gained, lost", "p", "centroid", "gained, lost", "p"]]
    for place in range(len(result[0].layers)):
        for one in result:
            score, changed = one.scores.layers[place], one.layers[place]
            nearest, centroid = _changes(changed.nearest), _changes(changed.centroid)
            rows.append([score.layer, one.cure, _share(score.nearest), *nearest, _share(score.centroid), *centroid])
    scores = result[0].scores
    remarks = dict.fromkeys(remark for one in result for remark in one.scores.remarks)
    about = f"{scores.uses:,} uses · Model: {scores.model} · {scores.intervals} · p: exact sign test, two-sided"
    return columns(rows, right=(0, 2, 3, 4, 5, 6, 7)) + "\n\n" + "\n".join([*remarks, about])


def _changes(uses: PairedUses) -> tuple[str, str]:
    return f"+{uses.gained} -{uses.lost}", f"{uses.p:.3f}"


def describe_projection(result: Projection) -> str:
    """How far the map of each layer may be believed, then where each use is on the last one."""
    maps = result.maps
    axes = ["x", "y", "z"][: maps.coordinates.shape[2]]
    quality = [["vector", "variance", "trustworthiness", "same sense on the map", "in full"]]
    for place, (vector, one) in enumerate(zip(result.vectors, result.quality, strict=True)):
        share = "-" if maps.shares is None else percent(float(maps.shares[place].sum()))
        trust = "-" if one.trustworthiness is None else f"{one.trustworthiness:.3f}"
        senses = [
            "-" if value is None else percent(value) for value in (one.nearest_on_map, one.nearest_in_space)
        ]  # fmt: skip
        quality.append([vector, share, trust, *senses])
    rows = [[*axes, "use", "sense", "sentence"]]
    for use, (numbers, sentence) in enumerate(zip(maps.coordinates[-1].tolist(), result.sentences, strict=True)):
        where = [f"{number:.3f}" for number in numbers]
        rows.append([*where, use, result.senses[use], around(sentence, *result.positions[use])])
    about = (
        f"Model: {result.model} · {maps.method} of {len(result.sentences):,} uses · coordinates: {result.vectors[-1]}"
    )
    tables = [columns(quality, right=range(1, 5)), columns(rows, right=range(len(axes) + 1))]
    return "\n\n".join([*tables, "\n".join([*result.remarks, about])])


def around(sentence: str, start: int, end: int) -> str:
    """A use in braces, and what stands beside it."""
    before, behind = sentence[:start], sentence[end:]
    if len(before) > SHOWN_AROUND:
        before = "…" + before[-SHOWN_AROUND:]
    if len(behind) > SHOWN_AROUND:
        behind = behind[:SHOWN_AROUND] + "…"
    return " ".join(f"{before}{{{sentence[start:end]}}}{behind}".split())


def _share(estimate: Estimate) -> str:
    return f"{percent(estimate.value)} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def _number(estimate: Estimate) -> str:
    return f"{estimate.value:+.2f} [{estimate.low:+.2f}, {estimate.high:+.2f}]"
