"""What the fill-in-the-blank analyses return: frozen, small, off the GPU; importable without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """One token a model offers for a blank.

    Attributes:
        text: As it reads in the sentence; a piece that continues the word before it is marked, e.g. "##ing", whatever
            the vocabulary. Of two choices that read alike, the one with a space before it is marked, e.g. "␣The".
        token: As the vocabulary spells it.
        token_id: Its id.
        probability: Softmax over the whole vocabulary, in [0, 1].
    """

    text: str
    token: str
    token_id: int
    probability: float


@dataclass(frozen=True)
class Blank:
    """What a model expects at one blank while every other blank is open.

    Attributes:
        token_index: Position of the blank in the tokens of the text.
        choices: Most probable first.
        entropy_bits: Entropy of the distribution over the vocabulary, in bits.
    """

    token_index: int
    choices: tuple[Choice, ...]
    entropy_bits: float


@dataclass(frozen=True)
class Completion:
    """One way to fill all blanks at once.

    Attributes:
        text: The whole text with every blank filled.
        fills: What stands in each blank, in order; as the text of a Choice.
        log_probability: In nats; what it is the logarithm of is said by BlankFills.score.
    """

    text: str
    fills: tuple[str, ...]
    log_probability: float


@dataclass(frozen=True)
class BlankFills:
    """What a masked model puts into the blanks of a text.

    Attributes:
        model: Name of the model.
        text: The text as given.
        tokens: What the model saw, special tokens and masks included.
        strategy: How the blanks were filled together; a key of STRATEGIES.
        score: What log_probability of a completion means under that strategy.
        blanks: In the order of the text.
        completions: Whole texts, best first.
        remarks: What a reader should know besides, e.g. that the search ended at its bound.
    """

    model: str
    text: str
    tokens: tuple[str, ...]
    strategy: str
    score: str
    blanks: tuple[Blank, ...]
    completions: tuple[Completion, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class RevealStep:
    """One step of filling blanks one at a time.

    Attributes:
        text: The text before this step; blanks still open are ___.
        blanks: What the model expects at each blank of the original text before this step; None where it is filled.
        filled_blank: Which blank this step fills, counted from 0.
        choice: What is put there.
    """

    text: str
    blanks: tuple[Blank | None, ...]
    filled_blank: int
    choice: Choice


@dataclass(frozen=True)
class BlankReveal:
    """The blanks of a text filled one at a time, each fill changing what is expected at the rest.

    Attributes:
        model: Name of the model.
        text: The text as given.
        strategy: "left_to_right" or "most_confident_first".
        steps: One per blank, in the order they were filled.
        completion: The text at the end, with the chain-rule log-probability of the fills in this order, in nats.
    """

    model: str
    text: str
    strategy: str
    steps: tuple[RevealStep, ...]
    completion: Completion


@dataclass(frozen=True)
class RankedCandidate:
    """A candidate for a blank, the visitor's or the model's.

    Attributes:
        text: The candidate.
        tokens: Its pieces.
        log_probability: Sum over its pieces, in nats (pseudo-log-likelihood if there are several).
        log_probability_per_token: The same divided by the number of pieces.
        is_own: True for the visitor's candidate, False for one of the model's choices.
    """

    text: str
    tokens: tuple[str, ...]
    log_probability: float
    log_probability_per_token: float
    is_own: bool


@dataclass(frozen=True)
class CandidateRanking:
    """Candidates for each blank, best first.

    Attributes:
        model: Name of the model.
        text: The text as given.
        score: What log_probability means.
        blanks: One ranking per blank; empty where the visitor gave no candidates.
    """

    model: str
    text: str
    score: str
    blanks: tuple[tuple[RankedCandidate, ...], ...]


@dataclass(frozen=True)
class ContrastWord:
    """A token whose probability differs between two texts.

    Attributes:
        text: The token as it reads.
        probability: In the blank of the first text.
        other_probability: In the blank of the other text.
        log_odds_ratio: ln(odds in the first / odds in the other); positive = leans to the first.
    """

    text: str
    probability: float
    other_probability: float
    log_odds_ratio: float


@dataclass(frozen=True)
class TextContrast:
    """How two texts change what is expected in a blank of each.

    Attributes:
        model: Name of the model.
        text: First text.
        other_text: Other text.
        words: Tokens whose probabilities differ most, from most towards the first to most towards the other.
        divergence_bits: Jensen-Shannon divergence of the two distributions, in bits, in [0, 1].
        blank: Which blank of each text, counted from 1.
    """

    model: str
    text: str
    other_text: str
    words: tuple[ContrastWord, ...]
    divergence_bits: float
    blank: int = 1


@dataclass(frozen=True)
class Piece:
    """One token of a text.

    Attributes:
        token: As the vocabulary spells it.
        token_id: Its id; -1 for a word that the model spells by characters.
        is_special: Whether the tokenizer or the model added it, or it is a mask.
        is_unknown: Whether the vocabulary lacks this text.
        start: Where its text starts, in characters; None for added tokens.
        end: Where it ends, exclusive.
    """

    token: str
    token_id: int
    is_special: bool
    is_unknown: bool
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Tokenization:
    """How a model's tokenizer cuts a text.

    Attributes:
        model: Name of the model.
        text: The text, blanks as given.
        pieces: In order, special tokens included.
        vocabulary_size: Number of tokens the tokenizer knows.
        limit_tokens: Longest input of the model, in tokens.
    """

    model: str
    text: str
    pieces: tuple[Piece, ...]
    vocabulary_size: int
    limit_tokens: int


@dataclass(frozen=True)
class TracePoint:
    """A moment of a model's training.

    Attributes:
        tokens: Seen so far.
        seconds: Of training so far.
        scores: Name -> number, on held-out documents: "loss" in nats per prediction, "bits per byte", else shares.
        answers: (prompt, answer) pairs; every point has the same prompts.
    """

    tokens: int
    seconds: float
    scores: dict[str, float]
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TrainingTrace:
    """What a model could do as its training went on.

    Attributes:
        model: Its name.
        points: From the first to the last; at least one.
    """

    model: str
    points: tuple[TracePoint, ...]
