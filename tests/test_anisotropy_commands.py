"""Anisotropy, rogue dimensions and similarity in the shell, and as tables."""

import json
import sys
from io import StringIO

import pytest

from explorer.analysis import compare_similarity, find_rogue_dimensions, find_texts, measure_cures
from explorer.analysis.exporting import to_csv, to_json, to_tables
from explorer.cli import main
from tests.analysis.test_anisotropy import SENTENCES
from tests.analysis.test_embeddings import own
from tests.analysis.test_similarity import PAIRS

MODEL = "GPT mini"
TEXT = "The old man sold his boat.\nThe boat was old.\n\nA man and a dog walked by the old boat.\n"


@pytest.fixture
def explorer(monkeypatch, capsys, shipped_registry):
    """Run a command line; gives back exit status, output and errors."""

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main(arguments)
        written = capsys.readouterr()
        return end.value.code, written.out, written.err

    return run


def named(table):
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


def test_anisotropy_in_the_shell(explorer, tmp_path):
    file = tmp_path / "boats.txt"
    file.write_text(TEXT, encoding="utf-8-sig")
    cures = ["--cure", "none", "--cure", "z_score"]
    status, out, _ = explorer("measure-anisotropy", "-s", str(file), "--model", MODEL, *cures, "--least-uses", "2")
    assert status == 0 and "As they are" in out and "After z_score" in out and "boats.txt" in out
    assert "isoscore" in out and "3 sentences, special tokens out" in out
    arguments = ["measure-anisotropy", "-s", "-", "--model", MODEL, "--layer", "-1", "--json"]
    [found] = json.loads(explorer(*arguments, stdin=TEXT)[1])
    assert found["layers"] == [6] and found["protocol"]["corpus"] == "standard input"
    status, _, err = explorer("measure-anisotropy", "-s", "-", "--model", MODEL, stdin="word\n")
    assert status == 1 and "Give more" in err
    file.write_bytes(b"\xe4\n")
    for command in ("measure-anisotropy", "find-rogue-dimensions"):
        status, _, err = explorer(command, "-s", str(file), "--model", MODEL)
        assert status == 1 and "not UTF-8" in err
    status, _, err = explorer("measure-anisotropy", "-s", str(tmp_path / "none"), "--model", MODEL)
    assert status == 1 and "cannot be read" in err


def test_senses_after_a_cure_in_the_shell(explorer, tmp_path):
    corpus, uses = tmp_path / "boats.txt", tmp_path / "bank.tsv"
    corpus.write_text(TEXT, encoding="utf-8")
    lines = [
        "river\tMud lay on the bank.",
        "river\tThe bank was wet.",
        "money\tThe bank lent it.",
        "money\tA bank paid.",
    ]
    uses.write_text("\n".join(lines), encoding="utf-8")
    arguments = ["score-cured-senses", "bank", "-s", str(uses), "--corpus", str(corpus), "--model", MODEL]
    status, out, _ = explorer(*arguments, "--cure", "z_score")
    assert status == 0 and "z_score" in out and "+0 -0" in out and "4 uses" in out
    found = json.loads(explorer(*arguments, "--json")[1])
    assert [one["cure"] for one in found] == ["none", "mean_removal"] and len(found[1]["layers"]) == 7
    status, _, err = explorer(*arguments, "--cure", "luck")
    assert status == 1 and "There is no cure 'luck'" in err


def test_rogue_dimensions_in_the_shell(explorer):
    status, out, _ = explorer("find-rogue-dimensions", "-s", "-", "--model", MODEL, "-k", "2", stdin=TEXT)
    assert status == 0 and "r² without top 1" in out and "Predictions at 3 places" in out and "random dim" in out


def test_similarity_and_search_in_the_shell(explorer, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("old\tnew\t1.6\nboat\tship\t9\nman\ttree\t0.5\n")
    status, out, _ = explorer("compare-similarity", str(file), "--model", MODEL, "--cure", "rank", "--pooling", "mean")
    assert status == 0 and "3 pairs of 6 texts: pairs.tsv" in out and "rank" in out
    status, out, _ = explorer("find-texts", "An old ship.", "-s", "-", "--model", MODEL, "-k", "2", stdin=TEXT)
    assert status == 0 and out.startswith("Query: An old ship.") and "nearest of 3 texts" in out
    status, _, err = explorer("compare-similarity", str(tmp_path / "none.tsv"), "--model", MODEL)
    assert status == 1 and "cannot be read" in err


def test_tables_hold_every_number():
    loose = {"sentences": SENTENCES, "least_uses": 2}
    measured = measure_cures(own("word_piece"), **loose, cures=("none", "rank"))
    tables = to_tables(measured)
    rows = named(tables["metrics"])
    assert len(rows) == 2 * 3 * len(measured[0].metrics) and {row["cure"] for row in rows} == {"none", "rank"}
    [row] = [row for row in rows if (row["cure"], row["layer"], row["metric"]) == ("rank", 1, "isoscore")]
    assert row["value"] == measured[1].metrics["isoscore"][1] and "seed 0" in row["protocol"]
    assert row["isotropic"] == measured[1].isotropic["isoscore"]
    assert sum(row["share_of_variance"] for row in named(tables["spectrum"])) == pytest.approx(6)
    assert sum(row["random_pairs"] for row in named(tables["histogram"])) == pytest.approx(6)
    assert len(tables["covariance"]) == 1 + 2 * 3 * 10 * 10

    rogue = find_rogue_dimensions(own("word_piece"), sentences=SENTENCES, k=2)
    tables = to_tables(rogue)
    assert len(tables["contributions"]) == 1 + 3 * 24 and len(tables["predictions"]) == 1 + 2
    row = named(tables["top"])[3]
    assert (row["layer"], row["rank"], row["dimension"]) == (1, 2, rogue.top[1, 1])
    assert row["r_squared_without"] == rogue.r_squared[1, 1] and row["contribution"] <= row["mean_cosine"]

    scores = compare_similarity(own("word_piece"), pairs=PAIRS, name="=pairs")
    rows = named(to_tables(scores)["similarity"])
    assert [row["spearman"] for row in rows] == [one.spearman for one in scores.scores]
    assert "'=pairs" in to_csv(to_tables(scores)["similarity"])
    texts = find_texts(own("word_piece"), query="the cat", texts=["a cat", "a dog"])
    assert named(to_tables(texts)["texts"])[0]["cosine"] == texts.found[0].cosine
    for result in (*measured, rogue, scores, texts):
        json.dumps(to_json(result), allow_nan=False)
