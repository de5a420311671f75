"""The sliders of the strategies: which are in sight, and how far each goes on the page."""

from dataclasses import dataclass

import gradio as gr

from explorer.analysis.decoding_strategies import CONTROLS, STRATEGIES


@dataclass(frozen=True)
class Reach:
    """How far a slider goes: the analysis accepts more than is of use to look at.

    Attributes:
        least: Lowest value.
        most: Highest value.
        step: Between two values.
        is_folded: Whether it stands under "More options".
    """

    least: float
    most: float
    step: float
    is_folded: bool = True


SLIDERS = {  # by the argument of continue_text
    "temperature": Reach(0.1, 2.0, 0.05, is_folded=False),
    "top_p": Reach(0.05, 1.0, 0.05, is_folded=False),
    "beams": Reach(2, 8, 1, is_folded=False),
    "penalty_alpha": Reach(0.0, 1.0, 0.05, is_folded=False),
    "contrast_k": Reach(2, 10, 1, is_folded=False),
    "top_k": Reach(0, 100, 1, is_folded=False),
    "min_p": Reach(0.0, 0.5, 0.01),
    "typical_p": Reach(0.05, 1.0, 0.05),
    "repetition_penalty": Reach(1.0, 2.0, 0.05),
}
ALWAYS_TOLD = ("temperature", "top_p", "beams", "penalty_alpha", "contrast_k")  # of a branch, at their defaults as well


def build_controls(strategy: str, settings: dict[str, float], *, folded: bool) -> dict[str, gr.Slider]:
    """Lay out the sliders that stand in sight, or those that stand under "More options".

    Args:
        strategy: Those that act under it are shown.
        settings: Where they stand, if not at their defaults.
        folded: Which of the two.
    """
    return {
        name: gr.Slider(
            reach.least, reach.most, settings.get(name, CONTROLS[name].default), step=reach.step,
            label=CONTROLS[name].label, info=CONTROLS[name].hint, visible=acts(strategy, name),
            elem_id=f"generate-{name.replace('_', '-')}",
        )
        for name, reach in SLIDERS.items() if reach.is_folded == folded
    }  # fmt: skip


def show_controls(strategy: str) -> list[gr.Slider]:
    """Only the sliders that act under a strategy stay in sight, in the order of SLIDERS."""
    return [gr.Slider(visible=acts(strategy, name)) for name in SLIDERS]


def acts(strategy: str, name: str) -> bool:
    """Whether a control changes anything under a strategy."""
    return name in STRATEGIES[strategy].controls


def acting(strategy: str, values: dict[str, float]) -> dict[str, float]:
    """The values of those controls that act under a strategy, whole numbers as such."""
    return {
        name: int(value) if CONTROLS[name].is_whole else float(value)
        for name, value in values.items()
        if acts(strategy, name)
    }


def in_words(strategy: str, values: dict[str, float], seed: int) -> str:
    """The settings of a branch: the strategy, what was moved, and the seed where one acts."""
    moved = [
        f"{CONTROLS[name].label.lower()} {value:g}"
        for name, value in acting(strategy, values).items()
        if value != CONTROLS[name].default or name in ALWAYS_TOLD
    ]
    drawn = [f"seed {seed}"] if acts(strategy, "seed") else []
    return ", ".join([STRATEGIES[strategy].label.lower(), *moved, *drawn])
