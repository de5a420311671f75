"""Results as text for a terminal: aligned columns, probabilities in per cent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from explorer.models.card import ModelCard
from explorer.models.status import format_bytes

if TYPE_CHECKING:
    from explorer.analysis.language_sampling import LanguageShare
    from explorer.analysis.results import (
        Blank,
        BlankFills,
        BlankReveal,
        CandidateRanking,
        TextContrast,
        Tokenization,
    )
    from explorer.analysis.span_results import SpanFills
    from explorer.analysis.training_results import TrainingExample


def percent(probability: float) -> str:
    """A probability in [0, 1] as people read it; never more digits than matter."""
    if probability < 0.0005:
        return "< 0.1 %"
    return f"{100 * probability:.1f} %"


def columns(rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> str:
    """Rows as aligned columns, indented by two; wide characters count as two.

    Args:
        rows: All of the same length.
        right: Indices of the columns that are set flush right.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        padded = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if index in right else cell + space)
        lines.append("  " + "  ".join(padded).rstrip())
    return "\n".join(lines)


def describe_fills(result: BlankFills) -> str:
    """The choices of each blank, then the whole texts."""
    parts = [_describe_blank(f"Blank {number}", blank) for number, blank in enumerate(result.blanks, start=1)]
    rows = [[f"{completion.log_probability:.2f}", completion.text] for completion in result.completions]
    parts.append(f"All together ({result.strategy}; {result.score})\n" + columns(rows, right=[0]))
    return "\n\n".join([*parts, "\n".join([*result.remarks, f"Model: {result.model}"])])


def describe_reveal(result: BlankReveal) -> str:
    """One paragraph per step."""
    parts = []
    for number, step in enumerate(result.steps, start=1):
        rows = [
            [
                "*" if index == step.filled_blank else "",
                f"blank {index + 1}",
                ", ".join(f"{choice.text} {percent(choice.probability)}" for choice in blank.choices),
            ]
            for index, blank in enumerate(step.blanks)
            if blank is not None
        ]
        parts.append(f"Step {number}: {step.text}\n" + columns(rows))
    end = f"Filled: {result.completion.text}\n  {result.completion.log_probability:.2f} (chain rule, in nats)"
    return "\n\n".join([*parts, end, f"Model: {result.model} · {result.strategy} · * = filled in this step"])


def describe_ranking(result: CandidateRanking) -> str:
    """One table per blank that has candidates."""
    parts = []
    for number, ranking in enumerate(result.blanks, start=1):
        if ranking:
            rows = [["", "candidate", "nats", "per token", "tokens"]] + [
                [
                    "*" if candidate.is_own else "",
                    candidate.text,
                    f"{candidate.log_probability:.2f}",
                    f"{candidate.log_probability_per_token:.2f}",
                    " ".join(candidate.tokens),
                ]
                for candidate in ranking
            ]
            parts.append(f"Blank {number}\n" + columns(rows, right=[2, 3]))
    return "\n\n".join([*parts, f"* = yours. {result.score}", f"Model: {result.model}"])


def describe_contrast(result: TextContrast) -> str:
    """The words that differ most, from most towards the first text to most towards the other."""
    rows = [["word", "first", "other", "log odds ratio"]] + [
        [word.text, percent(word.probability), percent(word.other_probability), f"{word.log_odds_ratio:+.2f}"]
        for word in result.words
    ]
    return "\n\n".join(
        [
            f"First: {result.text}\nOther: {result.other_text}",
            columns(rows, right=[1, 2, 3]),
            f"Jensen-Shannon divergence: {result.divergence_bits:.3f} bits",
            f"Model: {result.model}",
        ]
    )


def describe_spans(result: SpanFills) -> str:
    """The choices of each blank with their lengths, then the whole texts, then what was odd."""
    parts = []
    for number, span in enumerate(result.spans, start=1):
        rows = [
            [
                f"{choice.log_probability:.2f}",
                choice.text or "(nothing)",
                f"{choice.length_tokens} token{'s' * (choice.length_tokens != 1)}",
            ]
            for choice in span.choices
        ]
        parts.append(f"Blank {number}\n" + columns(rows, right=[0]))
    rows = [[f"{completion.log_probability:.2f}", completion.text] for completion in result.completions]
    if rows:
        parts.append("All together\n" + columns(rows, right=[0]))
    numbers = f"Numbers: {result.score}; of whole texts: {result.completion_score}; in nats"
    return "\n\n".join([*parts, "\n".join([*result.remarks, numbers, f"Model: {result.model}"])])


def describe_example(result: TrainingExample) -> str:
    """What is read, and one line for each answer with its loss."""
    rows: list[list[object]] = [["", "right", "model's guess", "probability", "nats"]]
    for answer in result.answers:
        fate = "" if answer.index is None else result.tokens[answer.index].fate
        about = answer.direction or ("" if fate in ("kept", "special") else fate)
        judged = f"{result.inputs[answer.index].text}: " if result.objective == "replaced" else ""
        numbers = [percent(answer.probability), f"{answer.loss_nats:.2f}"]
        rows.append([about, judged + answer.right, answer.guess, *numbers])
    parts = [f"Reads:  {result.input_text}"]
    if result.target_text:
        parts.append(f"Writes: {result.target_text}")
    if result.replaced_by:
        parts.append(f"Replacements: {result.replaced_by}")
    about = " · ".join(part for part in (result.objective, result.noise, f"seed {result.seed}") if part)
    lines, model = "\n".join(parts), f"Model: {result.model} · {about}"
    if result.loss_nats is None:  # no model was asked
        return f"{lines}\n\n{model}"
    mean = f"Mean loss: {result.loss_nats:.4f} nats over {len(result.answers)} answers"
    return "\n\n".join([lines, columns(rows, right=[3, 4]), f"{mean}\n{model}"])


def describe_languages(languages: Sequence[LanguageShare]) -> str:
    """One line per language, in the order given."""
    rows: list[list[object]] = [["language", "GiB", "of the text", "of what is read", "times as often"]]
    for row in languages:
        times = f"{row.sampled / row.share:.2f}"
        rows.append([row.language, f"{row.size_gib:.1f}", percent(row.share), percent(row.sampled), times])
    return columns(rows, right=[1, 2, 3, 4])


def describe_tokens(result: Tokenization) -> str:
    """One line per token, and how many of them the model reads."""
    rows = [["token", "id", "from", "to", ""]]
    for piece in result.pieces:
        kind = "unknown" if piece.is_unknown else "special" if piece.is_special else ""
        start, end = ("", "") if piece.start is None else (piece.start, piece.end)
        rows.append([piece.token, piece.token_id, start, end, kind])
    count = len(result.pieces)
    too_many = f", {count - result.limit_tokens} too many" if count > result.limit_tokens else ""
    return (
        columns(rows, right=[1, 2, 3])
        + f"\n\n{count} tokens; {result.model} reads at most {result.limit_tokens}{too_many}. "
        + f"Vocabulary: {result.vocabulary_size:,} tokens."
    )


def describe_cards(cards: Sequence[ModelCard]) -> str:
    """The catalogue as a table."""
    rows = [["model", "size", "from", "can", "licence"]] + [
        [
            card.name,
            "?" if card.weights_bytes is None else format_bytes(card.weights_bytes),
            "internet" if card.needs_network else "here",
            ", ".join(sorted(card.abilities)),
            card.licence,
        ]
        for card in cards
    ]
    return columns(rows, right=[1])


def _describe_blank(title: str, blank: Blank) -> str:
    rows = [[choice.text, percent(choice.probability)] for choice in blank.choices]
    return f"{title} (entropy {blank.entropy_bits:.1f} bits)\n" + columns(rows, right=[1])
