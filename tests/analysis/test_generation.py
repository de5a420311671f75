import pickle
from functools import partial

import pytest
import torch

from explorer.analysis import continue_text
from explorer.analysis.contrastive_search import choose_by_contrast
from explorer.analysis.decoding_strategies import CONTROLS, STRATEGIES
from explorer.analysis.exporting import to_json
from explorer.analysis.generation_results import STOPS
from explorer.analysis.next_choice import check_control, measure_choice
from explorer.analysis.prompts import encode_prompt
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models import decoding
from explorer.settings import settings
from tests.analysis.tiny_models import word_piece
from tests.analysis.writing_models import NETWORKS, REMEMBERING, build, generated, plain_logits, stories, writer

PROMPT = "the cat is playing"
PROCESSED = [
    {},
    {"temperature": 0.6, "top_k": 7},
    {"temperature": 1.7, "top_p": 0.8, "repetition_penalty": 1.3},
    {"min_p": 0.05, "typical_p": 0.7},
]


def ids_of(steps):
    return [step.token_id for step in steps]


@pytest.fixture(params=NETWORKS)
def model(request):
    return writer(request.param)


def test_which_networks_remember_is_found_out():
    found = {name for name in NETWORKS if decoding._decoder_of(writer(name)).remembers}
    assert found == REMEMBERING


def test_greedy_text_is_that_of_generate_with_the_numbers_of_full_passes(model):
    ids = encode_prompt(model, PROMPT)
    steps = list(continue_text(model, PROMPT, strategy="greedy", max_new_tokens=12, alternatives=5))
    assert ids_of(steps) == generated(model, ids, 12, do_sample=False)
    for step in steps:
        probabilities = plain_logits(model, ids).softmax(dim=-1)
        best = probabilities.topk(5)
        assert step.probability == pytest.approx(probabilities[step.token_id].item(), abs=1e-4)
        assert step.rank == 1 and step.chance == 1.0
        assert step.entropy == pytest.approx(torch.distributions.Categorical(probabilities).entropy().item(), abs=1e-3)
        assert [option.token_id for option in step.alternatives] == best.indices.tolist()
        assert [option.probability for option in step.alternatives] == pytest.approx(best.values.tolist(), abs=1e-4)
        assert [option.chance for option in step.alternatives] == [1.0, 0.0, 0.0, 0.0, 0.0]
        ids.append(step.token_id)
    assert [step.stop for step in steps[:-1]] == [""] * (len(steps) - 1)
    assert steps[-1].stop in STOPS


@pytest.mark.parametrize("options", PROCESSED, ids=lambda options: "-".join(options) or "plain")
def test_a_seed_draws_what_generate_draws_under_the_same_processors(model, options):
    ids = encode_prompt(model, PROMPT)
    for seed in (0, 5):
        torch.manual_seed(seed)
        expected = generated(model, ids, 10, do_sample=True, **options)
        state = torch.get_rng_state()
        steps = list(continue_text(model, PROMPT, strategy="sample", max_new_tokens=10, seed=seed, **options))
        assert ids_of(steps) == expected
        assert torch.equal(torch.get_rng_state(), state)  # others' random numbers are left alone


def test_chances_are_what_the_controls_leave():
    model = writer("gpt2")
    step = next(continue_text(model, PROMPT, temperature=0.5, top_k=3, alternatives=8))
    probabilities = plain_logits(model, encode_prompt(model, PROMPT)).softmax(dim=-1)
    squared = probabilities.topk(3).values ** 2  # what a temperature of one half makes of them
    left = [option.chance for option in step.alternatives]
    assert left == pytest.approx([*(squared / squared.sum()).tolist(), *[0.0] * 5], abs=1e-5)
    assert step.chance == pytest.approx(left[step.rank - 1])


@pytest.mark.parametrize("options", [{}, {"beams": 3, "repetition_penalty": 1.4}], ids=["plain", "penalty"])
def test_the_winning_beam_is_that_of_generate_with_the_numbers_of_full_passes(model, options):
    ids = encode_prompt(model, PROMPT)
    steps = list(continue_text(model, PROMPT, strategy="beams", max_new_tokens=9, **options))
    theirs = dict(options)
    expected = generated(model, ids, 9, num_beams=theirs.pop("beams", 4), do_sample=False, **theirs)
    assert ids_of(steps) == expected
    for step in steps:
        probabilities = plain_logits(model, ids).softmax(dim=-1)
        assert step.probability == pytest.approx(probabilities[step.token_id].item(), abs=1e-4)
        assert step.rank == 1 + int((probabilities > probabilities[step.token_id]).sum())
        ids.append(step.token_id)


def test_a_beam_search_may_be_heard_of_at_every_pass():
    options = {"strategy": "beams", "max_new_tokens": 9}
    heard = list(continue_text(writer("gpt2"), PROMPT, tells_waiting=True, **options))
    steps = list(continue_text(writer("gpt2"), PROMPT, **options))
    assert None in heard and None not in steps
    assert [step for step in heard if step] == steps


def test_contrastive_search_is_that_of_a_plain_reference(model):
    """Su et al. 2022, with a full forward pass for every candidate of every step."""
    if model.network.config.model_type == "xlnet":
        with pytest.raises(UnsuitableModel, match="Choose another strategy"):
            continue_text(model, PROMPT, strategy="contrastive")
        return
    ids, alpha, k = encode_prompt(model, PROMPT), 0.55, 3
    expected = []
    for _ in range(6):
        likely = plain_logits(model, ids).softmax(dim=-1).topk(k)
        scores = []
        for probability, token_id in zip(likely.values, likely.indices, strict=True):
            with torch.inference_mode():
                given = torch.tensor([[*ids, int(token_id)]])
                hidden = model.network(input_ids=given, output_hidden_states=True).hidden_states[-1][0]
            unit = hidden / hidden.norm(dim=-1, keepdim=True)
            scores.append((1 - alpha) * probability - alpha * (unit[:-1] @ unit[-1]).max())
        ids.append(int(likely.indices[torch.stack(scores).argmax()]))
        expected.append(ids[-1])
        if ids[-1] == model.network.generation_config.eos_token_id:
            break
    options = {"penalty_alpha": alpha, "contrast_k": k, "max_new_tokens": 6}
    assert ids_of(continue_text(model, PROMPT, strategy="contrastive", **options)) == expected


def test_likeness_counts_for_as_much_as_alpha_says():
    probabilities = torch.tensor([0.6, 0.3])
    candidates, text = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert [choose_by_contrast(probabilities, candidates, text, alpha) for alpha in (0.0, 0.2, 0.4, 1.0)] == [
        0,
        0,
        1,
        1,
    ]


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beams"])
def test_a_trained_model_writes_what_generate_writes(strategy):
    model = stories()
    ids = encode_prompt(model, "Once upon a time")
    options = {"sample": {"do_sample": True, "top_p": 0.9}, "beams": {"num_beams": 4, "do_sample": False}}
    torch.manual_seed(7)
    expected = generated(model, ids, 60, **options.get(strategy, {"do_sample": False}))
    ours = {"seed": 7, "top_p": 0.9} if strategy == "sample" else {}
    steps = list(continue_text(model, "Once upon a time", strategy=strategy, max_new_tokens=60, **ours))
    assert ids_of(steps) == expected
    told = model.tokenizer.decode([*ids, *expected]).removeprefix(model.tokenizer.decode(ids))
    assert "".join(step.text for step in steps) == told


@pytest.mark.parametrize("options", [{}, {"top_k": 5}, {"top_p": 0.8, "temperature": 0.7}], ids=str)
def test_the_same_seed_draws_the_same_text_however_often_it_is_broken_off(options):
    draw = partial(continue_text, stories(), "Once upon a time", seed=3, **options)
    whole = ids_of(draw(max_new_tokens=30))
    first = ids_of(draw(max_new_tokens=10))
    second = ids_of(draw(max_new_tokens=5, written=first, drawn=10))
    assert first + second + ids_of(draw(max_new_tokens=15, written=first + second, drawn=15)) == whole
    for drawn in (-1, 11):
        with pytest.raises(UnsuitableText, match="at least 0 and at most 10"):
            draw(written=first, drawn=drawn)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_goes_on_after_what_was_written_and_stops_at_the_limit(strategy):
    model = build("gpt2", limit_tokens=16)
    whole = list(continue_text(model, PROMPT, strategy=strategy, max_new_tokens=500))
    assert {step.is_drawn for step in whole} == {strategy == "sample"}
    assert len(encode_prompt(model, PROMPT)) + len(whole) == 16 or whole[-1].stop == "end"
    assert whole[-1].stop == ("end" if whole[-1].token_id == model.tokenizer.sep_token_id else "context")
    if strategy != "beams":  # which look ahead
        again = list(continue_text(model, PROMPT, strategy=strategy, written=ids_of(whole[:2]), drawn=2))
        assert ids_of(again) == ids_of(whole[2:])
        assert [step.probability for step in again] == pytest.approx([step.probability for step in whole[2:]], abs=1e-5)


def test_the_end_of_a_text_is_told_and_nothing_follows_it():
    model = build("gpt2")
    ids = encode_prompt(model, PROMPT)
    *before, end = generated(model, ids, 4, do_sample=False)
    model.network.generation_config.eos_token_id = [end, 0]
    for strategy in ("greedy", "contrastive"):
        options = {"penalty_alpha": 0.0} if strategy == "contrastive" else {}
        steps = list(continue_text(model, PROMPT, strategy=strategy, **options))
        assert ids_of(steps) == [*before, end] == generated(model, ids, 40, do_sample=False)
        assert (steps[-1].stop, steps[-1].text) == ("end", "")
        spelled = model.tokenizer.convert_ids_to_tokens(end)
        assert steps[-1].alternatives[0].text == spelled
        assert list(continue_text(model, PROMPT, strategy=strategy, written=ids_of(steps))) == []
    beams = list(continue_text(model, PROMPT, strategy="beams", max_new_tokens=12))
    assert ids_of(beams) == generated(model, ids, 12, num_beams=4, do_sample=False)


def test_an_empty_prompt_begins_with_the_start_token_or_is_refused():
    for name in ("gpt2", "llama", "bert"):
        model = writer(name)
        steps = list(continue_text(model, "", strategy="greedy", max_new_tokens=3))
        start = model.tokenizer.bos_token_id if name != "bert" else model.tokenizer.cls_token_id
        assert ids_of(steps) == generated(model, [start], 3, do_sample=False)
    model = build("openai-gpt")
    model.tokenizer.bos_token = None
    model.tokenizer.backend_tokenizer.post_processor = None
    with pytest.raises(UnsuitableText, match="no token that starts a text"):
        continue_text(model, "")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "guess"}, "Choose one of: greedy, sample, beams, contrastive"),
        ({"temperature": 0.0}, "from 0.01 to 10.*choose the strategy greedy"),
        ({"temperature": -1.0}, "from 0.01 to 10"),
        ({"temperature": float("nan")}, "it is nan"),
        ({"top_p": 0.0}, "top_p must be a number from 0.01 to 1"),
        ({"typical_p": float("inf")}, "typical_p"),
        ({"min_p": 1.5}, "min_p"),
        ({"top_k": -1}, "top_k must be a whole number from 0"),
        ({"beams": 1000}, "beams must be a whole number from 1 to 10"),
        ({"repetition_penalty": 0.0}, "repetition_penalty"),
        ({"penalty_alpha": 2}, "penalty_alpha"),
        ({"contrast_k": 0}, "contrast_k"),
        ({"seed": -1}, "seed"),
        ({"max_new_tokens": 2000}, "max_new_tokens must be a whole number from 1 to 500; it is 2000"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"alternatives": 10**6}, "alternatives"),
        ({"written": [10**6]}, "no token 1000000"),
        ({"written": [-1]}, "whole numbers from 0 to"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read(options, says):
    with pytest.raises(UnsuitableText, match=says):
        continue_text(writer("gpt2"), PROMPT, **options)


@pytest.mark.parametrize(("key", "value"), [("temperature", "hot"), ("top_k", 2.5), ("seed", True), ("top_p", None)])
def test_a_setting_of_another_kind_is_refused(key, value):
    with pytest.raises(UnsuitableText, match=f"{key} must be a .*number"):
        check_control(key, value)


def test_prompts_that_cannot_be_read_are_refused_in_words():
    model = build("gpt2", limit_tokens=8)
    room = "a" * 7
    assert len(encode_prompt(model, room)) == 8
    for more, advice in (("", "one for each"), ("a", "a token, and one more for each"), ("aaa", "about 3 tokens, and")):
        with pytest.raises(UnsuitableText, match=f"has {8 + len(more)} tokens.*at most 8, those.*Leave out {advice}"):
            continue_text(model, room + more)
    assert [step.stop for step in continue_text(model, room[1:], strategy="greedy")] == ["context"]
    for strange in ("a\0b", "bell\a", "\ud800"):
        with pytest.raises(UnsuitableText, match="control characters"):
            continue_text(model, strange)
    with pytest.raises(UnsuitableText, match="characters; at most"):
        continue_text(model, "a" * (settings().longest_text_characters + 1))
    with pytest.raises(UnsuitableModel, match="Choose MiniLM .causal. or GPT mini"):
        continue_text(word_piece(), PROMPT)


def test_a_step_pickles_and_becomes_json():
    step = next(continue_text(writer("llama"), PROMPT, alternatives=2))
    assert pickle.loads(pickle.dumps(step)) == step
    known = {"token_id", "text", "probability", "chance", "rank", "entropy", "alternatives", "stop", "is_drawn"}
    assert set(to_json(step)) == known
    assert set(to_json(step)["alternatives"][0]) == {"token_id", "text", "probability", "chance"}


def test_every_control_of_a_strategy_exists_and_every_control_acts_somewhere():
    assert {key for strategy in STRATEGIES.values() for key in strategy.controls} == set(CONTROLS)
    assert all(control.lowest <= control.default <= control.highest for control in CONTROLS.values())


def test_numbers_are_right_where_the_network_rules_tokens_out_and_where_tokens_tie():
    logits = torch.tensor([1.0, -torch.inf, 3.0, 3.0, 0.5])
    probabilities = logits.softmax(dim=-1)
    for token_id, rank in ((0, 3), (2, 1), (3, 1), (4, 4)):
        choice = measure_choice(logits, token_id, 2)
        assert (choice.rank, choice.probability) == (rank, pytest.approx(probabilities[token_id].item()))
        assert choice.entropy == pytest.approx(torch.special.entr(probabilities).sum().item(), abs=1e-5)
        assert {option for option, _, _ in choice.options} == {2, 3}
    assert measure_choice(torch.tensor([0.0, 200.0]), 0, 1).entropy == 0.0
