"""The loop: every method learns, goes on where it stopped, and leaves the model it started from alone."""

import dataclasses
import math
from statistics import fmean

import pytest
import torch

from explorer.errors import ModelRefused, OutOfMemory, UnsuitableCorpus, UnsuitableModel
from explorer.training.tuning import session as sessions
from explorer.training.tuning.checkpoints import FILE
from explorer.training.tuning.classification import Classification
from explorer.training.tuning.examples import ExampleSet, LabelledText, PlainText
from explorer.training.tuning.fine_tuning import fine_tune
from explorer.training.tuning.recipe import METHODS, Recipe
from explorer.training.tuning.results import AVERAGED_STEPS
from tests.analysis.tiny_models import byte_level
from tests.training.tuning.tiny_examples import example_set, labelled, tiny_encoder

QUICK = Recipe(epochs=6, batch_size=8, learning_rate=3e-3, evaluations=3)


@pytest.fixture(scope="module")
def model():
    return tiny_encoder()


def run(model, examples=None, folder=None, **changes):
    recipe = dataclasses.replace(QUICK, **changes)
    return list(fine_tune(model, examples or example_set(task=recipe.task), recipe=recipe, folder=folder))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_a_word(model, method):
    before = {name: weight.clone() for name, weight in model.network.state_dict().items()}
    steps = run(model, method=method, learning_rate=None if method in ("frozen", "layers") else 5e-3, epochs=10)
    outcome = steps[-1].outcome
    assert [step.outcome for step in steps[:-1]] == [None] * (len(steps) - 1)
    assert outcome.scores["accuracy"] >= (0.75 if method == "layers" else 0.9)
    assert list(outcome.scores) == ["accuracy", "macro_f1"]
    assert outcome.baselines["most frequent class"] == 0.5
    assert outcome.labels == ("animal", "royal")
    assert sum(map(sum, outcome.confusion)) == len(outcome.judged) == 16
    moved = {movement.part: movement.relative for movement in outcome.movements}
    assert (moved["layer 2"] > 0) == (method not in ("frozen", "layers"))
    assert moved["head"] > 0
    assert bool(outcome.mix) == (method == "layers")
    assert all(torch.equal(before[name], weight) for name, weight in model.network.state_dict().items())


def test_mixed_layers_sum_to_one(model):
    mix = run(model, method="layers")[-1].outcome.mix
    assert len(mix) == 3 and sum(mix) == pytest.approx(1.0)


def test_pairs_are_read_as_one_input(model):
    outcome = run(model, task="pairs")[-1].outcome
    assert outcome.scores["accuracy"] >= 0.9
    assert " — he is happy" in outcome.judged[0].text


def test_another_family_of_tokenizers_is_tuned(model):
    assert run(byte_level(), method="full", epochs=2)[-1].outcome.scores["accuracy"] >= 0.4


def test_the_same_seed_gives_the_same_run(model):
    one, two, other = (run(model, epochs=2, seed=seed) for seed in (0, 0, 1))
    assert [step.loss for step in one] == [step.loss for step in two] != [step.loss for step in other]
    assert one[-1].outcome.judged == two[-1].outcome.judged


@pytest.mark.parametrize("method", ["full", "lora", "layers"])
def test_a_closed_run_goes_on_as_if_nothing_had_been(model, method, tmp_path):
    whole = run(model, method=method)
    stream = fine_tune(model, example_set(), recipe=dataclasses.replace(QUICK, method=method), folder=tmp_path)
    for step in stream:
        if step.phase == "training" and step.step == 7:
            break
    stream.close()
    assert (tmp_path / FILE).is_file()
    rest = run(model, method=method, folder=tmp_path)
    training = [step for step in rest if step.phase == "training"]
    assert training[0].step == 8
    assert rest[-1].seconds > step.seconds
    assert rest[-1].loss == pytest.approx(whole[-1].loss, rel=1e-5)
    assert rest[-1].outcome.judged[0].probability == pytest.approx(whole[-1].outcome.judged[0].probability, rel=1e-4)


def test_a_finished_run_trains_no_more(model, tmp_path):
    first = run(model, folder=tmp_path, epochs=1)
    again = run(model, folder=tmp_path, epochs=1)
    assert not [step for step in again if step.phase == "training"]
    assert again[-1].outcome.scores == first[-1].outcome.scores


def test_the_training_loss_told_is_the_mean_of_the_latest_steps_alone(model, monkeypatch, tmp_path):
    of_batches = []
    loss = Classification.loss

    def noting(self, rows, kept, share):
        of_batches.append((found := loss(self, rows, kept, share)).item())
        return found

    monkeypatch.setattr(Classification, "loss", noting)
    stream = fine_tune(model, example_set(), recipe=QUICK, folder=tmp_path)
    told = [next(stream).loss for _ in range(AVERAGED_STEPS + 3)]
    assert told[2] == pytest.approx(fmean(of_batches[:3]))
    assert told[-1] == pytest.approx(fmean(of_batches[-AVERAGED_STEPS:]))
    stream.close()
    saved = torch.load(tmp_path / FILE, weights_only=True)
    assert saved["losses"] == of_batches[-AVERAGED_STEPS:]
    torch.save({name: saved[name] for name in saved if name != "losses"} | {"running": 9.0}, tmp_path / FILE)
    again = next(fine_tune(model, example_set(), recipe=QUICK, folder=tmp_path))
    assert again.loss == pytest.approx(of_batches[-1]), "a checkpoint of an earlier version has none of them"


def test_a_checkpoint_of_another_run_is_refused(model, tmp_path):
    run(model, folder=tmp_path, epochs=1)
    with pytest.raises(ModelRefused, match="of another run"):
        run(model, folder=tmp_path, epochs=2)
    (tmp_path / FILE).write_bytes(b"half a file")
    with pytest.raises(ModelRefused, match="damaged"):
        run(model, folder=tmp_path, epochs=1)


def test_training_stops_when_it_gets_worse_and_keeps_the_best(model):
    steps = run(model, epochs=40, evaluations=40, patience=2, learning_rate=2e-2)
    measured = [step.held_out_loss for step in steps if step.phase == "training" and step.held_out_loss is not None]
    assert len(measured) < 40
    assert steps[-1].held_out_loss == pytest.approx(min(measured), rel=1e-3)
    kept = next(step.epoch for step in steps if step.held_out_loss == min(measured))
    assert steps[-1].kept_epoch == steps[-2].kept_epoch == kept < steps[-1].epoch
    assert {step.kept_epoch for step in steps[:-2]} == {None}
    assert any(f"the weights of epoch {kept:.3g}" in note for note in steps[-1].outcome.notes)
    assert any(note.startswith("Stopped early") for note in steps[-1].outcome.notes)


def test_held_out_examples_are_measured_as_often_as_the_recipe_says(model):
    measured = [step for step in run(model, evaluations=5) if step.phase == "training" and step.score is not None]
    assert len(measured) == 5
    assert measured[-1].step == measured[-1].steps


def test_a_loss_that_is_no_number_is_told(model):
    with pytest.raises(UnsuitableModel, match="learning rate"):
        run(model, learning_rate=1e30)


def test_what_does_not_fit_is_told(model, monkeypatch):
    def fail(self, rows, kept, share):
        raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 10 bytes")

    monkeypatch.setattr("explorer.training.tuning.classification.Classification.loss", fail)
    with pytest.raises(OutOfMemory, match="fewer examples per step"):
        run(model)


def test_a_checkpoint_is_written_before_a_fault(model, monkeypatch, tmp_path):
    take = sessions.Session.take_step

    def fail_at_three(self):
        if self.step == 3:
            raise ZeroDivisionError
        return take(self)

    monkeypatch.setattr(sessions.Session, "take_step", fail_at_three)
    with pytest.raises(ZeroDivisionError):
        run(model, folder=tmp_path)
    assert torch.load(tmp_path / FILE, weights_only=True)["step"] == 3


@pytest.mark.parametrize(
    "train, says",
    [
        ((), "0 examples"),
        (labelled(1), "1 example "),
        (labelled(8)[::2], "All examples to learn from are “animal”"),
        ((PlainText("the cat"),) * 4, "of another task"),
        ((LabelledText("", "animal"), *labelled(8)), None),
    ],
)
def test_examples_that_teach_nothing_are_refused(model, train, says):
    examples = ExampleSet("few", "classification", tuple(train))
    if says is None:
        assert run(model, examples, epochs=1)[-1].outcome
        return
    with pytest.raises(UnsuitableCorpus, match=says):
        run(model, examples)


def test_long_texts_are_cut_and_counted(model):
    notes = run(model, length_tokens=5, epochs=1)[-1].outcome.notes
    assert any("longer than 5 tokens and were cut" in note for note in notes)


def test_a_part_is_set_aside_where_nothing_is_held_out(model):
    outcome = run(model, ExampleSet("all", "classification", labelled(40)), epochs=1)[-1].outcome
    assert len(outcome.judged) == 8


def test_it_runs_where_gradients_are_switched_off(model):
    with torch.inference_mode():
        steps = run(model, epochs=1)
    assert math.isfinite(steps[-1].loss)
