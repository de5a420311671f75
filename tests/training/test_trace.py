"""What is noted as training goes on."""

import json

import pytest
import torch

from explorer.models.catalogue import CATALOGUE
from explorer.training import tracing
from explorer.training.objectives import OBJECTIVES, measure_held_out
from explorer.training.pretraining import PretrainingStep
from explorer.training.trace import TRACE, bundled_traces, read_trace
from explorer.training.tracing import ANSWERED, Tracer, answer_prompts
from tests.training.tiny_corpus import VOCABULARY
from tests.training.tiny_networks import tiny_network, tiny_tokenizer


@pytest.fixture(autouse=True)
def short_rows(monkeypatch):
    monkeypatch.setattr(tracing, "LENGTH_TOKENS", 24)
    monkeypatch.setattr(tracing, "MEASURED_TOKENS", 100)


@pytest.fixture
def start(corpus, tmp_path):
    """A tracer as each session of a run makes one."""
    network, tokenizer = tiny_network("causal"), tiny_tokenizer("causal")
    return lambda: Tracer("causal", network, tokenizer, corpus, tmp_path)


def go_on(tracer: Tracer, tokens) -> None:
    for seen in tokens:
        tracer.after_step(PretrainingStep(seen, seen / 1000, 5.0, 1000.0, 1e-3, 9.0))


def noted(folder) -> list[int]:
    return [point.tokens for point in read_trace(folder)]


def test_a_folder_without_a_trace_has_no_points(tmp_path):
    assert read_trace(tmp_path) == ()


def test_points_grow_apart(start, tmp_path):
    go_on(start(), range(10_000, 400_000, 10_000))
    assert noted(tmp_path) == [50_000, 80_000, 120_000, 180_000, 270_000]


def test_a_long_step_is_one_point(start, tmp_path):
    go_on(start(), [300_000, 310_000, 320_000, 449_000, 450_000, 460_000])
    assert noted(tmp_path) == [300_000, 450_000]


def test_a_training_that_was_cut_has_the_points_of_one_that_was_not(start, tmp_path):
    whole = range(7_000, 500_000, 7_000)
    go_on(start(), whole)
    wanted = noted(tmp_path)
    (tmp_path / TRACE).unlink()
    for session in (whole[:9], whole[9:30], whole[28:]):  # the last goes on from a checkpoint before its end
        go_on(start(), session)
    assert noted(tmp_path) == wanted


def test_a_point_says_what_was_measured_and_what_was_answered(start, corpus, tmp_path):
    go_on(start(), [60_000])
    (point,) = read_trace(tmp_path)
    network, tokenizer = tiny_network("causal"), tiny_tokenizer("causal")
    (measured,) = measure_held_out("causal", network, tokenizer, corpus, length_tokens=24, tokens_per_file=100)
    assert (point.tokens, point.seconds, point.scores) == (60_000, 60.0, measured.scores)
    assert point.answers == answer_prompts("causal", network, tokenizer)
    assert json.loads((tmp_path / TRACE).read_text())["tokens"] == 60_000  # one line of JSON


def test_the_last_point_is_of_the_last_step(start, tmp_path):
    for last in (40_000, 60_000):
        tracer = start()
        go_on(tracer, range(10_000, last, 10_000))
        for _ in range(2):
            tracer.finish(PretrainingStep(last, last / 1000, 5.0, 1000.0, 1e-3, 0.0))
    start().finish(PretrainingStep(60_000, 60.0, 5.0, 1000.0, 1e-3, 0.0))  # the same command once more
    assert noted(tmp_path) == [40_000, 60_000]


def test_where_nothing_can_be_measured_there_is_no_point(start, tmp_path, monkeypatch):
    monkeypatch.setattr(tracing, "LENGTH_TOKENS", 500)
    go_on(start(), [60_000])
    assert read_trace(tmp_path) == ()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("training", [True, False])
def test_prompts_have_answers_and_training_goes_on(objective, training):
    network, tokenizer = tiny_network(objective).train(training), tiny_tokenizer(objective)
    answers = answer_prompts(objective, network, tokenizer)
    assert tuple(prompt for prompt, _ in answers) == ANSWERED[objective][0]
    assert all(isinstance(answer, str) for _, answer in answers)
    assert network.training is training


def test_a_blank_is_answered_by_its_three_likeliest_tokens():
    network, tokenizer = tiny_network("masked"), tiny_tokenizer("masked")
    with torch.no_grad():
        network.cls.predictions.bias[[VOCABULARY.index(word) for word in ("dog", "cat", "owl")]] += torch.tensor(
            [30.0, 20.0, 10.0]
        )
    assert {answer for _, answer in answer_prompts("masked", network, tokenizer)} == {"dog, cat, owl"}


def test_neither_side_of_a_blank_knows_the_other(monkeypatch):
    texts = ("the dog ___ in the garden", "the dog ___ the horse", "it feeds ___ the horse")
    monkeypatch.setitem(tracing.ANSWERED, "bilm", (texts, tracing.ANSWERED["bilm"][1]))
    answers = answer_prompts("bilm", tiny_network("bilm"), tiny_tokenizer("bilm"))
    lefts, rights = zip(*(answer.split("; ") for _, answer in answers), strict=True)
    assert lefts[0] == lefts[1] != lefts[2]
    assert rights[0] != rights[1] == rights[2]
    assert all(side.startswith("from the left: ") and side.count(",") == 2 for side in lefts)


def test_the_token_that_is_suspected_most_is_named(monkeypatch):
    network, tokenizer = tiny_network("replaced"), tiny_tokenizer("replaced")
    monkeypatch.setitem(tracing.ANSWERED, "replaced", (("the dog quacks",), tracing.ANSWERED["replaced"][1]))

    def judge(ids):
        assert ids.tolist() == tokenizer(["the dog quacks"]).input_ids
        return type("Output", (), {"logits": torch.tensor([[99.0, -2.0, -3.0, 2.0, 99.0]])})  # marks are no words

    monkeypatch.setattr(network, "forward", judge)
    assert answer_prompts("replaced", network, tokenizer) == (("the dog quacks", "quacks: 88%"),)


def test_a_span_is_answered_by_what_stands_between_its_sentinels(monkeypatch):
    network, tokenizer = tiny_network("span"), tiny_tokenizer("span")
    written = tokenizer("<extra_id_0> the cat <extra_id_1> barks <extra_id_2>", add_special_tokens=False).input_ids

    def write(encoder_outputs, decoder_input_ids):
        step = min(decoder_input_ids.shape[1], len(written)) - 1
        logits = torch.nn.functional.one_hot(torch.tensor([[written[step]]]), len(tokenizer))
        return type("Output", (), {"logits": logits.float()})

    monkeypatch.setattr(network, "forward", write)
    assert {answer for _, answer in answer_prompts("span", network, tokenizer)} == {"the cat"}


def test_bundled_traces_grow_and_ask_the_same_at_every_point():
    traces = bundled_traces(CATALOGUE)
    assert traces
    for name, trace in traces.items():
        assert trace.model == name
        tokens = [point.tokens for point in trace.points]
        assert tokens == sorted(set(tokens))
        assert len({tuple(prompt for prompt, _ in point.answers) for point in trace.points}) == 1
        assert len({tuple(point.scores) for point in trace.points}) == 1
