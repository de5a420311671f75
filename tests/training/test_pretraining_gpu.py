"""Pre-training on a GPU: every objective learns there in bfloat16, and is measured there."""

import pytest

from explorer.training.objectives import OBJECTIVES, make_objective, measure_held_out
from explorer.training.pretraining import Plan, pretrain
from explorer.training.tracing import answer_prompts
from tests.training.tiny_networks import make_sampler, tiny_network, tiny_tokenizer

pytestmark = pytest.mark.gpu
PLAN = Plan(tokens=60_000, batch_tokens=1024, lengths_tokens=(32,), learning_rate=5e-3)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_objective_learns_on_a_gpu(objective, corpus, tmp_path):
    tokenizer, network = tiny_tokenizer(objective), tiny_network(objective).cuda()
    task = make_objective(objective, network, tokenizer)
    losses = []
    pretrain(task, make_sampler(corpus, task), PLAN, tmp_path, lambda step: losses.append(step.loss_nats))
    assert losses[-1] < 0.8 * losses[0]
    (measured, *_) = measure_held_out(objective, network, tokenizer, corpus, length_tokens=32)
    assert measured.count > 0
    assert all(isinstance(answer, str) for _, answer in answer_prompts(objective, network, tokenizer))
    again = Plan(**{**vars(PLAN), "tokens": PLAN.tokens + 1024})  # the checkpoint goes back where it came from
    assert pretrain(task, make_sampler(corpus, task), again, tmp_path).tokens > PLAN.tokens
