"""The family of `explorer.training.minis`, small enough to train in a second, over the animals' language."""

from unittest.mock import patch

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.analysis.corruption.sentinels import SENTINELS
from explorer.training.corpus import Corpus
from explorer.training.minis import SPECIAL_TOKENS, dress_tokenizer, new_network
from explorer.training.objective import Objective
from explorer.training.windows import WindowSampler
from tests.training.tiny_corpus import VOCABULARY

SENTINEL_TOKENS = tuple(f"<extra_id_{number}>" for number in range(SENTINELS))
TINY = {"WIDTH": 32, "LAYERS": 2, "HEADS": 2, "CONTEXT_TOKENS": 64, "LSTM_DIM": 48}


def tiny_tokenizer(objective: str) -> PreTrainedTokenizerBase:
    """Words as the other tests' tokenizer numbers them, then sentinels; marks as the objective needs them."""
    words = Tokenizer(
        models.WordLevel({word: id for id, word in enumerate((*VOCABULARY, *SENTINEL_TOKENS))}, unk_token="[UNK]")
    )
    words.normalizer = normalizers.Lowercase()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.add_special_tokens([*SPECIAL_TOKENS, *SENTINEL_TOKENS])
    with patch.multiple("explorer.training.minis", **TINY):
        return dress_tokenizer(words, objective)


def tiny_network(objective: str, *, seed: int = 0) -> PreTrainedModel:
    """A mini of two layers, 32 wide."""
    torch.manual_seed(seed)
    with patch.multiple("explorer.training.minis", **TINY):
        return new_network(objective, tiny_tokenizer(objective)).eval()


def make_sampler(corpus: Corpus, task: Objective, *, seed: int = 0) -> WindowSampler:
    """Rows as a run of `explorer pretrain` draws them for an objective."""
    before, after = task.edges
    return WindowSampler(corpus.train, [1.0], before=before, after=after, sentence_at=task.sentence_at, seed=seed)


def seeded(seed: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def learn(task: Objective, corpus: Corpus, *, steps: int, rows: int = 16, length: int = 24) -> list[float]:
    """Train as `pretrain` does, less the files; returns what each step reports."""
    optimizer = torch.optim.AdamW(task.parameter_groups(5e-3), betas=(0.9, 0.98), fused=True)
    sampler, random, reported = make_sampler(corpus, task), seeded(), []
    task.trained.train()
    for step in range(steps):
        optimizer.zero_grad()
        loss, number = task.loss(sampler.draw(rows, length), step / steps, random)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(task.trained.parameters(), 1.0)
        optimizer.step()
        reported.append(number)
    task.trained.eval()
    return reported
