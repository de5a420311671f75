"""Held-out numbers of a model trained on a corpus."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.training.corpus import Corpus, TokenizedText
from explorer.training.masked import MaskedReport, measure_masked
from explorer.training.masking import ALL_MASKED, BERT_CORRUPTION, Corruption
from explorer.training.windows import WindowSampler

MEASURED_TOKENS = 65_536


@dataclass(frozen=True)
class CorpusReport(MaskedReport):
    """A MaskedReport, and the file whose held-out documents it is about."""

    corpus: str = ""


def held_out_rows(
    text: TokenizedText,
    tokenizer: PreTrainedTokenizerBase,
    *,
    length_tokens: int = 128,
    tokens: int = MEASURED_TOKENS,
    seed: int = 0,
) -> Int[Tensor, "row token"] | None:
    """Windows of held-out documents to measure on; None if no document is as long as one.

    Args:
        text: Held-out documents of one file.
        tokenizer: Of the model to measure.
        length_tokens: Of each row, special tokens included.
        tokens: How much text is wanted; a short text gives less, at most one row per sentence.
        seed: The same seed draws the same rows for every model of one tokenizer.
    """
    before, after = [tokenizer.cls_token_id], [tokenizer.sep_token_id]
    different = len(text.window_starts(length_tokens - len(before) - len(after)))
    if not different:
        return None
    sampler = WindowSampler([text], [1.0], before=before, after=after, seed=seed)
    return sampler.draw(min(max(1, tokens // length_tokens), different), length_tokens)


def report_masked(
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    corpus: Corpus,
    *,
    length_tokens: int = 128,
    tokens_per_file: int = MEASURED_TOKENS,
    corruptions: Sequence[Corruption] = (BERT_CORRUPTION, ALL_MASKED),
    seed: int = 0,
) -> list[CorpusReport]:
    """Measure a masked model on the held-out documents of each file, under several ways of masking.

    Args:
        network: With a masked head.
        tokenizer: Of the network.
        corpus: Files too short for a single row are left out.
        length_tokens: Of each row.
        tokens_per_file: How much text is measured.
        corruptions: Ways of masking.
        seed: Of rows and masks: the same for every model of one tokenizer.
    """
    reports = []
    for name, text in zip(corpus.names, corpus.held_out, strict=True):
        rows = held_out_rows(text, tokenizer, length_tokens=length_tokens, tokens=tokens_per_file, seed=seed)
        if rows is None:
            continue
        for corruption in corruptions:
            report = measure_masked(network, tokenizer, rows, corruption=corruption, seed=seed)
            reports.append(CorpusReport(**vars(report), corpus=name))
    return reports
