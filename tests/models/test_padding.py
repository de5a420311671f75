"""Rows are padded only where that changes nothing: some architectures do not mask padding."""

import random

import pytest
import torch

from explorer.models.layer_vectors import VectorRow, body_of, layer_vectors
from explorer.models.padding import may_be_padded
from tests.models.masked_families import FAMILIES, VOCABULARY, loaded

MIX_PADDING_IN = {"FNet", "Yoso", "Funnel"}
ONE_VECTOR_PER_TOKEN = [family for family in FAMILIES if str(family) != "Funnel"]  # it pools them


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_only_families_that_mix_padding_in_are_not_padded(family):
    model = loaded(family.build())
    passes = []
    body_of(model).register_forward_pre_hook(lambda *_: passes.append(1))
    assert may_be_padded(model, body_of(model)) == (str(family) not in MIX_PADDING_IN)
    tried = len(passes)
    may_be_padded(model, body_of(model))
    assert len(passes) == tried  # once


@pytest.mark.parametrize("family", ONE_VECTOR_PER_TOKEN, ids=str)
def test_vectors_do_not_depend_on_the_company(family):
    model = loaded(family.build())
    draw = random.Random(0)
    lengths = [draw.randint(4, 30) for _ in range(10)]
    ids = [tuple(draw.randrange(6, VOCABULARY) for _ in range(length)) for length in lengths]
    rows = [VectorRow(each, tuple((place,) for place in range(len(each)))) for each in ids]
    for batch in layer_vectors(model, rows):
        vectors, start = torch.from_numpy(batch.vectors), 0
        for number in batch.rows:
            with torch.inference_mode():
                states = body_of(model)(torch.tensor([ids[number]]), output_hidden_states=True).hidden_states
            end = start + lengths[number]
            torch.testing.assert_close(vectors[:, start:end], torch.cat(states), atol=1e-5, rtol=1e-5)
            start = end


def test_memory_that_runs_out_is_not_taken_for_an_answer():
    model = loaded(FAMILIES[0].build())

    def run_out(*_):
        raise torch.OutOfMemoryError

    hook = body_of(model).register_forward_pre_hook(run_out)
    with pytest.raises(torch.OutOfMemoryError):
        may_be_padded(model, body_of(model))
    hook.remove()
    assert may_be_padded(model, body_of(model))
