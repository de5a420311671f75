"""A tuned model on disk: it loads with every ability of its base, judges texts, and can be made again."""

import ast
import dataclasses
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from explorer.analysis import fill_blanks
from explorer.errors import ModelRefused, UnsuitableModel, UnsuitableText, UnwritableFolder
from explorer.models.card import Ability
from explorer.models.loading import load_model
from explorer.models.progress import ignore
from explorer.training.tuning.applying import judge_before, judge_texts
from explorer.training.tuning.examples import LabelledText, PlainText, ScoredPair
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.model_card import write_readme
from explorer.training.tuning.recipe import METHODS, Recipe
from explorer.training.tuning.tuned_card import read_facts, read_tuned_card
from tests.training.tuning.tiny_examples import example_set, tiny_encoder
from tests.training.tuning.toy_tasks import classed, compared, make_set, run, tiny_model

RECIPE = Recipe(epochs=8, batch_size=8, learning_rate=5e-3, evaluations=2)


def load_tuned(folder):
    return load_model(read_tuned_card(folder), device="cpu", progress=ignore)


def tune(folder, method, base=None):
    recipe = dataclasses.replace(RECIPE, method=method)
    *_, last = fine_tune(base or tiny_encoder(), example_set(), recipe=recipe, folder=folder)
    return last.outcome


@pytest.fixture(scope="module", params=METHODS)
def tuned(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    outcome = tune(folder, request.param)
    return request.param, outcome, load_tuned(folder / "model")


def test_it_can_do_what_its_base_can(tuned):
    _, outcome, model = tuned
    assert outcome.folder == model.card.source.path
    assert model.card.abilities == {Ability.FILL_BLANKS, Ability.EMBED}
    assert f"accuracy: {outcome.scores['accuracy']:.3f} (n = 16)" in model.card.training
    assert model.card.parameters == sum(weight.numel() for weight in model.network.parameters())
    assert len(fill_blanks(model, "the ___ is happy").blanks[0].choices)


def test_it_judges_as_it_did_when_it_was_saved(tuned):
    _, outcome, model = tuned
    held_out = example_set().held_out
    judged = judge_texts(model, held_out)
    assert [one.text for one in judged] == [example.text for example in held_out]
    before = {one.text: one.probabilities for one in outcome.judged}
    for one in judged:
        assert one.probabilities == pytest.approx(before[one.text], abs=0.02)  # bfloat16, in other batches
    assert judge_texts(model, [LabelledText("the queen", "")])[0].predicted == "royal"


def test_only_what_should_move_has_moved(tuned):
    method, _, model = tuned
    base = tiny_encoder().network.state_dict()
    now = model.network.state_dict()
    assert base.keys() == now.keys()
    layer = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(base[layer], now[layer]) == (method in ("frozen", "layers"))


def test_the_card_of_the_folder_says_what_it_is(tuned):
    method, outcome, model = tuned
    text = Path(outcome.folder, "README.md").read_text(encoding="utf-8")
    assert METHODS[method] in text and "`animal`, `royal`" in text
    assert f"| accuracy | {outcome.scores['accuracy']:.4f} |" in text
    assert ("A head fitted at once" if method == "frozen" else f"Epochs {outcome.epochs:.3g} ·") in text
    assert ("with torch, transformers and peft alone" in text) == (method == "lora")
    assert "this run in bfloat16 where the machine could" in text
    assert outcome.epochs == 0 if method == "frozen" else outcome.epochs > 1
    assert "those of the new head among them" in text and "`head.safetensors` is what the task added" in text
    bare = write_readme(read_facts(Path(outcome.folder)), outcome, has_head=False)
    assert "new head" not in bare and "head.safetensors" not in bare and "weights were trained; the network" in bare


@pytest.mark.parametrize("method", ["frozen", "layers"])
def test_the_code_of_a_causal_model_reads_its_last_token(tmp_path, monkeypatch, capsys, method):
    outcome = run(tiny_model("causal"), make_set("classification", classed, 48, 8), tmp_path, method=method)
    check_code(outcome, load_tuned(Path(outcome.folder)), monkeypatch, capsys)


def test_the_code_of_the_card_asks_the_head(tuned, monkeypatch, capsys):
    method, outcome, model = tuned
    check_code(outcome, model, monkeypatch, capsys)
    assert ("in all layers" in Path(outcome.folder, "README.md").read_text("utf-8")) == (method == "layers")


def check_code(outcome, model, monkeypatch, capsys):
    """The Python of a card gives the probabilities that the explorer gives."""
    folder = Path(outcome.folder)
    before, code = Path(folder, "README.md").read_text("utf-8").split("```python\n")
    assert "AutoModelForSequenceClassification" in before
    monkeypatch.chdir(folder)
    exec(compile(code.split("```")[0].replace("A text of yours.", "the queen is happy"), "<card>", "exec"), {})
    shown = ast.literal_eval(capsys.readouterr().out.splitlines()[-1])
    [judged] = judge_texts(model, [LabelledText("the queen is happy", "")])
    assert tuple(shown) == outcome.labels
    assert list(shown.values()) == pytest.approx(list(judged.probabilities), abs=0.02)  # bfloat16 in the explorer


@pytest.mark.slow  # test_scripts.py runs more scripts, in one process
@pytest.mark.parametrize("method", ["layers", "lora"])
def test_the_script_makes_it_again_without_us(method, tmp_path):
    base = tiny_encoder()
    base.network.save_pretrained(tmp_path / "base")
    base.tokenizer.save_pretrained(tmp_path / "base")
    folder = Path(tune(tmp_path, method, base).folder)
    text = (folder / "recipe.py").read_text(encoding="utf-8")
    assert "explorer" not in text.replace("Language model explorer", "")
    command = [sys.executable, "-I", str(folder / "recipe.py"), "--save", str(tmp_path / "again")]
    command += ["--base", str(tmp_path / "base")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=dict(os.environ))
    assert told.returncode == 0, told.stderr
    assert float(told.stdout.split()[-1]) >= 0.8
    assert load_file(tmp_path / "again" / "model.safetensors")


def test_an_adapter_is_kept_beside_what_it_was_merged_into(tmp_path):
    folder = Path(tune(tmp_path, "lora").folder)
    matrices = load_file(folder / "adapter" / "adapter_model.safetensors")
    assert {name.rsplit(".", 2)[1] for name in matrices} == {"lora_A", "lora_B"}
    known = json.loads((folder / "adapter" / "adapter_config.json").read_text())
    assert known["base_model_name_or_path"] == "tiny bert"  # no folder of this machine
    assert "`adapter/` holds the low-rank matrices alone" in (folder / "README.md").read_text()


def test_names_and_damage(tmp_path):
    folder = Path(tune(tmp_path, "frozen").folder)
    assert read_tuned_card(folder, "Mine #0123456789ab-0").name == "Mine #0123456789ab-0"
    assert read_tuned_card(folder).name == "tiny bert · Head on frozen features · animals and royals"
    assert read_tuned_card(folder).is_tuned
    model = load_model(read_tuned_card(folder), device="cpu", progress=ignore)
    with pytest.raises(UnsuitableText, match="at least one"):
        judge_texts(model, [])
    with pytest.raises(UnsuitableText, match="for the task"):
        judge_texts(model, [PlainText("the cat")])
    (folder / "head.safetensors").write_bytes(b"no")
    with pytest.raises(ModelRefused, match="head"):
        judge_texts(model, [LabelledText("the cat", "")])
    (folder / "tuned.json").write_text('{"base": 1}')
    with pytest.raises(ModelRefused, match="no tuned model"):
        read_tuned_card(folder)
    with pytest.raises(UnsuitableModel, match="not fine-tuned here"):
        judge_texts(tiny_encoder(), [LabelledText("the cat", "")])


def test_the_base_answers_too_where_no_new_head_is_needed(tmp_path):
    base, pair = tiny_model("masked"), ScoredPair("anna runs", "the dog sleeps", 0.0)
    facts = read_facts(Path(run(base, make_set("similarity", compared, 24, 8), tmp_path, epochs=8).folder))
    tuned = load_model(read_tuned_card(tmp_path / "model"), device="cpu", progress=ignore)
    [before], [after] = judge_before(base, [pair], facts=facts), judge_texts(tuned, [pair])
    [same] = judge_before(base, [ScoredPair("anna runs", "anna runs", 0.0)], facts=facts)
    assert same.predicted == "cosine 1.00" and before.predicted != after.predicted
    classes = read_facts(Path(tune(tmp_path / "classes", "frozen").folder))
    with pytest.raises(UnsuitableModel, match="no layer for this task"):
        judge_before(tiny_encoder(), [LabelledText("the cat", "")], facts=classes)


def test_a_full_disk_is_told_and_leaves_nothing_half(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("explorer.training.tuning.saving.save_file", full)
    with pytest.raises(UnwritableFolder, match="No space left"):
        tune(tmp_path, "full")
    assert not (tmp_path / "model").exists() and not list(tmp_path.glob("*.part"))
    monkeypatch.undo()
    assert tune(tmp_path, "full").folder  # from the checkpoint


def test_analyses_travel_to_a_tuned_model(tmp_path, shipped_registry):
    folder = Path(tune(tmp_path, "full").folder)
    card = read_tuned_card(folder, "Tuned")
    result = shipped_registry.with_card(card).run("Tuned", partial(fill_blanks, text="the ___ is happy"))
    assert result.model == "Tuned"
