"""Text in, text out: rewriting, and classes written as texts."""

import pytest
import torch

from explorer.errors import UnsuitableModel
from explorer.training.tuning.examples import LabelledText, TextToText
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.task import Start
from explorer.training.tuning.text_to_text import Rewriting
from explorer.training.tuning.written_scores import measure_written, measure_written_classes
from tests.training.tuning.toy_tasks import classed, make_set, paired, rewritten, run, tiny_model

TOY = make_set("text_to_text", rewritten, 128, 32)
CLASSES = make_set("classification", classed, 96, 32)


def build(labels=(), prefix="") -> Rewriting:
    model = tiny_model("span")
    start = Start(model.card.name, model.network, model.tokenizer, model.limit_tokens)
    return Rewriting(start, Recipe(task="text_to_text", prefix=prefix), labels)


def test_a_toy_rule_is_learnt():
    outcome = run(tiny_model("span"), TOY, epochs=8)
    assert outcome.scores == {"exact_match": 1.0, "f1": 1.0}
    wanted = {f"{example.text} [{example.target}]": example.target for example in TOY.held_out}
    assert [sample.after for sample in outcome.before_and_after] == [
        wanted[sample.text] for sample in outcome.before_and_after
    ]


def test_classes_are_written_as_texts():
    outcome = run(tiny_model("span"), CLASSES, prefix="it ", epochs=8)
    assert outcome.scores["accuracy"] == 1.0
    assert outcome.scores["unseen_answers"] == 0.0
    assert sum(outcome.confusion[k][k] for k in range(2)) == len(CLASSES.held_out)
    assert outcome.before_and_after[0].text.startswith("it ")


def test_with_frozen_weights_the_encoder_is_read():
    outcome = run(tiny_model("span"), CLASSES, method="frozen")
    assert outcome.scores["accuracy"] >= 0.95
    assert "unseen_answers" not in outcome.scores


def test_the_loss_is_that_of_the_library():
    task = build()
    rows = task.rows(TOY.train[:6])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row.readings[0].ids) for row in rows], batch_first=True)
    targets = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row.target) for row in rows], batch_first=True, padding_value=-100
    )
    with torch.no_grad():
        wanted = task.network(input_ids=ids, attention_mask=(ids != 0).long(), labels=targets).loss
        assert float(task.loss(rows, None, 0.0)) == pytest.approx(float(wanted), rel=1e-4)


def test_what_is_written_is_what_the_library_writes_for_each_text_alone():
    task = build(prefix="the dog ")
    rows = task.rows(make_set("text_to_text", rewritten, 4, 1).train + TOY.train[:2])
    with torch.no_grad():
        for row, (text, probability) in zip(rows, task._write(rows), strict=True):
            made = task.network.generate(
                torch.tensor([row.readings[0].ids]), max_new_tokens=len(rows[0].target) + 4, do_sample=False
            )[0, 1:]
            assert text == task._start.tokenizer.decode(made, skip_special_tokens=True).strip()
            decoder = torch.cat([torch.tensor([task.network.config.decoder_start_token_id]), made])[None]
            logs = task.network(torch.tensor([row.readings[0].ids]), decoder_input_ids=decoder[:, :-1]).logits
            chosen = logs.log_softmax(dim=-1)[0].gather(1, made[:, None]).sum().exp()
            assert probability == pytest.approx(float(chosen), rel=1e-3)


def test_a_text_whose_target_nobody_knows_is_written_to_its_end(monkeypatch):
    task, room = build(), []
    write = task.network.generate

    def generate(ids, *, generation_config, **given):
        room.append(generation_config.max_new_tokens)
        return write(ids, generation_config=generation_config, **given)

    monkeypatch.setattr(task.network, "generate", generate)
    for text in ("dog", " ".join(["dog"] * 20)):
        task.judge(task.rows([TextToText(text, "")]), None)
    length = len(task.rows([TextToText(" ".join(["dog"] * 20), "")])[0].readings[0].ids)
    assert room == [32, 2 * length]
    task.judge(task.rows([TextToText("dog", "the dog hears it")]), None)
    assert room[-1] == 5 + 4  # of examples, no more than is wanted and a little


def test_what_is_written_is_in_full_precision_and_does_not_depend_on_what_shares_the_batch():
    task = build()
    examples = [TextToText(" ".join(["river"] * (count + 1)), "bank") for count in range(12)]
    with torch.no_grad():
        alone = [task.judge(task.rows([one]), None)[0].answer for one in examples]
        with torch.autocast("cpu", torch.bfloat16):  # as where the device has units for it
            together = [verdict.answer for verdict in task.judge(task.rows(examples), None)]
    assert [text for text, _ in together] == [text for text, _ in alone]
    assert [sure for _, sure in together] == pytest.approx([sure for _, sure in alone], rel=1e-5)


def test_prefix_and_pairs_stand_before_the_text():
    task = build(("it", "and"), prefix="the ")
    example = make_set("pairs", paired, 2, 1).train[0]
    assert task._ask(example) == f"the sentence1: {example.text} sentence2: {example.second_text}"
    assert task._ask(LabelledText("dog", "it")) == "the dog"


def test_answers_that_are_no_class_are_counted():
    written = [("dog", 0.9), ("anna", 0.5), ("owl", 0.8), ("dog", 0.7)]
    measured = measure_written_classes(
        list("abcd"), ["dog", "anna", "anna", "anna"], written, {"anna": "anna", "dog": "dog"}
    )
    assert measured.scores["accuracy"] == 0.5
    assert measured.scores["unseen_answers"] == 0.25
    assert measured.confusion == ((1, 1), (0, 1))
    assert [one.predicted for one in measured.judged][:2] == ["owl", "dog"]
    none = measure_written_classes(["a"], ["dog"], [("owl", 0.5)], {"anna": "anna", "dog": "dog"})
    assert none.confusion == ((0, 0), (0, 0))


def test_rewriting_is_scored_as_squad_scores_answers():
    measured = measure_written(["a", "b"], ["the barn", "the old barn"], [("Barn.", 0.5), ("barn", 0.6)])
    assert measured.scores == {"exact_match": 0.5, "f1": pytest.approx((1 + 2 * 0.5 / 1.5) / 2)}
    assert measured.judged[0].gold == "the old barn"


def test_a_model_that_does_not_write_is_refused():
    with pytest.raises(UnsuitableModel, match="encoder-decoder"):
        run(tiny_model("masked"), TOY)
