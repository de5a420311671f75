"""Commands of the shell about anisotropy, what causes it, what cures it, and similarity."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from explorer import terminal_anisotropy
from explorer.models.catalogue import VECTOR_MODEL
from explorer.shell import JsonOption, ModelOption, print_result, run
from explorer.shell_files import FileLines

CorpusOption = Annotated[
    str,
    typer.Option(
        "--sentences",
        "-s",
        help="A UTF-8 file, or - for standard input, with a sentence in each line; otherwise the explorer's own.",
    ),
]
LayersOption = Annotated[
    list[int] | None, typer.Option("--layer", help="0 = input embeddings, -1 = the last; several times; else all.")
]
UnitOption = Annotated[str, typer.Option(help="What has a vector: tokens, or words (the mean of their tokens).")]
SpecialsOption = Annotated[bool, typer.Option("--specials", help="Count special tokens, too.")]
CureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cure", help="none, mean_removal, z_score, all_but_the_top, whitening, rank; several times; else none."
    ),
]
ComponentsOption = Annotated[int, typer.Option(help="Principal components that all_but_the_top takes away.")]


def measure_anisotropy(
    sentences: CorpusOption = "",
    model: ModelOption = VECTOR_MODEL,
    layer: LayersOption = None,
    unit: UnitOption = "tokens",
    specials: SpecialsOption = False,
    cure: CureOption = None,
    components: ComponentsOption = 3,
    least_uses: Annotated[int, typer.Option(help="Self-similarity is of tokens or words with so many uses.")] = 5,
    seed: Annotated[int, typer.Option(help="Of what is drawn for histograms and explainable variance.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how far the vectors of each layer point the same way, before and after cures."""
    from explorer.analysis import measure_cures

    options = {"layers": layer, "unit": unit, "specials": specials, "least_uses": least_uses, "seed": seed}
    ask = partial(measure_cures, **read_corpus(sentences), **options, cures=cure or ["none"], components=components)
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_anisotropy.describe_anisotropy)


def find_rogue_dimensions(
    sentences: CorpusOption = "",
    model: ModelOption = VECTOR_MODEL,
    k: Annotated[int, typer.Option("-k", help="How many dimensions of each layer.")] = 5,
    layer: LayersOption = None,
    unit: UnitOption = "tokens",
    specials: SpecialsOption = False,
    places: Annotated[int, typer.Option(help="Predictions that are compared with and without them; 0 = none.")] = 200,
    ablated: Annotated[int, typer.Option(help="The layer they are taken from for this; -1 = the last.")] = -1,
    value: Annotated[str, typer.Option(help="What is put in their place: mean, zero.")] = "mean",
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Find the dimensions that make up the cosine, and see what predictions lose without them."""
    from explorer.analysis import find_rogue_dimensions

    options = {"layers": layer, "unit": unit, "specials": specials, "places": places, "value": value, "seed": seed}
    ask = partial(find_rogue_dimensions, **read_corpus(sentences), k=k, ablated=ablated, **options)
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_anisotropy.describe_rogues)


def compare_similarity(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="A file: two words or sentences and a score a line.")],
    model: ModelOption = VECTOR_MODEL,
    layer: LayersOption = None,
    pooling: Annotated[
        list[str] | None, typer.Option("--pooling", help="cls, last, mean, own_mean, max; several times.")
    ] = None,
    cure: CureOption = None,
    components: ComponentsOption = 3,
    as_json: JsonOption = False,
) -> None:
    """Compare cosines of words or sentences with scores given to them."""
    from explorer.analysis import compare_similarity
    from explorer.analysis.pair_files import read_pair_file

    options = {"layers": layer, "cures": cure or ["none"], "components": components}
    ask = partial(compare_similarity, pairs=read_pair_file(pairs), name=pairs.name, **options)
    ask = partial(ask, poolings=pooling or ["cls", "mean", "max"])
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_anisotropy.describe_similarity)


def find_texts(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A sentence.")],
    sentences: CorpusOption = "",
    model: ModelOption = VECTOR_MODEL,
    pooling: Annotated[str, typer.Option(help="cls, last, mean, own_mean, max.")] = "mean",
    layer: Annotated[int, typer.Option(help="0 = input embeddings, -1 = the last.")] = -1,
    cure: Annotated[str, typer.Option(help="As measure-anisotropy takes it.")] = "none",
    components: ComponentsOption = 3,
    k: Annotated[int, typer.Option("-k", help="How many.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the sentences that are nearest to one of your own."""
    from explorer.analysis import find_texts

    texts = [text for text in read_corpus(sentences)["sentences"] if text.strip()]
    options = {"pooling": pooling, "layer": layer, "cure": cure, "components": components, "k": k}
    ask = partial(find_texts, query=query, texts=texts, **options)
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_anisotropy.describe_texts)


def read_corpus(file: str) -> dict[str, object]:
    """Sentences and their name: of a file, of standard input, or those that come with the explorer.

    Raises:
        UnsuitableText: The file cannot be read.
    """
    if not file:
        from explorer.analysis.own_corpus import OWN_CORPUS, read_own_corpus

        return {"sentences": read_own_corpus(), "corpus": OWN_CORPUS}
    return {"sentences": FileLines(file), "corpus": "standard input" if file == "-" else Path(file).name}


COMMANDS = (measure_anisotropy, find_rogue_dimensions, compare_similarity, find_texts)
