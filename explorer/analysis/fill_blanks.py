"""What a masked model puts into the blanks of a text, each by itself and all together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

import torch

from explorer.analysis.beams import fill_independently, fill_left_to_right, fill_most_confident_first
from explorer.analysis.blanks import UNDERSCORES, BlankedText, check_option, parse_texts
from explorer.analysis.expectations import Expectation, as_blank, expectations
from explorer.analysis.joint import CUT, NARROWEST_BEAM, fill_jointly
from explorer.analysis.reading import Reading, filled_text, ids_beside_blanks, read_in_blank, read_tokens
from explorer.analysis.results import Blank, BlankFills, Completion
from explorer.analysis.search import (
    Answers,
    Filling,
    Found,
    Search,
    Start,
    forbidden_ids,
    groups_within,
    rows_at_once,
    run_search,
)
from explorer.analysis.strategies import STRATEGIES
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits
from explorer.settings import settings

SPARE = 2  # completions found beyond those wanted: some may be left out because a fill looks like a blank

SEARCHES: dict[str, Callable[[Start, int], Search]] = {
    "left_to_right": lambda start, count: fill_left_to_right(start, max(count, NARROWEST_BEAM)),
    "most_confident_first": lambda start, count: fill_most_confident_first(start, max(count, NARROWEST_BEAM)),
}


def fill_blanks(
    model: LoadedModel, text: str, *, top_k: int = 5, count: int = 5, strategy: str = "joint"
) -> BlankFills:
    """Fill the blanks of a text: the likeliest tokens of each, and the likeliest ways to fill all of them at once.

    Args:
        model: A model with a masked language modelling head.
        text: With 1 to settings().most_blanks blanks, written ___ or as the model's own mask token.
        top_k: Choices per blank, from 1 to settings().most_choices.
        count: Completions, likewise; fewer are returned if there are fewer.
        strategy: A key of STRATEGIES; with one blank they all give the same.

    Returns:
        Choices with probabilities over the whole vocabulary, as `transformers.pipeline("fill-mask")` gives them, and
        completions with log-probabilities in nats. Special tokens may be choices and are never put into a completion.
        The joint search is bounded, by joint.CONTEXTS_PER_COMPLETION and search.MOST_TOKENS; a remark says if it was.

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: The text or an option cannot be used as asked.

    Source: Devlin et al. 2019, https://arxiv.org/abs/1810.04805; the strategies name theirs.
    """
    return fill_blanks_batch(model, [text], top_k=top_k, count=count, strategy=strategy)[0]


@torch.inference_mode()
def fill_blanks_batch(
    model: LoadedModel, texts: Sequence[str], *, top_k: int = 5, count: int = 5, strategy: str = "joint"
) -> tuple[BlankFills, ...]:
    """Fill the blanks of many texts in shared forward passes.

    Args:
        model: A model with a masked language modelling head.
        texts: At most settings().most_texts, each as in fill_blanks.
        top_k: Choices per blank, from 1 to settings().most_choices.
        count: Completions per text, likewise.
        strategy: A key of STRATEGIES.

    Returns:
        What fill_blanks returns for each text, in the order given.

    Raises:
        UnsuitableModel: The model cannot fill blanks.
        UnsuitableText: A text or an option cannot be used as asked; the message says which text.
    """
    check_option("top_k", top_k, settings().most_choices)
    check_option("count", count, settings().most_choices)
    if strategy not in STRATEGIES:
        raise UnsuitableText(f"There is no strategy {strategy!r}. Choose one of: {', '.join(STRATEGIES)}.")
    if isinstance(texts, str):
        raise UnsuitableText("Give a list of texts; for a single text there is fill_blanks.")
    if len(texts) > settings().most_texts:
        raise UnsuitableText(f"There are {len(texts)} texts; at most {settings().most_texts} are filled in one call.")
    vocabulary = len(model.network.get_input_embeddings().weight)
    results: list[BlankFills] = []
    parsed = parse_texts(model, texts)
    for group in groups_within(parsed, lambda text: len(text.positions), rows_at_once(vocabulary)):
        expected, searched = _fill_group(model, group, top_k, count, strategy)
        used = {token_id for blank in expected for token_id in blank.ids}
        used.update(token_id for found in searched for filling in found.fillings for token_id in filling.ids)
        readings = read_tokens(model, used.union(*(ids_beside_blanks(text) for text in group)))
        blanks = iter(expected)
        for text, found in zip(group, searched, strict=True):
            known = tuple(_blank(text, number, next(blanks), readings) for number in range(len(text.positions)))
            results.append(
                BlankFills(
                    model=model.card.name,
                    text=text.text,
                    tokens=text.tokens,
                    strategy=strategy,
                    score=STRATEGIES[strategy].score,
                    blanks=known,
                    completions=_completions(text, found.fillings, readings, known, count),
                    remarks=(CUT,) if found.is_cut else (),
                )
            )
    return tuple(results)


def _fill_group(
    model: LoadedModel, group: list[BlankedText], top_k: int, count: int, strategy: str
) -> tuple[list[Expectation], list[Found]]:
    """The marginals of all blanks, flat, and what was found for each text."""
    logits = torch.cat(masked_logits(model, [Row(text.ids, text.positions) for text in group]))
    log_probabilities = logits.log_softmax(dim=-1)
    forbidden = forbidden_ids(model, logits.shape[-1])
    allowed = log_probabilities.index_fill(-1, forbidden, -torch.inf)
    per_text = allowed.split([len(text.positions) for text in group])
    starts = [Start(text, scores, forbidden) for text, scores in zip(group, per_text, strict=True)]
    searches = [_search(start, strategy, count + SPARE) for start in starts]
    return expectations(log_probabilities, top_k), run_search(model, searches, logits.shape[-1])


def _search(start: Start, strategy: str, count: int) -> Generator[list[Row], Answers, Found]:
    """The search of one text; a single blank, and independent ones, need no further look at the model."""
    if len(start.text.positions) == 1 or strategy == "independent":
        return Found(fill_independently(start, count), is_cut=False)
    if strategy == "joint":
        return (yield from fill_jointly(start, count))
    return Found((yield from SEARCHES[strategy](start, count)), is_cut=False)


def _blank(text: BlankedText, number: int, found: Expectation, readings: Mapping[int, Reading]) -> Blank:
    known = {token_id: read_in_blank(text, number, readings[token_id]) for token_id in found.ids}
    return as_blank(text.positions[number], found, known)


def _completions(
    text: BlankedText,
    fillings: Sequence[Filling],
    readings: Mapping[int, Reading],
    blanks: Sequence[Blank],
    count: int,
) -> tuple[Completion, ...]:
    completions = []
    names = [{choice.token_id: choice.text for choice in blank.choices} for blank in blanks]
    for filling in fillings:
        written = filled_text(text, filling.ids, readings)
        if not UNDERSCORES.search(written):
            fills = tuple(
                names[blank].get(one) or read_in_blank(text, blank, readings[one]).text
                for blank, one in enumerate(filling.ids)
            )
            completions.append(Completion(written, fills, filling.score))
    return tuple(completions[:count])
