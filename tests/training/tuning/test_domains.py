"""Domains learnt by masked and by next words, and what is measured of them."""

import math

import pytest
import torch
from torch.nn import functional as F

from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.training.tuning.blanked_words import find_blank
from explorer.training.tuning.examples import ExampleSet, PlainText
from explorer.training.tuning.masked_words import MaskedWords
from explorer.training.tuning.next_words import NextWords
from explorer.training.tuning.recipe import Recipe
from explorer.training.tuning.scripts import masked_words as scripted
from explorer.training.tuning.scripts import running
from explorer.training.tuning.task import Start
from explorer.training.tuning.text_windows import read_windows
from tests.analysis.tiny_models import FAMILIES
from tests.training.tuning.toy_tasks import make_set, run, tiny_model, told

MASKED, CAUSAL = make_set("masked", told, 160, 16), make_set("causal", told, 160, 16)
TEXTS = [PlainText("The cat is playing in Paris."), PlainText("A dog walks home."), PlainText("He is happy")]


def start(model) -> Start:
    return Start(model.card.name, model.network, model.tokenizer, model.limit_tokens)


def test_masked_words_of_a_domain_are_learnt():
    outcome = run(tiny_model("masked"), MASKED, epochs=8)
    assert list(outcome.scores) == ["perplexity", "accuracy"]
    assert outcome.scores["perplexity"] < 5.0, "of 44 words that it may be"
    assert outcome.scores["accuracy"] > 0.6
    assert outcome.baselines["before fine-tuning"] > 4 * outcome.scores["perplexity"]
    assert outcome.before_and_after
    assert all("___" in sample.text and sample.before != sample.after for sample in outcome.before_and_after)


def test_next_words_of_a_domain_are_learnt():
    outcome = run(tiny_model("causal"), CAUSAL, epochs=6)
    assert list(outcome.scores) == ["bits_per_byte", "perplexity"]
    assert outcome.scores["perplexity"] < 6.0
    assert outcome.before_and_after[0].after == "hears it"


def test_every_token_is_masked_once_as_the_script_masks_them(monkeypatch):
    model = tiny_model("masked")
    recipe = Recipe(task="masked", length_tokens=6)  # some texts are of two windows
    task = MaskedWords(start(model), recipe, ())
    rows = task.rows(MASKED.held_out)
    with torch.no_grad():
        verdicts = task.judge(rows, None)
    special = {*model.tokenizer.all_special_ids}
    counts = [sum(id not in special for one in row.readings for id in one.ids) for row in rows]
    assert [verdict.answer.count for verdict in verdicts] == counts
    monkeypatch.setattr(running, "RECIPE", {"length_tokens": 6})
    script = scripted.MaskedWords(model.network, model.tokenizer, [])
    with torch.no_grad():
        said = script.score([script.read({"text": example.text}) for example in MASKED.held_out])
    assert said == pytest.approx(task.measure(MASKED.held_out, verdicts).scores["perplexity"], rel=1e-4)


def test_masks_are_the_same_whatever_else_is_judged():
    task = MaskedWords(start(tiny_model("masked")), Recipe(task="masked"), ())
    rows = task.rows(MASKED.held_out)
    with torch.no_grad():
        together, alone = task.judge(rows, None), [task.judge([row], None)[0] for row in rows]
    for one, other in zip(together, alone, strict=True):
        assert one.answer.count == other.answer.count
        assert one.loss == pytest.approx(other.loss, abs=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_head_gives_what_the_whole_network_gives(family):
    model = FAMILIES[family]()
    task = MaskedWords(start(model), Recipe(task="masked"), ())
    rows = task.rows(TEXTS)
    with torch.no_grad():
        blanks = [find_blank(model.tokenizer, list(row.readings[0].ids), 1, 1) for row in rows]
        shown = [blank for blank in blanks if blank]
        assert shown
        for blank, fills in zip(shown, task._fill(shown, 2), strict=True):
            logits = model.network(torch.tensor([blank.ids])).logits[0, blank.place]
            wanted = logits.softmax(dim=0).topk(2)
            assert [value for _, value in fills] == pytest.approx(wanted.values.tolist(), rel=1e-3)
            assert blank.ids[blank.place] == model.tokenizer.mask_token_id
            assert blank.word in " ".join(example.text.lower() for example in TEXTS) or blank.word == "Paris"


def test_bits_per_byte_against_the_plain_way():
    model = tiny_model("causal")
    task = NextWords(start(model), Recipe(task="causal", length_tokens=7), ())
    rows = task.rows(CAUSAL.held_out)
    assert max(len(row.readings) for row in rows) > 1, "a text is longer than a window"
    nats = count = ends = 0
    with torch.no_grad():
        for row in rows:
            for reading in row.readings:
                ids = torch.tensor([reading.ids])
                logits = model.network(ids).logits
                if ids[0, -1] == model.tokenizer.eos_token_id:  # learned, but no part of the text
                    ids, ends = ids[:, :-1], ends + 1
                    logits = logits[:, :-1]
                nats += float(F.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="sum"))
                count += ids.shape[1] - 1
        measured = task.measure(CAUSAL.held_out, task.judge(rows, None))
    size = sum(len(example.text.encode()) for example in CAUSAL.held_out)
    assert ends == len(rows)
    assert measured.scores["perplexity"] == pytest.approx(math.exp(nats / count), rel=1e-4)
    assert measured.scores["bits_per_byte"] == pytest.approx(nats / math.log(2) / size, rel=1e-4)


def test_windows_hold_a_text_once_and_its_bytes():
    model = tiny_model("causal")
    text = PlainText("the dog barks in the garden and anna hears it and feeds the dog")
    (row,) = read_windows(start(model), [text], 6)
    own = [number for reading in row.readings for number in reading.ids[row.target.before :]]
    assert own == model.tokenizer(text.text, add_special_tokens=False).input_ids
    assert all(len(reading.ids) <= 6 for reading in row.readings)
    assert row.target.predicted_bytes == len(text.text)
    (cut,) = read_windows(start(model), [PlainText(" ".join([text.text] * 10))], 6)
    assert cut.was_cut
    (ended,) = read_windows(start(model), [text], 7, end_id=3)
    assert ended.readings[-1].ids[-1] == 3 and all(3 not in reading.ids for reading in ended.readings[:-1])
    assert [number for reading in ended.readings for number in reading.ids[row.target.before :]] == [*own, 3]
    assert ended.target.has_end and ended.target.predicted_bytes == row.target.predicted_bytes
    (cut,) = read_windows(start(model), [PlainText(" ".join([text.text] * 10))], 7, end_id=3)
    assert not cut.target.has_end and 3 not in cut.readings[-1].ids, "what was cut off does not end there"
    with pytest.raises(UnsuitableText, match="delete its row"):
        read_windows(start(model), [PlainText("dog")], 6)


def test_a_model_without_the_head_is_refused():
    with pytest.raises(UnsuitableModel, match="fills blanks"):
        run(tiny_model("causal"), MASKED)
    with pytest.raises(UnsuitableModel, match="what comes next"):
        run(tiny_model("masked"), CAUSAL)
    with pytest.raises(UnsuitableModel, match="network itself"):
        run(tiny_model("masked"), MASKED, method="frozen")
    with pytest.raises(UnsuitableText, match="fewer than 2 tokens"):
        run(tiny_model("masked"), ExampleSet("toy", "masked", (PlainText("dog"),), (PlainText(""),)))
