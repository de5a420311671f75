"""The endpoints about attention heads, asked as a client asks them, and the commands of the shell."""

import json

import pytest

from explorer import cli
from explorer.tabs.head_endpoints import head_endpoints

MODEL, SPAN = "MiniLM (masked)", "MiniLM (span)"


@pytest.fixture(scope="module")
def endpoints(shipped_registry):
    return {endpoint.__name__: endpoint for endpoint in head_endpoints(shipped_registry)}


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    return ended.value.code, capsys.readouterr()


def test_measures_come_with_the_patterns_they_show(endpoints):
    answer = endpoints["measure_heads"](texts=["The cat sat on the mat, and slept."], model=MODEL)
    assert json.dumps(answer)
    assert answer["source"] == "given texts" and answer["texts"] == 1
    assert len(answer["values"]["next"]) == 6 and len(answer["values"]["next"][0]) == 12
    for pattern in answer["patterns"]:
        if pattern["key"] in answer["values"]:
            assert pattern["value"] == answer["values"][pattern["key"]][pattern["layer"]][pattern["head"]]
            assert f"n = {pattern['count']}" in pattern["sentence"]
    assert {"layer": 0, "head": 2} in [{k: p[k] for k in ("layer", "head")} for p in answer["patterns"]]
    assert "50 %" in answer["thresholds"]


def test_heads_between_encoder_and_decoder_are_measured_when_asked_for(endpoints, capsys):
    answer = endpoints["measure_heads"](model=SPAN, stack="cross")
    assert answer["stack"] == "cross" and "induction" in answer["left_out"] and answer["decoder_reads"] == "spans"
    assert max(max(row) for row in answer["values"]["same"]) > 0.5  # on the gap
    assert any("the encoder’s token in its place" in pattern["sentence"] for pattern in answer["patterns"])
    assert endpoints["match_relations"](model=SPAN, stack="decoder")["stack"] == "decoder"
    asked = ["The cat sat on the mat.", "-m", SPAN, "--stack", "cross", "--measure", "same"]
    code, said = run(capsys, "measure-heads", *asked)
    assert code == 0 and f"Model: {SPAN} · cross · given texts: 1 text," in said.out
    code, said = run(capsys, "match-relations", "-m", MODEL, "--stack", "cross")
    assert code == 1 and f"{MODEL} has no 'cross' heads; it has: encoder." in said.err


def test_relations_say_what_chance_is(endpoints):
    answer = endpoints["match_relations"](model=MODEL, least_count=40)
    assert {one["relation"] for one in answer["relations"]} == {"det", "nsubj", "obj"}
    assert all(one["count"] >= 40 and 0 < one["baseline"] < 1 for one in answer["relations"])
    assert answer["left_out"]["amod"] == 39


def test_ablations_and_rankings_are_answered(endpoints):
    answer = endpoints["ablate_heads"](text="The cat sat on the ___.", heads=["3", "1-3"], model=MODEL, top_k=3)
    assert len(answer["heads"]) == 13 and answer["readout"] == "blanks"
    assert len(answer["places"][0]["before"]) == 3
    ranking = endpoints["rank_heads"](text="The cat slept.", model=MODEL)
    assert ranking["done"] == ranking["head_count"] == 72
    assert all(0 <= effect < 1 for row in ranking["effects"]["encoder"] for effect in row)


def test_the_shell_measures_and_ablates(capsys, shipped_registry):
    code, said = run(capsys, "measure-heads", "The cat sat on the mat.", "-m", MODEL)
    assert (
        code == 0 and "given texts: 1 text," in said.out and "Layer 1 head 3 attends to the previous token" in said.out
    )
    code, said = run(capsys, "ablate-heads", "The cat sat on the ___.", "--head", "1-3", "-m", MODEL, "--json")
    assert code == 0 and json.loads(said.out)["heads"] == [["encoder", 0, 2]]
    code, said = run(capsys, "ablate-heads", "The cat slept.", "-m", MODEL)
    assert code == 0 and "72 heads" in said.out and "Attention is not explanation" in said.out


def test_the_shell_reads_a_treebank(capsys, tmp_path, shipped_registry):
    file = tmp_path / "mine.conllu"
    rows = [("the", 2, "det"), ("cat", 3, "nsubj"), ("slept", 0, "root")]
    lines = [
        f"{place}\t{word}\t_\t_\t_\t_\t{head}\t{relation}\t_\t_" for place, (word, head, relation) in enumerate(rows, 1)
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, said = run(capsys, "match-relations", str(file), "-m", MODEL, "--least-count", "1")
    assert code == 0 and "det" in said.out and "mine.conllu: 1 sentence, 3 words" in said.out
    file.write_text("no treebank\n", encoding="utf-8")
    code, said = run(capsys, "match-relations", str(file), "-m", MODEL)
    assert code == 1 and "cannot be read as CoNLL-U" in said.err


def test_what_the_shell_is_asked_wrongly_it_says(capsys, shipped_registry):
    for arguments in (
        ["measure-heads", "--measure", "size"],
        ["ablate-heads", "The cat.", "--head", "9-9", "-m", MODEL],
    ):
        code, said = run(capsys, *arguments)
        assert code == 1 and said.err.startswith("explorer: ")
    code, said = run(capsys, "measure-heads", "a b", "--measure", "next", "-m", "MiniLM (causal)")
    assert code == 1 and "reads from left to right" in said.err
