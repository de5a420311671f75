"""What choosing between options gives: frozen, free of torch, so that figures and the page can read it."""

from dataclasses import dataclass

from explorer.analysis.scoring_results import TokenScore

TIE_NATS = 1e-5  # scores that differ by less are a tie: single precision knows no more
WHOLE = "all tokens of the sentence"
FROM_LEFT = "the tokens of the option and those behind it; what stands before it is the same for all"
WITHIN = "the tokens of the option"


@dataclass(frozen=True)
class OptionPart:
    """Log-probability of an option, token by token.

    Attributes:
        tokens: The tokens it is the sum of.
        log_probability: Their sum, in nats.
    """

    tokens: tuple[TokenScore, ...]
    log_probability: float


@dataclass(frozen=True)
class OptionScore:
    """One option, and how its score comes about.

    Attributes:
        option: As given.
        text: The text with it.
        part: What was scored.
        baseline: Of "pmi": the same option without the text that asks for it; else None.
        baseline_text: Of "pmi": the neutral text with it; else "".
        token_count: Tokens that were scored.
        characters: Of the text that was scored: the option, and whatever else the sum is of.
        bytes: Of the same in UTF-8.
        score: What the options are ranked by, in nats (per what `normalise` says).
        share: exp(score) over the sum of that of all options: how far they are apart.
    """

    option: str
    text: str
    part: OptionPart
    baseline: OptionPart | None
    baseline_text: str
    token_count: int
    characters: int
    bytes: int
    score: float
    share: float


@dataclass(frozen=True)
class OptionChoice:
    """Which option a model holds for the likeliest.

    Attributes:
        model: Its name.
        text: As given.
        normalise: A key of NORMALISATIONS.
        score: What the log-probability of a token is of.
        scored: Which tokens are summed.
        domain: Of "pmi": what stands in the place of the text, as given.
        options: Best first.
    """

    model: str
    text: str
    normalise: str
    score: str
    scored: str
    domain: str
    options: tuple[OptionScore, ...]

    @property
    def firsts(self) -> int:
        """How many options share the first place; more than one is a tie."""
        return sum(self.options[0].score - one.score < TIE_NATS for one in self.options)


NORMALISATIONS = {  # key -> label, and what is done
    "sum": ("Sum", "Sum of the log-probabilities of the tokens."),
    "tokens": ("Per token", "The sum over the number of tokens: longer options do not lose by their length."),
    "characters": ("Per character", "The sum over the characters of what is summed, however a vocabulary cuts it."),
    "bytes": ("Per byte", "The sum over the bytes of what is summed, in UTF-8."),
    "pmi": (
        "PMI",
        "Pointwise mutual information (PMI): the sum less that of the same option in a neutral text, so that "
        "frequent words do not win by themselves.",
    ),
}
