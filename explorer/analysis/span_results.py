"""What filling spans gives: frozen, free of torch, so that figures and the page can read it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SpanChoice:
    """One way to fill a span.

    Attributes:
        text: What is written there; "" = nothing.
        log_probability: In nats, of what SpanFills.score says.
        length_tokens: Of the model.
    """

    text: str
    log_probability: float
    length_tokens: int


@dataclass(frozen=True)
class Span:
    """What may stand in one blank.

    Attributes:
        choices: Best first, no text twice.
    """

    choices: tuple[SpanChoice, ...]


@dataclass(frozen=True)
class SpanCompletion:
    """One way to fill all the spans.

    Attributes:
        text: The whole text; a blank that the model left out stays open.
        fills: One per blank; None = the model wrote nothing for it.
        log_probability: In nats, of what SpanFills.completion_score says.
    """

    text: str
    fills: tuple[str | None, ...]
    log_probability: float


@dataclass(frozen=True)
class SpanFills:
    """How a model fills spans of any length.

    Attributes:
        model: Its name.
        text: As given.
        method: How the answers were searched for: a key of METHODS.
        score: What the log-probability of a choice is of.
        completion_score: What that of a completion is of.
        spans: One per blank.
        completions: Those that fill all blanks first, then by log-probability.
        saw: What the model read for the choices, special tokens included: one text, or one for each blank where a blank
            is read with what was found for those before it.
        wrote: What it wrote for each completion, as it wrote it; empty where a model writes nothing but the fills.
        remarks: What was odd about what it wrote, in plain words.
    """

    model: str
    text: str
    method: str
    score: str
    completion_score: str
    spans: tuple[Span, ...]
    completions: tuple[SpanCompletion, ...]
    saw: tuple[str, ...]
    wrote: tuple[str, ...]
    remarks: tuple[str, ...]
