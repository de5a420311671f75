"""The script beside a tuned model makes it again, without this package, as well as the run did."""

import ast
import os
import subprocess
import sys

import pytest
from safetensors.torch import load_file

from explorer.training.tuning.answer_windows import make_windows
from explorer.training.tuning.examples import AnsweredQuestion, ExampleSet, LabelledText, PlainText, ScoredPair
from explorer.training.tuning.scripts import answers, encoders, join_script, next_words, running, tagging, windows
from explorer.training.tuning.tagged_pieces import encode_words
from explorer.training.tuning.task import Start
from explorer.training.tuning.tasks import SCRIPTS
from explorer.training.tuning.text_windows import read_windows
from tests.analysis.tiny_models import FAMILIES
from tests.training.tiny_corpus import PEOPLE
from tests.training.tuning.toy_tasks import (
    asked,
    classed,
    compared,
    make_set,
    paired,
    rewritten,
    run,
    tagged,
    tiny_model,
    told,
)

RUNNER = """
import runpy, sys
sys.modules["explorer"] = None  # to import it is an error
folders = sys.argv[1:]
for folder in folders:
    sys.argv = ["recipe.py", "--base", folder + "/base", "--save", folder + "/again"]
    runpy.run_path(folder + "/model/recipe.py", run_name="__main__")
    print("end of", folder)
"""
TOLERANCE = 0.05


def scored(choose) -> ScoredPair:
    """As compared, one of the two at a time."""
    one = compared(choose)
    text, score = choose.choice([(one.positive, 1.0), (one.negative, 0.0)])
    return ScoredPair(one.text, text, score)


def second(choose) -> LabelledText:
    """Who comes second decides."""
    one = paired(choose)
    return LabelledText(one.text, "anna" if one.second_text in PEOPLE else "dog", one.second_text)


CASES = {  # objective, task, rule, recipe
    "encoders": (("masked", "pairs", second, {"epochs": 6}),),
    "writers": (("span", "text_to_text", rewritten, {"epochs": 8}),),
}
MORE_CASES = {
    "passages": (("masked", "answers", lambda choose: asked(choose, 12), {"epochs": 8, "length_tokens": 12}),),
    "sentences": (("masked", "similarity", compared, {"epochs": 6}),),
    "domains": (("masked", "masked", told, {"epochs": 8}),),
    "more encoders": (
        ("masked", "classification", classed, {"method": "frozen"}),
        ("masked", "tagging", tagged, {"method": "frozen"}),
        ("masked", "tagging", tagged, {"method": "lora", "epochs": 8, "learning_rate": 2e-2}),
    ),
    "whole passages": (("masked", "answers", asked, {"epochs": 8}),),
    "more sentences": (
        ("masked", "similarity", compared, {"method": "layers", "batch_size": 32}),
        ("masked", "similarity", scored, {"method": "scratch", "epochs": 6}),
    ),
    "more domains": (
        ("causal", "causal", told, {"epochs": 4, "patience": 2, "evaluations": 4}),
        ("causal", "causal", told, {"method": "lora", "length_tokens": 7, "epochs": 4}),
    ),
    "more writers": (
        ("causal", "classification", classed, {"epochs": 4}),
        ("span", "pairs", second, {"epochs": 6, "prefix": "it "}),
        ("causal", "pairs", second, {"method": "layers"}),
    ),
}


def tune(folder, objective, task, rule, given) -> tuple[str, float]:
    """The main score of a run; its base is kept as well."""
    base, examples = tiny_model(objective), make_set(task, rule, 160, 48)
    base.network.save_pretrained(folder / "base")
    base.tokenizer.save_pretrained(folder / "base")
    outcome = run(base, examples, folder, **given)
    return next(iter(outcome.scores.items()))


def make_again(tmp_path_factory, cases_of: dict[str, tuple]) -> dict[str, list]:
    """Of each group the runs, as their folder, score and what its script said; all scripts share a process, as to
    import torch takes long."""
    runs = [(group, tmp_path_factory.mktemp("run"), case) for group, cases in cases_of.items() for case in cases]
    wanted = [tune(folder, *case) for _, folder, case in runs]
    command = [sys.executable, "-I", "-c", RUNNER, *(str(folder) for _, folder, _ in runs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=elsewhere, env=environment)
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.split("end of ")
    assert len(said) == len(runs) + 1
    found = {group: [] for group in cases_of}
    for (group, folder, _), score, text in zip(runs, wanted, said, strict=False):
        found[group].append((folder, score, text))
    return found


@pytest.fixture(scope="module")
def made_again(tmp_path_factory):
    return make_again(tmp_path_factory, CASES)


@pytest.fixture(scope="module")
def more_made_again(tmp_path_factory):
    return make_again(tmp_path_factory, MORE_CASES)


@pytest.mark.parametrize("group", CASES)
def test_the_scripts_do_as_well_as_the_runs(group, made_again):
    check_as_good(made_again[group])


@pytest.mark.slow
@pytest.mark.parametrize("group", MORE_CASES)
def test_and_so_do_more_of_them(group, more_made_again):
    check_as_good(more_made_again[group])


def check_as_good(runs: list) -> None:
    for folder, (name, score), text in runs:
        called, again = text.split()[-2:]
        assert called == name
        nearness = {"rel": 0.02} if name == "perplexity" else {"abs": TOLERANCE}  # it learns from the same masks
        assert float(again) == pytest.approx(score, **nearness), text
        assert load_file(folder / "again" / "model.safetensors")


@pytest.mark.parametrize("script", sorted(set(SCRIPTS.values())))
def test_a_script_stands_by_itself(script):
    text = join_script(script, {"task": "any"})
    taken = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {name.name if isinstance(node, ast.Import) else node.module for node in taken for name in node.names}
    packages = {module.split(".")[0] for module in modules} - sys.stdlib_module_names
    assert packages <= {"torch", "transformers", "peft"}
    assert "explorer" not in text.replace("Language model explorer", "")
    assert text.count("RECIPE: dict = {\n    'task': 'any',\n}") == 1
    assert text.count('if __name__ == "__main__":') == 1
    assert max(map(len, text.splitlines())) <= 120
    compile(text, script, "exec")


def test_triplets_and_pairs_share_a_file(tmp_path):
    triplets, pairs = make_set("similarity", compared, 8, 4), make_set("similarity", scored, 8, 4)
    mixed = ExampleSet("toy", "similarity", triplets.train + pairs.train, triplets.held_out + pairs.held_out)
    outcome = run(tiny_model("masked"), mixed, tmp_path, epochs=1)
    lines = (tmp_path / "model" / "examples.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "part,text,positive,negative,second_text,score"
    assert len(lines) == 25 and lines[1].endswith(",,") and outcome.scores


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "question", ["Who is?", "Who of the cats is happy on a walk in New York, and who is not at all?"]
)
def test_the_script_reads_passages_as_the_run_does(family, question, monkeypatch):
    model = FAMILIES[family]()
    monkeypatch.setattr(running, "RECIPE", {"length_tokens": 24, "method": "full"})
    monkeypatch.setattr(encoders, "RECIPE", {"method": "full"})
    passage = "The cat is playing in Paris. A dog walks home. He is happy on a king's walk, and the queen is a dog."
    example = AnsweredQuestion(question, passage, "dog", passage.rindex("dog"))
    row = {name: str(getattr(example, name)) for name in ("question", "passage", "answer", "start")}
    item = answers.Answers(model.network, model.tokenizer, [row]).read(row)
    wanted = make_windows(model.tokenizer, [example], 24)
    assert [tuple(ids) for ids in item["readings"]] == [window.ids for window in wanted]
    assert [tuple(window["spans"]) for window in item["windows"]] == [window.spans for window in wanted]
    places = [[max(0, place - window.first + 1) for place in (window.start, window.end)] for window in wanted]
    assert [window["target"] for window in item["windows"]] == places
    assert any(map(any, places))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_scripts_read_texts_as_the_runs_do(family, monkeypatch):
    model = FAMILIES[family]()
    for module in (running, encoders):
        monkeypatch.setattr(module, "RECIPE", {"length_tokens": 9, "method": "full"})
    text = "The cat is playing in Paris. A dog walks home."
    start = Start(model.card.name, model.network, model.tokenizer, model.limit_tokens)
    wanted = read_windows(start, [PlainText(text)], 9)[0]
    item = windows.DomainTask(model.network, model.tokenizer, []).read({"text": text})
    assert [tuple(ids) for ids in item["readings"]] == [reading.ids for reading in wanted.readings]
    assert item["bytes"] == wanted.target.predicted_bytes and len(wanted.readings) > 1
    ended = read_windows(start, [PlainText(text)], 9, end_id=model.tokenizer.eos_token_id)[0]
    monkeypatch.setattr(model.network.config, "eos_token_id", None, raising=False)
    item = next_words.NextWords(model.network, model.tokenizer, []).read({"text": text})
    assert [tuple(ids) for ids in item["readings"]] == [reading.ids for reading in ended.readings]
    assert (item["bytes"], item["has_end"]) == (ended.target.predicted_bytes, ended.target.has_end)
    row = {"words": text, "tags": " ".join(["B-A", "I-A", *["O"] * 8])}
    item = tagging.Tagging(model.network, model.tokenizer, [row]).read(row)
    found = encode_words(model.tokenizer, [tuple(text.split())], 9)[0]
    assert tuple(item["readings"][0]) == found.ids
    assert item["places"] == {word: place for word, place in enumerate(found.places) if place is not None}
