"""What compute_loss returns: frozen, small, off the GPU; importable without torch."""

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What an objective did to a token."""

    SPECIAL = "special"  # added by the tokenizer, and never touched
    KEPT = "kept"  # nothing
    MASKED = "masked"  # the mask or a sentinel stands there
    RANDOMIZED = "randomized"  # picked: a random token stands there
    UNCHANGED = "unchanged"  # picked to be predicted, and left as it was
    REPLACED = "replaced"  # a generator put another token there
    DELETED = "deleted"  # gone without a trace
    MOVED = "moved"  # stands elsewhere


@dataclass(frozen=True)
class ExampleToken:
    """A token of the text, or of what the model reads.

    Attributes:
        text: As it reads; a piece that continues a word keeps its mark, e.g. "##ing".
        token: As the vocabulary spells it.
        token_id: Its id.
        fate: What the objective did to it.
    """

    text: str
    token: str
    token_id: int
    fate: Fate


@dataclass(frozen=True)
class Answer:
    """One thing the model is trained to say, and how well it does.

    Attributes:
        index: Which token of the text it is about; None where a decoder writes it, or it is about the whole.
        direction: "forward" or "backward" where a model reads both ways, else "".
        right: The right answer: a token as it reads, or "original", "replaced", "next".
        guess: What the model finds likeliest.
        probability: Of the right answer, in [0, 1].
        loss_nats: Its cross-entropy, −ln of that probability.
    """

    index: int | None
    direction: str
    right: str
    guess: str
    probability: float
    loss_nats: float


@dataclass(frozen=True)
class TrainingExample:
    """What an objective makes of a text, and a model's loss on it.

    Attributes:
        model: Name of the model.
        text: As given.
        objective: A key of OBJECTIVE_CARDS.
        noise: Of "denoising", a key of NOISES; else "".
        seed: Of all random choices.
        tokens: Of the text, and what became of each.
        inputs: What the model reads; parallel to tokens, but for objectives that write the text anew.
        input_text: What it reads, as a string.
        answers: What it is to say, in order.
        target_text: What a decoder is to write, as a string; else "".
        loss_nats: Mean over the answers; None where no model was asked.
        later_epochs: Of "masked": the fates of the tokens when the text is read again with new masks.
        replaced_by: Of "replaced": where the other tokens are from; else "".
        segments: Of "next_sentence": 0 where a token that is read belongs to the first sentence, 1 to the second.
    """

    model: str
    text: str
    objective: str
    noise: str
    seed: int
    tokens: tuple[ExampleToken, ...]
    inputs: tuple[ExampleToken, ...]
    input_text: str
    answers: tuple[Answer, ...]
    target_text: str
    loss_nats: float | None
    later_epochs: tuple[tuple[Fate, ...], ...] = ()
    replaced_by: str = ""
    segments: tuple[int, ...] = ()


@dataclass(frozen=True)
class Replacements:
    """Tokens that a generator would put into a text in the place of its own.

    Attributes:
        model: Name of the generator.
        text: As given.
        seed: Of the choice of places and tokens.
        tokens: Of the text, as the generator's vocabulary spells them.
        drawn: (index of a token, what to put there) pairs, spelled likewise; it may be the same token.
    """

    model: str
    text: str
    seed: int
    tokens: tuple[str, ...]
    drawn: tuple[tuple[int, str], ...]
