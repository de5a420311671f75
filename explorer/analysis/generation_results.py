"""What writing a text gives: frozen, free of torch, so that figures and the page can read it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TokenOption:
    """A token that might come next.

    Attributes:
        token_id: Its id.
        text: What it would add to the text, its space included.
        probability: The model's own, of the whole vocabulary, in [0, 1].
        chance: That the strategy would have drawn it, after temperature, cuts and penalties; 0 = cut away. Where
            nothing is drawn: 1 = the strategy takes it, else 0.
    """

    token_id: int
    text: str
    probability: float
    chance: float


@dataclass(frozen=True)
class GenerationStep:
    """One token that was written, and what else might have been.

    Attributes:
        token_id: Its id.
        text: What it adds to the text, its space included; "" while a character is not complete.
        probability: The model's own, of the whole vocabulary, in [0, 1].
        chance: That the strategy would draw it, after temperature, cuts and penalties; 1 where nothing is drawn.
        rank: Its place among all tokens by the model's own probability; 1 = the likeliest.
        entropy: Of the model's own distribution, in nats.
        alternatives: The likeliest tokens by the model's own probability, the written one among them if it is.
        stop: Why nothing follows: a key of STOPS; "" = more may follow.
        is_drawn: Whether the strategy draws by lot; a search takes its token.
    """

    token_id: int
    text: str
    probability: float
    chance: float
    rank: int
    entropy: float
    alternatives: tuple[TokenOption, ...]
    stop: str = ""
    is_drawn: bool = True


STOPS = {
    "end": "The model ended the text.",
    "length": "As many new tokens as were asked for.",
    "context": "The model reads no more tokens than these; nothing was dropped to go on.",
}


@dataclass(frozen=True)
class Continuation:
    """A text that was written on, as a whole.

    Attributes:
        model: Who wrote.
        prompt: What stood before.
        strategy: A key of STRATEGIES.
        text: What was written.
        stop: Why nothing follows: a key of STOPS.
        steps: One for each token.
    """

    model: str
    prompt: str
    strategy: str
    text: str
    stop: str
    steps: tuple[GenerationStep, ...]


def join_steps(model: str, prompt: str, strategy: str, steps: Sequence[GenerationStep]) -> Continuation:
    """The steps of a text with the text; where there are none, it had ended before."""
    text = "".join(step.text for step in steps)
    return Continuation(model, prompt, strategy, text, steps[-1].stop if steps else "end", tuple(steps))


@dataclass(frozen=True)
class PromptLength:
    """How much of what a model can read a prompt takes.

    Attributes:
        tokens: Of the prompt, the model's start token included.
        limit_tokens: How many the model reads at most, prompt and new text together.
        unknown: How many of the tokens are the one that stands for whatever the vocabulary lacks.
        pieces: How many of them continue a word, where the vocabulary marks these: "##ing".
        is_empty: Whether none of them is the prompt's own: there is none, or the model does not see its spaces.
    """

    tokens: int
    limit_tokens: int
    unknown: int = 0
    pieces: int = 0
    is_empty: bool = False
