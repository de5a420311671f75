"""Answers cut out of a passage by an encoder: one linear layer scores each token as the first and as the last.

Source: Devlin et al. 2019, section 4.2, https://arxiv.org/abs/1810.04805
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.training.tuning.answer_scores import answer_baselines, answer_remarks, measure_answers
from explorer.training.tuning.answer_windows import AnswerWindow, make_windows
from explorer.training.tuning.asking import EACH_TOKEN
from explorer.training.tuning.batches import read_states
from explorer.training.tuning.classification import ClassHead
from explorer.training.tuning.examples import AnsweredQuestion
from explorer.training.tuning.recipe import METHODS, TASKS, Recipe
from explorer.training.tuning.task import Measured, Reading, Row, Start, Verdict
from explorer.training.tuning.tokenizing import reads_types

MOST_ANSWER_TOKENS = 30  # as BERT's; a longer answer is none
SIDES = 2  # the answer's first token and its last


class Answers:
    """The task "answers".

    A row is a question: one reading for each window of its passage, which are its target.

    Args:
        start: An encoder.
        recipe: How; its length_tokens and method count here.
        labels: None.

    Raises:
        UnsuitableModel: Its tokenizer does not say where its tokens stand, or the method is "layers".
    """

    keeps_features = True
    head_reads = EACH_TOKEN

    def __init__(self, start: Start, recipe: Recipe, labels: tuple[str, ...]) -> None:
        if not getattr(start.tokenizer, "is_fast", False):
            raise UnsuitableModel(
                f"The tokenizer of {start.name} does not say where its tokens stand in a text, so no answer can be "
                f"cut out of it. Choose another model."
            )
        if recipe.method == "layers":  # every layer of every token would have to be kept
            raise UnsuitableModel(
                f'"{METHODS["layers"]}" cannot do "{TASKS["answers"]}": choose "{METHODS["frozen"]}", '
                f'"{METHODS["lora"]}" or "{METHODS["full"]}".'
            )
        self._start, self._recipe = start, recipe
        self.network, self.labels = start.network, labels
        self.head: nn.Module = ClassHead(start.body.config.hidden_size, SIDES, layers=1, mixes=False)

    def rows(self, examples: Sequence[AnsweredQuestion]) -> list[Row]:
        most = min(self._recipe.length_tokens, self._start.limit_tokens)
        knows_types = reads_types(self._start)
        of_question: list[list[AnswerWindow]] = [[] for _ in examples]
        for window in make_windows(self._start.tokenizer, examples, most):
            of_question[window.question].append(window)
        rows = []
        for windows in of_question:
            if not windows:
                raise UnsuitableText("One of the questions has no passage: fill the empty cell, or delete its row.")
            readings = tuple(Reading(window.ids, window.types if knows_types else ()) for window in windows)
            rows.append(Row(readings, tuple(windows)))
        return rows

    def features(self, rows: Sequence[Row]) -> list[Tensor]:
        """Of each row the tokens of its windows, one after the other: the null place first, then the passage."""
        readings = [reading for row in rows for reading in row.readings]
        states, _ = read_states(self._start.body, readings)
        found = iter(states.unbind(dim=1))
        return [torch.cat([next(found)[:, _places(window)] for window in row.target], dim=1) for row in rows]

    def loss(self, rows: Sequence[Row], kept: Sequence[Tensor] | None, share_done: float) -> Tensor:
        losses = [_loss(row, logs) for row, logs in zip(rows, self._logs(rows, kept), strict=True)]
        answered = [any(window.start for window in row.target) for row in rows]  # of the others nothing is known
        weights = torch.tensor(answered, dtype=torch.float32, device=losses[0].device)
        return (torch.stack(losses) * weights).sum() / weights.sum().clamp(min=1.0)

    def judge(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[Verdict]:
        verdicts = []
        for row, logs in zip(rows, self._logs(rows, kept), strict=True):
            logs = [log.cpu() for log in logs]
            verdicts.append(Verdict(float(_loss(row, logs)), find_best_span(row.target, logs)))
        return verdicts

    def measure(self, examples: Sequence[AnsweredQuestion], verdicts: Sequence[Verdict]) -> Measured:
        return measure_answers(examples, [verdict.answer for verdict in verdicts])

    def baselines(self, train: Sequence[AnsweredQuestion], held_out: Sequence[AnsweredQuestion]) -> dict[str, float]:
        return answer_baselines(held_out)

    def remarks(self, train: Sequence[AnsweredQuestion], held_out: Sequence[AnsweredQuestion]) -> list[str]:
        return answer_remarks([*train, *held_out])

    def samples(self, held_out: Sequence[AnsweredQuestion]) -> list[tuple[str, str]]:
        return []

    def fit_head(self, rows: Sequence[Row], kept: Sequence[Tensor], seed: int) -> bool:
        return False

    def _logs(self, rows: Sequence[Row], kept: Sequence[Tensor] | None) -> list[list[Float[Tensor, "_ side"]]]:
        """Log-probabilities of each window's places, as the answer's first token and as its last."""
        vectors = self.features(rows) if kept is None else kept
        logits = self.head(torch.cat(list(vectors), dim=1)).float()
        sizes = [len(window.spans) + 1 for row in rows for window in row.target]
        parts = iter(logits.split(sizes))
        return [[next(parts).log_softmax(dim=0) for _ in row.target] for row in rows]


def find_best_span(
    windows: Sequence[AnswerWindow], logs: Sequence[Float[Tensor, "_ side"]]
) -> tuple[tuple[int, int], float]:
    """The likeliest answer, wherever it stands.

    Args:
        windows: Of one question.
        logs: Of each window: place 0 says that the answer is not there, the others are the passage's tokens.

    Returns:
        Its first character and the one behind its last; and its probability within its window.
    """
    best, found = -float("inf"), (0, 0)
    for window, log in zip(windows, logs, strict=True):
        starts, ends = log[1:, 0], log[1:, 1]
        sums = starts[:, None] + ends[None]
        allowed = torch.ones_like(sums, dtype=torch.bool).triu().tril(MOST_ANSWER_TOKENS - 1)
        value, place = sums.masked_fill(~allowed, -float("inf")).flatten().max(dim=0)
        if float(value) > best:
            start, end = divmod(int(place), len(window.spans))
            best, found = float(value), (window.spans[start][0], window.spans[end][1])
    return found, float(torch.tensor(best).exp())


def _places(window: AnswerWindow) -> list[int]:
    return [0, *range(window.first, window.first + len(window.spans))]


def _loss(row: Row, logs: Sequence[Float[Tensor, "_ side"]]) -> Float[Tensor, ""]:
    """Mean over the windows and both sides."""
    losses = []
    for window, log in zip(row.target, logs, strict=True):
        wanted = [max(0, place - window.first + 1) for place in (window.start, window.end)]
        losses.append(F.nll_loss(log.T, torch.tensor(wanted, device=log.device)))
    return torch.stack(losses).mean()
