"""Blanks filled one at a time, to watch how each fill changes what is expected at the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from explorer.analysis.blanks import UNDERSCORES, BlankedText, check_option, parse_blanks
from explorer.analysis.expectations import Expectation, as_blank, as_choice, expectations
from explorer.analysis.reading import Reading, filled_text, ids_beside_blanks, read_in_blank, read_tokens
from explorer.analysis.results import BlankReveal, Completion, RevealStep
from explorer.analysis.search import forbidden_ids
from explorer.analysis.strategies import STRATEGIES
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.settings import settings


@torch.inference_mode()
def reveal_blanks(
    model: LoadedModel, text: str, *, strategy: str = "most_confident_first", top_k: int = 5
) -> BlankReveal:
    """Fill one blank after another with its likeliest token, and show every blank's expectations before each step.

    Args:
        model: A model with a masked language modelling head.
        text: With 1 to settings().most_blanks blanks.
        strategy: "left_to_right" or "most_confident_first".
        top_k: Choices shown per blank, from 1 to settings().most_choices.

    Returns:
        One step per blank, in the order they were filled.

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: The text or an option cannot be used as asked.

    Source: Ghazvininejad et al. 2019, https://arxiv.org/abs/1904.09324
    """
    check_option("top_k", top_k, settings().most_choices)
    watchable = [key for key, known in STRATEGIES.items() if known.reveals]
    if strategy not in watchable:
        raise UnsuitableText(f"{strategy!r} does not fill blanks one by one. Choose one of: {', '.join(watchable)}.")
    parsed = parse_blanks(model, text)
    blanks = len(parsed.positions)
    beside = ids_beside_blanks(parsed)
    fills: list[int | None] = [None] * blanks
    steps: list[RevealStep] = []
    log_probability = 0.0
    for _ in range(blanks):
        open_blanks = [blank for blank, fill in enumerate(fills) if fill is None]
        [logits] = masked_logits(
            model, [Row(parsed.with_fills(fills), tuple(parsed.positions[blank] for blank in open_blanks))]
        )
        log_probabilities = logits.log_softmax(dim=-1)
        allowed = log_probabilities.index_fill(-1, forbidden_ids(model, logits.shape[-1]), -torch.inf)
        row = 0 if strategy == "left_to_right" else int(allowed.amax(dim=-1).argmax())
        blank = open_blanks[row]
        expected = dict(zip(open_blanks, expectations(log_probabilities, top_k), strict=True))
        [offered] = expectations(allowed[row : row + 1], settings().most_choices)
        shown = beside.union(offered.ids, (fill for fill in fills if fill is not None))
        readings = read_tokens(model, shown.union(*(found.ids for found in expected.values())))
        token_id, probability = _likeliest(parsed, fills, blank, offered, readings)
        log_probability += float(log_probabilities[row, token_id])
        in_blanks = [{one: read_in_blank(parsed, index, readings[one]) for one in readings} for index in range(blanks)]
        shown = {index: as_blank(parsed.positions[index], expected[index], in_blanks[index]) for index in open_blanks}
        among = (choice for choice in shown[blank].choices if choice.token_id == token_id)
        steps.append(
            RevealStep(
                text=filled_text(parsed, fills, readings),
                blanks=tuple(map(shown.get, range(blanks))),
                filled_blank=blank,
                choice=next(among, as_choice(token_id, probability, in_blanks[blank])),
            )
        )
        fills[blank] = token_id
    chosen = sorted(steps, key=lambda step: step.filled_blank)
    completion = Completion(
        filled_text(parsed, fills, readings), tuple(step.choice.text for step in chosen), log_probability
    )
    return BlankReveal(model.card.name, text, strategy, tuple(steps), completion)


def _likeliest(
    text: BlankedText, fills: Sequence[int | None], blank: int, offered: Expectation, readings: Mapping[int, Reading]
) -> tuple[int, float]:
    """The most probable token that does not look like a blank once it stands in the text."""
    still_open = sum(fill is None for fill in fills) - 1
    for token_id, probability in zip(offered.ids, offered.probabilities, strict=True):
        written = filled_text(text, [*fills[:blank], token_id, *fills[blank + 1 :]], readings)
        if len(UNDERSCORES.findall(written)) <= still_open:
            return token_id, probability
    return offered.ids[0], offered.probabilities[0]
