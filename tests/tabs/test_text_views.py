"""What the views "Similarity" and "Search" compute, against the analyses themselves."""

from functools import partial

import gradio as gr
import pytest

from explorer.analysis import compare_similarity, find_texts
from explorer.analysis.exporting import to_tables
from explorer.analysis.fit_texts import choose_fit_texts
from explorer.analysis.pair_files import ScoredPair
from explorer.analysis.pair_results import RankedPairs
from explorer.errors import UnsuitableQuery, UnsuitableText
from explorer.tabs.anisotropy import search, similarity, tab, text_material
from explorer.tabs.anisotropy.material import Measured, Sentences, read_corpus
from explorer.tabs.anisotropy.text_material import OWN, ComparedPairs, SearchedTexts, read_pair_set
from explorer.tabs.anisotropy.view import Desk

MODEL = "MiniLM (masked)"
TYPED = (
    "the cat sat\ta cat was sitting\t4.5\nthe king\ta green bicycle\t0\nit rains\tit is raining\t5\na dog\tan owl\t2"
)
CORPUS = Sentences(
    ("It rained all day.", "A king had a dog.", "She rides a bicycle.", "The cat is asleep.", "It rained all day."),
    "five",
)  # fmt: skip


def count_runs(registry, monkeypatch):
    """How many forward passes were asked for, counted in the list that is returned."""
    runs, run = [], registry.run
    monkeypatch.setattr(registry, "run", lambda name, ask: runs.append(name) or run(name, ask))
    return runs


def drawn(view, *inputs):
    """What a view of the tab shows in the end, the message first."""
    with gr.Blocks():
        desk = Desk(gr.Dropdown(), gr.Textbox(), gr.Radio(), gr.Checkbox(), gr.Number(), gr.Slider(), Measured())
        with gr.Tabs():
            built = view(desk)
    *_, last = built.draw(MODEL, *inputs)
    assert len(last) == 1 + len(built.outputs)
    return last


def test_scores_are_those_of_the_analysis_and_are_kept(shipped_registry, monkeypatch):
    pairs, compared, cures = read_pair_set(OWN, TYPED), ComparedPairs(), ("none", "z_score")
    runs = count_runs(shipped_registry, monkeypatch)
    cosines, scores = compared.compare(shipped_registry, MODEL, pairs, CORPUS, cures)
    ask = partial(compare_similarity, pairs=pairs.pairs, cures=cures, fit_texts=CORPUS.sentences[:4])
    alone = shipped_registry.run(MODEL, ask)
    assert scores.scores == alone.scores and scores.fitted_on == "4 sentences: five"
    again = compared.compare(shipped_registry, MODEL, pairs, CORPUS, cures)
    assert again[0] is cosines and again[1] is scores and len(runs) == 2
    other = Sentences(CORPUS.sentences[:3], "three")
    assert compared.compare(shipped_registry, MODEL, pairs, other, cures)[1] is not scores
    plain = compared.compare(shipped_registry, MODEL, pairs, CORPUS, ("none",))[1]
    assert compared.compare(shipped_registry, MODEL, pairs, other, ("none",))[1] is plain, "nothing is fitted"


def test_words_are_compared_after_cures_fitted_on_words():
    words = (ScoredPair("cat", "dog", 5.0), ScoredPair("cat", "king", 1.0))
    found, said = choose_fit_texts(words, CORPUS.sentences, "five")
    assert found[:4] == ("it", "rained", "all", "day") and len(set(found)) == len(found)
    assert said == f"{len(found)} different words, each read alone: five"
    texts, said = choose_fit_texts(
        (ScoredPair("a cat", "dog", 5.0),), [str(number) for number in range(10)], "ten", most=4
    )
    assert texts == ("0", "2", "5", "7") and said == "4 of 10 sentences: ten"


def test_a_search_finds_what_the_analysis_finds_and_reads_the_texts_once(shipped_registry, monkeypatch):
    searched = SearchedTexts()
    runs = count_runs(shipped_registry, monkeypatch)
    for query in ("rain", "a sleeping cat"):
        for layer in (3, 40):
            options = {"pooling": "mean", "layer": layer}
            found = searched.find(shipped_registry, MODEL, CORPUS, query, cures=("none", "mean_removal"), **options)
            for each, cure in zip(found, ("none", "mean_removal"), strict=True):
                ask = partial(find_texts, query=query, texts=CORPUS.sentences[:4], layer=min(layer, 6), cure=cure)
                alone = shipped_registry.run(MODEL, ask)
                assert [one.index for one in each.found] == [one.index for one in alone.found]
                assert [one.cosine for one in each.found] == pytest.approx(
                    [one.cosine for one in alone.found], abs=1e-5
                )
                assert (each.vector, each.count) == (alone.vector, 4)
    assert len(runs) == 1 + 4 + 8, "all texts once, each query, and the analysis alone"


@pytest.mark.parametrize(
    ("which", "typed", "message"),
    [
        (OWN, "", "no pairs yet"),
        (OWN, "a\tb", "Line 1 is not two texts"),
        ("sts", "", "no pairs 'sts'"),
        (OWN, "a\tb\t1\n" * 3, "not all of one score"),
        (OWN, "a\tb\t1\nc\td\t2\n" * 1_600, "at most 3,000"),
        (OWN, "a" * 1_000_001, "characters"),
    ],
)
def test_pairs_that_cannot_be_compared_are_refused(which, typed, message):
    with pytest.raises(UnsuitableText, match=message):
        read_pair_set(which, typed)


@pytest.mark.parametrize(
    ("own", "query", "pooling", "message"),
    [
        ("a\nb\nc", " ", "mean", "no query"),
        ("a\nb\nc", "x" * 2_001, "mean", "2,001 characters"),
        ("a\nb\nc", "x", "median", "no pooling 'median'"),
        ("a\nb", "x", "mean", "only 2 vectors"),
    ],
)
def test_what_cannot_be_searched_is_refused(shipped_registry, own, query, pooling, message):
    with pytest.raises(UnsuitableText, match=message):
        SearchedTexts().find(
            shipped_registry, MODEL, read_corpus(own), query, pooling=pooling, layer=6, cures=("none", "mean_removal")
        )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "cure", "pooling", "message"),
    [
        (" ", "none", "mean", "There is no query"),
        ("x" * 2_001, "none", "mean", "2,001 characters"),
        ("bell\a", "none", "mean", "The text contains control characters (U+0007)"),
        ("\u200b", "none", "mean", "no token for"),
        ("x", "magic", "mean", "There is no cure"),
        ("x", "none", "median", "There is no pooling"),
    ],
)
def test_what_is_wrong_with_a_query_is_said_where_it_stands(shipped_registry, query, cure, pooling, message):
    view = partial(search.build, shipped_registry)
    said, refused, *kept = drawn(view, "\n".join(CORPUS.sentences), 6, query, cure, pooling)
    assert said == "" and "class='message error'" in refused and message in refused
    assert kept == [gr.skip()] * 2, "the old result stays"


def test_what_is_wrong_with_the_corpus_is_said_where_it_stands(shipped_registry):
    said, *kept = drawn(partial(search.build, shipped_registry), "a\nb", 6, "x", "mean_removal", "mean")
    assert "only 2 vectors" in said and not any(isinstance(one, str) for one in kept), "the old result stays"
    assert not issubclass(UnsuitableText, UnsuitableQuery)


@pytest.mark.parametrize(
    ("query", "note"), [("a cat \U0001f642", "1 of the 5 tokens, special ones included, is unknown"), ("a cat", None)]
)
def test_a_query_that_the_model_cannot_read_is_said_to_be_one(shipped_registry, query, note):
    view = partial(search.build, shipped_registry)
    said, _, columns, foot = drawn(view, "\n".join(CORPUS.sentences), 6, query, "mean_removal", "mean")
    above, _, found = columns.partition("<ol")
    assert said == "" and query in found + foot + above and "unknown to this" not in found + foot
    assert (note or "") in above and bool(note) == ("unknown to this" in above)


def test_of_a_query_that_is_too_long_it_is_said_how_far_it_is_read(shipped_registry):
    view = partial(search.build, shipped_registry)
    query = "Старый рыбак каждое утро выходил к реке и долго смотрел на воду. " * 20
    *_, short, _ = drawn(view, "\n".join(CORPUS.sentences), 6, query[:40], "mean_removal", "mean")
    *_, above, _ = drawn(view, "\n".join(CORPUS.sentences), 6, query, "mean_removal", "mean")
    assert "longer than" not in short and "The query is longer than the 512 tokens that the model reads" in above
    assert "of the 510 tokens are pieces" in above, "of what is read"


def test_what_is_wrong_with_own_pairs_is_said_below_their_box(shipped_registry):
    view, given = partial(similarity.build, shipped_registry), ("\n".join(CORPUS.sentences), 6)
    said, box, refused, table, plot, *others = drawn(view, [], OWN, *given, "a\tb", "none", "mean", "last")
    assert "class='message error'" in refused and "Line 1 is not two texts" in refused and box.visible
    assert said == "" and [table, plot, *others] == [gr.skip()] * 5, "the answer before stays, dimmed"
    typed = TYPED.replace("bicycle\t0", "bicycle\t9")
    said, _, refused, table, plot, _, parting, _ = drawn(view, [], OWN, *given, typed, "none", "mean", "last")
    assert said == refused == "" and "MiniLM" in table and plot.visible is True
    assert similarity.FEW_PAIRS in table
    assert "score: 9, rank 1" in parting and "model: rank 4" in parting and "people" not in table + parting
    said, _, refused, *_ = drawn(view, [], OWN, "a " * 500_001, 6, "", "none", "mean", "last")
    assert "at most 1,000,000" in said and not isinstance(refused, str), "that is the corpus"


def test_an_example_puts_the_controls_of_its_view_back_and_leaves_what_was_typed(shipped_registry):
    with gr.Blocks() as page, gr.Tabs():
        linked = tab.build(shipped_registry)
    names = {component._id: name for name, component in linked.fields.items()}

    def pressed(label):
        [press] = [
            fn
            for fn in page.fns.values()
            if [getattr(page.blocks.get(id), "value", "") for id, _ in fn.targets] == [label]
        ]
        return {names[to._id]: value for to, value in zip(press.outputs, press.fn(), strict=True) if to._id in names}

    said = pressed("Do the scores agree?")
    start = {"pairs": "sentences", "pair_cure": "mean_removal", "pair_pooling": "mean", "pair_layer": "last"}
    assert start.items() <= said.items() and said["pair_models"] == [similarity.SENTENCE_MODEL]
    assert said["show"] == "similarity" and "own_pairs" not in said and "cured" not in said
    said = pressed("Cures, before and after")
    assert said["cured"] == linked.fields["cured"].value and "pairs" not in said
    assert any(fills.items() >= start.items() for fills, _ in linked.look[1])


def test_no_people_are_said_to_have_scored_the_pairs(shipped_registry):
    drawings = drawn(partial(similarity.build, shipped_registry), [], "words", "", 6, "", "none", "mean", "last")
    _, _, _, table, _, taken, parting, foot = drawings
    assert "One author wrote these pairs and scored them" in table and similarity.FEW_PAIRS not in table
    assert "Agreement with the scores" in taken
    assert "people" not in taken + parting + foot
    [head, *_] = to_tables(RankedPairs("M", "made", "", (), ()))["pairs"]
    assert head[-2:] == ["place_by_score", "place_by_model"]


@pytest.mark.parametrize("cure", ["none", "mean_removal"])
@pytest.mark.parametrize("at", ["last", "best"])
def test_intervals_and_changes_are_explained_where_the_table_has_them(shipped_registry, at, cure):
    view = partial(similarity.build, shipped_registry)
    given = OWN, "\n".join(CORPUS.sentences), 6, TYPED
    _, _, _, table, _, taken, _, foot = drawn(view, [], *given, cure, "mean", at)
    has_intervals, has_changes = at == "last", at == "last" and cure != "none"
    assert ("95 of 100" in table) == ("percentile bootstrap" in taken) == has_intervals
    assert (similarity.FEW_PAIRS in table) == has_intervals and ("the layer that it is of" in table) != has_intervals
    assert ("A change in bold" in table) == ("class=change" in table) == has_changes
    assert ("cures fitted on" in taken) == ("cures fitted on" in foot) == (cure != "none")


def test_own_pairs_have_no_kinds():
    found = read_pair_set(OWN, TYPED)
    assert found.name == text_material.YOUR_PAIRS and found.kinds == ("",) * 4
    assert found.pairs[0] == ScoredPair("the cat sat", "a cat was sitting", 4.5)
