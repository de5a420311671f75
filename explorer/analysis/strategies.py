"""The ways to fill several blanks together, as data; importable without torch."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """One way to fill the blanks of a text together.

    Attributes:
        key: What `strategy=` takes.
        label: What the visitor reads.
        hint: In one line, what it does.
        score: What the log-probability of a completion means under it.
        given: What of the text each fill is judged by, in the words of a beginner.
        source: Where the idea is described.
        reveals: Whether it fills one blank after another, so that it can be watched.
        is_pseudo: Whether its score is no probability, for each fill is judged by all others: over all ways to fill
            the blanks, it need not add up to 1.
    """

    key: str
    label: str
    hint: str
    score: str
    given: str
    source: str
    reveals: bool = False
    is_pseudo: bool = False


STRATEGIES: dict[str, Strategy] = {
    strategy.key: strategy
    for strategy in (
        Strategy(
            key="independent",
            label="Independent",
            hint="Each blank on its own, while all others stay open: fast, but the words need not fit each other.",
            score="sum of ln p(fill | the text with every blank open), in nats",
            given="while all blanks are open",
            source="Devlin et al. 2019, https://arxiv.org/abs/1810.04805",
        ),
        Strategy(
            key="left_to_right",
            label="Left to right",
            hint="The first blank first; each fill helps to choose the next. Several beginnings are kept (a beam).",
            score="chain rule from left to right: sum of ln p(fill | earlier fills, later blanks open), in nats",
            given="with the blanks before it filled and those behind it open",
            source="Wang and Cho 2019, https://arxiv.org/abs/1902.04094",
            reveals=True,
        ),
        Strategy(
            key="most_confident_first",
            label="Most confident first",
            hint="At each step the blank whose best word is most probable; it helps with the harder ones (a beam).",
            score="chain rule in the order of filling: sum of ln p(fill | fills before it, other blanks open), in nats",
            given="with the blanks that were filled earlier filled and the others open",
            source="Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324",
            reveals=True,
        ),
        Strategy(
            key="joint",
            label="Joint search",
            hint="Whole combinations are compared, and words are exchanged until every fill suits all the others.",
            score="pseudo-log-likelihood of the fills: sum of ln p(fill | all other fills), in nats",
            given="with all other blanks filled as they are here",
            source="Salazar et al. 2020, https://arxiv.org/abs/1910.14659; Besag 1986 (iterated conditional modes), "
            "https://doi.org/10.1111/j.2517-6161.1986.tb01412.x",
            is_pseudo=True,
        ),
    )
}
