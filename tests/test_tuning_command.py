"""The command that fine-tunes."""

import json

import pytest

from explorer.models.catalogue import CATALOGUE
from explorer.models.registry import Registry
from explorer.tabs.fine_tune.plan import Options, plan_runs
from explorer.training.tuning.own import own_examples
from explorer.training.tuning.recipe import TASKS
from explorer.training.tuning.suits import OWN_MODELS, find_ways, suggest_recipe
from tests.training.tuning.tiny_examples import labelled, tiny_encoder

CARDS = {card.name: card for card in CATALOGUE}


@pytest.fixture
def files(tmp_path):
    """A tiny model, and two tables whose columns have names of their own."""
    model = tiny_encoder()
    model.network.save_pretrained(tmp_path / "tiny")
    model.tokenizer.save_pretrained(tmp_path / "tiny")
    examples = labelled(64)
    for name, part in (("a", examples[:48]), ("b", examples[48:])):
        lines = ["label\ttext", *(f"{one.label}\t{one.text}" for one in part)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def command(files, *more):
    given = ("--model", str(files / "tiny"), "--train", str(files / "a.tsv"), "--test", str(files / "b.tsv"))
    return ("fine-tune", *given, "--epochs", "8", "--batch-size", "8", "--learning-rate", "0.005", *more)


def test_json_ends_with_the_accuracy(explorer, files):
    status, out, err = explorer(*command(files, "--method", "full", "--json"))
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0, err
    assert lines[-1]["accuracy"] == lines[-1]["outcome"]["scores"]["accuracy"] >= 0.9
    assert len(lines[-1]["outcome"]["judged"]) == 16
    assert [line["step"] for line in lines if line["phase"] == "training"] == list(range(1, 61))
    assert all("outcome" not in line for line in lines[:-1])


def test_a_summary_for_people_and_a_model_for_later(explorer, files):
    folder = files / "run"
    status, out, err = explorer(*command(files, "--method", "frozen", "--examples", "16", "--folder", str(folder)))
    assert status == 0, err
    assert "accuracy" in out and "most frequent class" in out and f"Saved in {folder}" in out
    assert json.loads((folder / "model" / "tuned.json").read_text())["train_examples"] == 16
    kept = {path.name: path.read_bytes() for path in (folder / "model" / "base").iterdir()}
    assert kept["model.safetensors"] == (files / "tiny" / "model.safetensors").read_bytes() and "config.json" in kept
    assert not [path for path in folder.iterdir() if path.is_dir() and path.name != "model"], "nothing is left over"
    status, out, _ = explorer("fill-blanks", "the ___ is happy", "--model", str(folder / "model"))
    assert status == 0 and "Blank 1" in out


def test_what_cannot_be_is_told(explorer, files):
    status, _, err = explorer("fine-tune", "--method", "half")
    assert status == 2 and "--method 'half' is not one of" in err
    status, _, err = explorer(*command(files, "--column", "stars"))
    assert status == 1 and "text=stars" in err
    (files / "a.tsv").write_text("label\ttext\nonly\tthe cat\nonly\tthe dog\n", encoding="utf-8")
    status, _, err = explorer(*command(files))
    assert status == 1 and "at least one other class" in err


@pytest.mark.parametrize("task", TASKS)
def test_what_is_not_said_is_what_the_page_begins_with(explorer, monkeypatch, task):
    taken, model = [], "MiniLM (span)" if task == "pairs" else OWN_MODELS[task]
    monkeypatch.setattr(Registry, "stream", lambda self, name, ask: taken.append((self.card(name), ask)) or iter(()))
    monkeypatch.setattr("explorer.tuning_commands.show_steps", lambda steps: None)
    for method in find_ways(task, CARDS[model].abilities, CARDS[model].model_type):
        status, _, err = explorer("fine-tune", "--task", task, "--model", model, "--method", method)
        assert status == 0, err
        card, ask = taken.pop()
        epochs = suggest_recipe(task, method, card.abilities).epochs  # the page's own are no fewer
        [run] = plan_runs("one", card, task, [method], Options(epochs=epochs), 100)
        assert ask.keywords["recipe"] == run.recipe
    explorer("fine-tune", "--task", task, "--model", model, "--prefix", "", "--epochs", "2", "--learning-rate", "0.5")
    recipe = taken.pop()[1].keywords["recipe"]
    assert (recipe.prefix, recipe.epochs, recipe.learning_rate) == ("", 2, 0.5)


def test_our_scored_pairs_are_learnt_where_they_are_asked_for(explorer, files, monkeypatch):
    taken = []
    monkeypatch.setattr(Registry, "stream", lambda self, name, ask: taken.append(ask.keywords) or iter(()))
    monkeypatch.setattr("explorer.tuning_commands.show_steps", lambda steps: None)
    status, _, err = explorer("fine-tune", "--task", "similarity", "--scored", "--similarity-loss", "in_batch")
    assert status == 0, err
    assert taken[0]["examples"] == own_examples("similarity", scored=True)
    assert taken[0]["recipe"].similarity_loss == "in_batch"
    status, _, err = explorer("fine-tune", "--task", "similarity", "--scored", "--train", str(files / "a.tsv"))
    assert status == 1 and "--scored is our own set" in err
    status, _, err = explorer("fine-tune", "--task", "similarity", "--similarity-loss", "magic")
    assert status == 2 and "triplet, cosine, in_batch" in " ".join(err.replace("│", " ").split())


def test_our_own_set_is_learnt_by_what_suits_it(explorer):
    asked = ("--task", "tagging", "--model", "MiniLM (masked)", "--method", "frozen", "--json")
    status, out, err = explorer("fine-tune", *asked)
    outcome = json.loads(out.splitlines()[-1])["outcome"]
    assert status == 0, err
    assert outcome["scores"]["f1"] > max(outcome["baselines"].values()) + 0.3
