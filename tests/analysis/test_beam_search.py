import pickle

import pytest
import torch

from explorer.analysis import search_beams
from explorer.analysis.beam_results import FATES
from explorer.analysis.exporting import to_json
from explorer.analysis.prompts import encode_prompt
from explorer.errors import UnsuitableText
from tests.analysis.writing_models import NETWORKS, build, plain_logits, stories, writer

PROMPT = "the cat is playing"


@pytest.mark.parametrize("architecture", NETWORKS)
def test_beams_carry_the_log_probabilities_of_full_passes(architecture):
    model = writer(architecture)
    ids = encode_prompt(model, PROMPT)
    living = [([], 0.0)]
    for number, step in enumerate(search_beams(model, PROMPT, beams=3, max_new_tokens=4), start=1):
        grown = []
        for beam in step.beams:
            path, before = living[beam.parent]
            log_probability = before + plain_logits(model, [*ids, *path]).log_softmax(dim=-1)[beam.token_id].item()
            assert beam.log_probability == pytest.approx(log_probability, abs=1e-3)
            assert beam.score == pytest.approx(log_probability / number, abs=1e-3)
            assert beam.fate in FATES
            if beam.fate == "lives":
                grown.append(([*path, beam.token_id], beam.log_probability))
        living = grown
        assert bool(step.stop) == (not living) or step.stop == "end"
    assert step.ended[0].score == max(beam.score for beam in step.ended)


def test_the_best_of_two_tokens_is_found_by_trying_all():
    """With as many beams as there are beginnings worth keeping, nothing is missed."""
    model = writer("bert")
    ids = encode_prompt(model, PROMPT)
    first = plain_logits(model, ids).log_softmax(dim=-1)
    first[model.tokenizer.sep_token_id] = -torch.inf  # ends there
    both = torch.stack(
        [first[token] + plain_logits(model, [*ids, token]).log_softmax(-1) for token in range(len(first))]
    )
    best = int(both.argmax())
    *_, last = search_beams(model, PROMPT, beams=10, max_new_tokens=2)
    found = next(beam for beam in last.ended if beam.score == beam.log_probability / 2)  # the others ended at once
    assert found.log_probability == pytest.approx(both.max().item(), abs=1e-4)
    assert found.token_id == best % len(first)


def test_words_of_a_trained_model_are_read_in_place():
    steps = list(search_beams(stories(), "Once upon a", beams=2, max_new_tokens=6))
    assert steps[0].beams[0].text == " time"
    for before, step in zip(steps, steps[1:], strict=False):
        for beam in step.beams:
            assert beam.text == before.beams[beam.parent].text + beam.token
    assert steps[-1].stop == "length" and len(steps[-1].ended) == 2
    assert pickle.loads(pickle.dumps(steps)) == steps
    assert to_json(steps[0])["beams"][0]["fate"] == "lives"


def test_the_search_stops_at_the_limit_and_refuses_what_cannot_be_meant():
    model = build("gpt2", limit_tokens=16)
    *_, last = search_beams(model, PROMPT, max_new_tokens=400)
    assert last.stop in {"context", "end"}
    assert list(search_beams(model, PROMPT, written=[model.tokenizer.sep_token_id])) == []
    with pytest.raises(UnsuitableText, match="beams must be"):
        search_beams(model, PROMPT, beams=0)
    with pytest.raises(UnsuitableText, match="max_new_tokens must be"):
        search_beams(model, PROMPT, max_new_tokens=2000)
