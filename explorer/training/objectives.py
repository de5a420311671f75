"""OBJECTIVES: every pre-training objective by name, and how well a model does at it.   <- add an objective here"""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.analysis.corruption.masking import ALL_MASKED, BERT_CORRUPTION
from explorer.models.card import Ability
from explorer.training.bilm import BilmObjective, measure_bilm
from explorer.training.causal import CausalObjective, measure_causal
from explorer.training.corpus import Corpus, TokenizedText
from explorer.training.masked import MaskedObjective, measure_masked
from explorer.training.objective import Objective
from explorer.training.replaced import ReplacedObjective, measure_replaced
from explorer.training.rows import edges
from explorer.training.sentence_pairs import SentencePairObjective, measure_pairs
from explorer.training.spans import SpanObjective, measure_spans
from explorer.training.windows import WindowSampler

MEASURED_TOKENS = 65_536
Rows = Int[Tensor, "row token"]


@dataclass(frozen=True)
class Measured:
    """How well a model does at one thing, on held-out documents.

    Attributes:
        what: What it does, e.g. "80/10/10" for masked tokens, "next token".
        length_tokens: Of each row, special tokens included.
        count: How many predictions that is about.
        scores: Name -> number; shares in [0, 1], losses in nats per prediction.
        corpus: File whose held-out documents were read.
    """

    what: str
    length_tokens: int
    count: int
    scores: dict[str, float]
    corpus: str = ""

    def __str__(self) -> str:
        """One line for people."""
        numbers = ", ".join(f"{name} {format_score(name, value)}" for name, value in self.scores.items())
        return f"{self.corpus}, held out, {self.what}, {self.length_tokens} tokens: {numbers} (n={self.count:,})"


def format_score(name: str, value: float) -> str:
    """A number as people read it: shares in percent."""
    return f"{value:.3f}" if name in ("loss", "bits per byte") else f"{value:.1%}"


Measure = Callable[[PreTrainedModel, PreTrainedTokenizerBase, Rows, TokenizedText, int], list[Measured]]


def _measure_masked(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    reports = [measure_masked(network, tokenizer, rows, corruption=c, seed=seed) for c in (BERT_CORRUPTION, ALL_MASKED)]
    return [
        Measured(r.masked_as, r.length_tokens, r.picked, {"loss": r.loss_nats, "top-1": r.top1, "top-5": r.top5})
        for r in reports
    ]


def _measure_pairs(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    accuracy = measure_pairs(network, tokenizer, rows, seed=seed)
    return [Measured("next sentence or not", rows.shape[1], len(rows), {"accuracy": accuracy})]


def _measure_causal(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    report = measure_causal(network, rows, bytes_per_token=text.bytes_per_token)
    scores = {"loss": report.loss_nats, "bits per byte": report.bits_per_byte}
    return [Measured("next token", report.length_tokens, report.predicted, scores)]


def _measure_bilm(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    reports = measure_bilm(network, rows, bytes_per_token=text.bytes_per_token)
    return [
        Measured(what, r.length_tokens, r.predicted, {"loss": r.loss_nats, "bits per byte": r.bits_per_byte})
        for what, r in zip(("next token", "token before"), reports, strict=True)
    ]


def _measure_spans(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    report = measure_spans(network, tokenizer, rows, seed=seed)
    scores = {"loss": report.loss_nats, "exact match": report.exact_match}
    return [Measured("span of one word", report.length_tokens, report.words, scores)]


def _measure_replaced(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Rows, text: TokenizedText, seed: int
) -> list[Measured]:
    report = measure_replaced(network, tokenizer, rows, seed=seed)
    scores = {"loss": report.loss_nats, "found": report.found, "falsely accused": report.accused}
    return [Measured("15 % shuffled", report.length_tokens, report.tokens, scores)]


@dataclass(frozen=True)
class ObjectiveKind:
    """An objective, and how a model that was trained for it is measured.

    Attributes:
        objective: What it is learnt by.
        measure: What it is measured by.
        options: Which of the recipe's options it takes.
    """

    objective: type[Objective]
    measure: Measure
    options: frozenset[str] = frozenset()


OBJECTIVES = {
    "masked": ObjectiveKind(MaskedObjective, _measure_masked, frozenset({"share", "unlikelihood", "common_ids"})),
    "masked+nsp": ObjectiveKind(SentencePairObjective, _measure_pairs, frozenset({"share"})),
    "causal": ObjectiveKind(CausalObjective, _measure_causal),
    "span": ObjectiveKind(SpanObjective, _measure_spans, frozenset({"share", "mean_span_tokens"})),
    "bilm": ObjectiveKind(BilmObjective, _measure_bilm),
    "replaced": ObjectiveKind(ReplacedObjective, _measure_replaced, frozenset({"share", "seed"})),
}

TAUGHT_BY = {  # ability of a bundled model -> the objective that gave it
    Ability.FILL_BLANKS: "masked",
    Ability.GENERATE: "causal",
    Ability.FILL_SPANS: "span",
    Ability.PREDICT_BOTH_WAYS: "bilm",
    Ability.DETECT_REPLACED: "replaced",
}


def make_objective(
    name: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, **options: object
) -> Objective:
    """An objective by its name.

    Args:
        name: A key of OBJECTIVES.
        network: What is trained.
        tokenizer: Of the network.
        options: Of the recipe; those that the objective does not take are left out, and so are those that are None.
    """
    kind = OBJECTIVES[name]
    taken = {key: value for key, value in options.items() if key in kind.options | {"head_learning_rate"}}
    given = {key: value for key, value in taken.items() if value is not None}
    return kind.objective(network, tokenizer, **given)


def held_out_rows(
    text: TokenizedText,
    tokenizer: PreTrainedTokenizerBase,
    *,
    objective: str = "masked",
    length_tokens: int = 128,
    tokens: int = MEASURED_TOKENS,
    seed: int = 0,
) -> Rows | None:
    """Windows of held-out documents to measure on; None if no document is as long as one.

    Args:
        text: Held-out documents of one file.
        tokenizer: Of the model to measure.
        objective: What the rows are for.
        length_tokens: Of each row, special tokens included.
        tokens: How much text is wanted; a short text gives less, at most one row per sentence.
        seed: The same seed draws the same rows for every model of one tokenizer.
    """
    kind = OBJECTIVES[objective]
    before, after = edges(tokenizer)
    inner = length_tokens - len(before) - len(after)
    marks = (before, after) if kind.objective.has_marks else ((), ())
    sentence_at = kind.objective.sentence_at
    different = len(text.window_starts(inner, int(inner * sentence_at)))
    if not different:
        return None
    sampler = WindowSampler([text], [1.0], before=marks[0], after=marks[1], sentence_at=sentence_at, seed=seed)
    length = length_tokens if kind.objective.has_marks else inner
    return sampler.draw(min(max(1, tokens // length_tokens), different), length)


def measure_held_out(
    objective: str,
    network: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    corpus: Corpus,
    *,
    length_tokens: int = 128,
    tokens_per_file: int = MEASURED_TOKENS,
    seed: int = 0,
) -> list[Measured]:
    """Measure a model on the held-out documents of each file.

    Args:
        objective: A key of OBJECTIVES.
        network: Trained for it.
        tokenizer: Of the network.
        corpus: Files too short for a single row are left out.
        length_tokens: Of each row.
        tokens_per_file: How much text is measured.
        seed: Of rows and corruption: the same for every model of one tokenizer.
    """
    results: list[Measured] = []
    for name, text in zip(corpus.names, corpus.held_out, strict=True):
        rows = held_out_rows(
            text, tokenizer, objective=objective, length_tokens=length_tokens, tokens=tokens_per_file, seed=seed
        )
        if rows is not None:
            measured = OBJECTIVES[objective].measure(network, tokenizer, rows, text, seed)
            results += [Measured(**{**asdict(each), "corpus": name}) for each in measured]
    return results
