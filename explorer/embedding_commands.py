"""Commands of the shell about vectors of uses, their neighbours and their senses."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from explorer import terminal_embeddings
from explorer.anisotropy_commands import ComponentsOption, CureOption, read_corpus
from explorer.models.catalogue import VECTOR_MODEL
from explorer.shell import JsonOption, ModelOption, print_result, run
from explorer.shell_files import read_lines

if TYPE_CHECKING:
    from explorer.analysis.labelled_uses import LabelledUses

WordArgument = Annotated[str, typer.Argument(metavar="WORD", help='The word; "" where each use is marked by braces.')]
SentencesOption = Annotated[
    str,
    typer.Option(
        "--sentences",
        "-s",
        help="A UTF-8 file, or - for standard input, with a sentence in each line: a {use} in braces, or all uses of "
        "the word; its sense may stand before or behind it, a tab between. Otherwise the explorer's own sentences.",
    ),
]
FormOption = Annotated[list[str] | None, typer.Option("--form", help="Another form of the word, e.g. played.")]
LayersOption = Annotated[
    list[int] | None, typer.Option("--layer", help="0 = input embeddings, -1 = the last; several times; else all.")
]
PiecesOption = Annotated[str, typer.Option(help="What a use of several tokens gets: first, mean, last.")]


def embed_occurrences(
    word: WordArgument,
    sentences: SentencesOption = "",
    model: ModelOption = VECTOR_MODEL,
    layer: LayersOption = None,
    pieces: PiecesOption = "mean",
    form: FormOption = None,
    as_json: JsonOption = False,
) -> None:
    """Embed the uses of a word; with --json all numbers."""
    from explorer.analysis import embed_occurrences

    uses = _read_uses(word, sentences, form)
    options = {"sentences": uses.sentences, "positions": uses.positions, "layers": layer, "pieces": pieces}
    found = run(model, partial(embed_occurrences, **options), needs_masked_head=False)
    print_result(found, as_json, terminal_embeddings.describe_occurrences)


def find_neighbours(
    word: WordArgument,
    sentences: SentencesOption = "",
    use: Annotated[int, typer.Option(help="Which use is compared with the others, counted from 0.")] = 0,
    query: Annotated[str, typer.Option(help="Instead: a sentence of your own with a use of the word.")] = "",
    model: ModelOption = VECTOR_MODEL,
    layer: Annotated[int, typer.Option(help="0 = input embeddings, -1 = the last.")] = -1,
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    pieces: PiecesOption = "mean",
    combine: Annotated[
        str, typer.Option(help="Which vector: layer, last_four (their sum), weighted, weighted_normalised.")
    ] = "layer",
    weight: Annotated[list[float] | None, typer.Option(help="Of weighted sums: one for each layer, in order.")] = None,
    adjust: Annotated[str, typer.Option(help="Of all uses: none, centred, z_scored.")] = "none",
    form: FormOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the uses of a word that are nearest to one of them."""
    from explorer.analysis import embed_occurrences
    from explorer.analysis.labelled_uses import gather_uses
    from explorer.analysis.neighbours import find_near_uses, prepare_points
    from explorer.analysis.vectors import choose_vectors, describe_vectors

    uses = _read_uses(word, sentences, form)
    texts, positions, senses = uses.sentences, uses.positions, uses.senses
    if query:
        own = gather_uses([query], word, forms=form or ())
        use = 0
        texts, positions, senses = own.sentences[:1] + texts, own.positions[:1] + positions, ("", *senses)
    options = {"sentences": texts, "positions": positions, "pieces": pieces}
    options["layers"] = [layer] if combine == "layer" else None
    found = run(model, partial(embed_occurrences, **options), needs_masked_head=False)
    which = {"combine": combine, "layer": layer, "adjust": adjust}
    points = prepare_points(choose_vectors(found, **which, weights=weight or ()))
    near = find_near_uses(found, points, use=use, vector=describe_vectors(found, **which), k=k, senses=senses)
    print_result(near, as_json, terminal_embeddings.describe_near_uses)


def find_static_neighbours(
    word: Annotated[str, typer.Argument(metavar="WORD", help="Any word.")],
    model: ModelOption = VECTOR_MODEL,
    file: Annotated[str, typer.Option(help="Instead of a model: a text file of GloVe or word2vec vectors.")] = "",
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words nearest to a word by vectors that know no context."""
    if file:
        from explorer.analysis.static_vectors import find_file_neighbours, read_static_vectors

        found = find_file_neighbours(read_static_vectors(Path(file)), word=word, k=k)
    else:
        from explorer.analysis import find_static_neighbours

        found = run(model, partial(find_static_neighbours, word=word, k=k), needs_masked_head=False)
    print_result(found, as_json, terminal_embeddings.describe_static_neighbours)


def score_senses(
    word: WordArgument,
    sentences: SentencesOption = "",
    model: ModelOption = VECTOR_MODEL,
    layer: LayersOption = None,
    pieces: PiecesOption = "mean",
    seed: Annotated[int, typer.Option(help="Of the random words and the intervals.")] = 0,
    without: Annotated[
        list[str] | None, typer.Option(help='A sense to leave out, e.g. "article (German)" of die; may be repeated.')
    ] = None,
    form: FormOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score how well each layer tells the senses of a word apart."""
    from explorer.analysis import score_senses
    from explorer.analysis.labelled_uses import leave_out

    uses = leave_out(_read_uses(word, sentences, form), without or ())
    options = {"sentences": uses.sentences, "positions": uses.positions, "senses": uses.senses}
    ask = partial(score_senses, **options, layers=layer, pieces=pieces, seed=seed)
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_embeddings.describe_senses)


def score_cured_senses(
    word: WordArgument,
    sentences: SentencesOption = "",
    model: ModelOption = VECTOR_MODEL,
    corpus: Annotated[str, typer.Option(help="What cures are fitted on: a sentence a line; else the explorer's.")] = "",
    cure: CureOption = None,
    components: ComponentsOption = 3,
    pieces: PiecesOption = "mean",
    seed: Annotated[int, typer.Option(help="Of the intervals.")] = 0,
    form: FormOption = None,
    as_json: JsonOption = False,
) -> None:
    """Score how well each layer tells the senses of a word apart, as the vectors are and after cures."""
    from explorer.analysis import score_cured_senses

    uses = _read_uses(word, sentences, form)
    options = {"sentences": uses.sentences, "positions": uses.positions, "senses": uses.senses, "pieces": pieces}
    options |= {"corpus": read_corpus(corpus)["sentences"], "components": components, "seed": seed}
    ask = partial(score_cured_senses, **options, cures=["none", *(cure or ["mean_removal"])])
    print_result(run(model, ask, needs_masked_head=False), as_json, terminal_embeddings.describe_cured_senses)


def project_occurrences(
    word: WordArgument,
    sentences: SentencesOption = "",
    model: ModelOption = VECTOR_MODEL,
    layer: LayersOption = None,
    method: Annotated[str, typer.Option(help="Of the map: pca, umap, tsne.")] = "pca",
    dimensions: Annotated[int, typer.Option(help="Of the map: 2 or 3.")] = 2,
    pieces: PiecesOption = "mean",
    combine: Annotated[str, typer.Option(help="Which vector: layer = a map for each, last_four, weighted.")] = "layer",
    weight: Annotated[list[float] | None, typer.Option(help="Of weighted: one for each layer, in order.")] = None,
    adjust: Annotated[str, typer.Option(help="Of all uses: none, centred, z_scored.")] = "none",
    seed: Annotated[int, typer.Option(help="Of umap and tsne.")] = 0,
    form: FormOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put the uses of a word on a map, for each layer; with --json all coordinates."""
    from explorer.analysis import embed_occurrences
    from explorer.analysis.projections import project_occurrences

    uses = _read_uses(word, sentences, form)
    options = {"sentences": uses.sentences, "positions": uses.positions, "pieces": pieces}
    options["layers"] = layer if combine == "layer" else None
    found = run(model, partial(embed_occurrences, **options), needs_masked_head=False)
    which = {"combine": combine, "weights": weight or (), "adjust": adjust}
    drawn = project_occurrences(
        found, senses=uses.senses, method=method, dimensions=dimensions, seed=seed, **which
    )  # fmt: skip
    print_result(drawn, as_json, terminal_embeddings.describe_projection)


def _read_uses(word: str, sentences: str, forms: list[str] | None) -> LabelledUses:
    from explorer.analysis.labelled_uses import choose_uses, gather_uses

    return gather_uses(read_lines(sentences), word, forms=forms or ()) if sentences else choose_uses(word, None)


COMMANDS = (
    embed_occurrences,
    find_neighbours,
    find_static_neighbours,
    project_occurrences,
    score_senses,
    score_cured_senses,
)
