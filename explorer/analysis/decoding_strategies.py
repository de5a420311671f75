"""The ways to choose the next token, and the controls that act on them, as data; importable without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Control:
    """A number that a visitor may set.

    Attributes:
        key: What the argument of continue_text is called.
        label: What the visitor reads.
        hint: In one line, what it does.
        lowest: The least that is accepted, itself included.
        highest: The most.
        default: What leaves the model's own probabilities as they are, or the usual value.
        is_whole: Whether only whole numbers are meant.
        source: Where the idea is described.
    """

    key: str
    label: str
    hint: str
    lowest: float | int
    highest: float | int
    default: float | int
    is_whole: bool = False
    source: str = ""


CONTROLS: dict[str, Control] = {
    control.key: control
    for control in (
        Control(
            "repetition_penalty",
            "Repetition penalty",
            "Scores of tokens that stand in the text already are divided by it where positive, else multiplied.",
            0.1,
            10.0,
            1.0,
            source="Keskar et al. 2019, https://arxiv.org/abs/1909.05858",
        ),
        Control(
            "temperature",
            "Temperature",
            "Scores are divided by it: below 1 the likely become likelier, above 1 all become more alike.",
            0.01,
            10.0,
            1.0,
            source="Ackley et al. 1985, https://doi.org/10.1207/s15516709cog0901_7",
        ),
        Control(
            "top_k",
            "Top k",
            "Only the k likeliest tokens may be drawn; 0 = all.",
            0,
            1000,
            0,
            is_whole=True,
            source="Fan et al. 2018, https://arxiv.org/abs/1805.04833",
        ),
        Control(
            "top_p",
            "Top p",
            "Only the fewest likeliest tokens whose probabilities sum to p may be drawn; 1 = all.",
            0.01,
            1.0,
            1.0,
            source="Holtzman et al. 2020, https://arxiv.org/abs/1904.09751",
        ),
        Control(
            "min_p",
            "Min p",
            "Only tokens at least p times as likely as the likeliest may be drawn; 0 = all.",
            0.0,
            1.0,
            0.0,
            source="Nguyen et al. 2024, https://arxiv.org/abs/2407.01082",
        ),
        Control(
            "typical_p",
            "Typical p",
            "Only the fewest tokens of surprisal closest to the entropy whose probabilities sum to p; 1 = all.",
            0.01,
            1.0,
            1.0,
            source="Meister et al. 2022, https://arxiv.org/abs/2202.00666",
        ),
        Control("seed", "Seed", "The same seed and settings give the same text.", 0, 2**31 - 1, 0, is_whole=True),
        Control("beams", "Beams", "How many beginnings are kept side by side.", 1, 10, 4, is_whole=True),
        Control(
            "penalty_alpha",
            "Penalty alpha",
            "How much likeness to what stands there counts, against probability: 0 = only probability.",
            0.0,
            1.0,
            0.6,
        ),
        Control("contrast_k", "Candidates", "How many of the likeliest tokens are compared.", 1, 20, 4, is_whole=True),
    )
}


@dataclass(frozen=True)
class DecodingStrategy:
    """One way to choose the next token.

    Attributes:
        key: What `strategy=` takes.
        label: What the visitor reads.
        hint: In one line, what it does.
        controls: Keys of CONTROLS that act, in the order in which they act.
        source: Where the idea is described.
    """

    key: str
    label: str
    hint: str
    controls: tuple[str, ...]
    source: str


STRATEGIES: dict[str, DecodingStrategy] = {
    strategy.key: strategy
    for strategy in (
        DecodingStrategy(
            "greedy",
            "Greedy",
            "Always the likeliest token: each time the same text and, without a penalty, soon the same words again.",
            ("repetition_penalty",),
            "Holtzman et al. 2020, https://arxiv.org/abs/1904.09751",
        ),
        DecodingStrategy(
            "sample",
            "Sampling",
            "The next token is drawn by lot, each as likely as the model says after the controls have cut.",
            ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p", "seed"),
            "Holtzman et al. 2020, https://arxiv.org/abs/1904.09751",
        ),
        DecodingStrategy(
            "beams",
            "Beam search",
            "Several beginnings are kept, and the text whose tokens are likeliest per token wins.",
            ("repetition_penalty", "beams"),
            "Sutskever et al. 2014, https://arxiv.org/abs/1409.3215",
        ),
        DecodingStrategy(
            "contrastive",
            "Contrastive search",
            "Of the likeliest tokens, the one that is likely and least like what stands there.",
            ("repetition_penalty", "contrast_k", "penalty_alpha"),
            "Su et al. 2022, https://arxiv.org/abs/2202.06417",
        ),
    )
}
