"""What a pre-training objective makes of a text, and what the model loses on it, token by token."""

from __future__ import annotations

from collections.abc import Callable

import torch

from explorer.analysis.corruption.noises import MAKE_NOISE
from explorer.analysis.corruption.sampling import sample
from explorer.analysis.examples import MAKE_EXAMPLE
from explorer.analysis.examples.draft import Draft, Options
from explorer.analysis.examples.judged import read_pair
from explorer.analysis.examples.masked import Masks, all_masked, draw_masks
from explorer.analysis.examples.written import damage_text
from explorer.analysis.objectives import TRIES, check_objective
from explorer.analysis.plain_text import PlainText, parse_plain
from explorer.analysis.reading import Reading, decode, read_tokens
from explorer.analysis.training_results import Answer, ExampleToken, Fate, Replacements, TrainingExample
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.batching import Row, masked_logits

MOST_SEED = 2**31 - 1
TELLING_WORDS = 3  # of a span
SHOW = {"next_sentence": read_pair, "denoising": damage_text}  # SHOWN_WITHOUT


def _has_each_fate(plain: PlainText, masks: Masks) -> bool:
    return {Fate.MASKED, Fate.RANDOMIZED, Fate.UNCHANGED} <= set(masks.fates)


def _has_a_word_in_pieces(plain: PlainText, masks: Masks) -> bool:
    return any(end - start > 1 for start, end in masks.picked)


def _has_a_span(plain: PlainText, masks: Masks) -> bool:
    return any(
        sum(start <= first and last <= end for first, last in plain.words) >= TELLING_WORDS
        for start, end in masks.picked
    )


IS_TELLING = {"masked": _has_each_fate, "whole_word": _has_a_word_in_pieces, "span_masked": _has_a_span}  # TELLING


@torch.inference_mode()
def compute_loss(
    model: LoadedModel,
    text: str,
    *,
    objective: str = "masked",
    seed: int = 0,
    noise: str = "text_infilling",
    other_text: str = "",
    replacements: Replacements | None = None,
) -> TrainingExample:
    """Make a training example of a text as an objective does, and ask the model for its loss.

    Args:
        model: One that OBJECTIVE_CARDS[objective] suits.
        text: Without blanks, of 2 to 256 tokens.
        objective: A key of OBJECTIVE_CARDS.
        seed: Of all random choices, from 0 to MOST_SEED.
        noise: Of "denoising": a key of MAKE_NOISE.
        other_text: Of "next_sentence": the sentence that comes next.
        replacements: Of "replaced": what a generator drew for the same text; None, or one that cuts the text otherwise
            = other tokens of the text itself.

    Returns:
        Tokens with their fates, what is read, what is to be answered, and the loss of each answer in nats: the same
        numbers that transformers computes from `labels`.

    Raises:
        UnsuitableModel: The model was not trained by this objective, or lacks its head.
        UnsuitableText: The text or an option cannot be used as asked.

    Source: named by OBJECTIVE_CARDS[objective].
    """
    check_objective(model.card, objective)
    return _make_example(
        model, text, objective, MAKE_EXAMPLE[objective], seed=seed, noise=noise, other_text=other_text,
        replacements=replacements,
    )  # fmt: skip


def show_objective(
    model: LoadedModel,
    text: str,
    *,
    objective: str,
    seed: int = 0,
    noise: str = "text_infilling",
    other_text: str = "",
) -> TrainingExample:
    """What an objective makes of a text, by a tokenizer alone: for those that were trained so and are not at hand.

    Args:
        model: Whose tokenizer cuts the text; its network is not asked.
        text: As compute_loss takes it.
        objective: One of SHOWN_WITHOUT.
        seed: As compute_loss takes it.
        noise: Likewise.
        other_text: Likewise.

    Returns:
        The same without answers and loss.

    Raises:
        UnsuitableText: The text or an option cannot be used as asked.
    """
    if objective not in SHOW:
        raise UnsuitableText(f"Only with a model's answers: {objective!r}. Choose one of: {', '.join(SHOW)}.")
    return _make_example(
        model, text, objective, SHOW[objective], seed=seed, noise=noise, other_text=other_text
    )  # fmt: skip


def find_telling_example(model: LoadedModel, text: str, *, objective: str, seed: int = 0) -> TrainingExample | None:
    """The next example that shows what is special about an objective: each fate of 80/10/10, a word in pieces, a span.

    Args:
        model: With a masked head.
        text: As compute_loss takes it.
        objective: A key of IS_TELLING.
        seed: After which to look.

    Returns:
        As compute_loss, of the first seed that does; None where none of TRIES does, as in a text that is too short.

    Raises:
        UnsuitableModel: As compute_loss.
        UnsuitableText: The text or an option cannot be used as asked.
    """
    check_objective(model.card, objective)
    _check_seed(seed)
    if objective not in IS_TELLING:
        raise UnsuitableText(f"Nothing is to be looked for in {objective!r}. Choose one of: {', '.join(IS_TELLING)}.")
    plain = parse_plain(model, text)
    for other in range(seed + 1, min(seed + TRIES, MOST_SEED) + 1):
        if IS_TELLING[objective](plain, draw_masks(model, plain, objective, torch.Generator().manual_seed(other))):
            return compute_loss(model, text, objective=objective, seed=other)
    return None


@torch.inference_mode()
def draw_replacements(model: LoadedModel, text: str, *, seed: int = 0) -> Replacements:
    """Mask 15 % of a text, and draw from a model's probabilities what could stand there: ELECTRA's generator at work.

    Args:
        model: A model with a masked language modelling head.
        text: As for compute_loss.
        seed: Of the choice of places and tokens.

    Returns:
        What compute_loss(objective="replaced") takes.

    Raises:
        UnsuitableModel: The model has no masked head.
        UnsuitableText: The text cannot be used as asked.

    Source: Clark et al. 2020, https://arxiv.org/abs/2003.10555
    """
    check_objective(model.card, "masked")
    _check_seed(seed)
    plain = parse_plain(model, text)
    generator = torch.Generator().manual_seed(seed)
    ids, places = all_masked(model, plain, generator)
    [logits] = masked_logits(model, [Row(ids, places)])
    drawn = sample(logits[:, : len(model.tokenizer)], generator).tolist()
    with model.tokenizer_lock:
        spelled = model.tokenizer.convert_ids_to_tokens(drawn)
    return Replacements(model.card.name, text, seed, plain.tokens, tuple(zip(places, spelled, strict=True)))


def _make_example(
    model: LoadedModel,
    text: str,
    objective: str,
    make: Callable[[LoadedModel, PlainText, Options], Draft],
    *,
    seed: int,
    noise: str,
    other_text: str,
    replacements: Replacements | None = None,
) -> TrainingExample:
    _check_seed(seed)
    if noise not in MAKE_NOISE:
        raise UnsuitableText(f"There is no noise {noise!r}. Choose one of: {', '.join(MAKE_NOISE)}.")
    plain = parse_plain(model, text)
    draft = make(model, plain, Options(torch.Generator().manual_seed(seed), noise, text, other_text, replacements))
    readings = _read_all(model, plain, draft)
    answers = tuple(
        Answer(
            answer.index,
            answer.direction,
            _words(answer.right, readings),
            _words(answer.guess, readings),
            answer.probability,
            answer.loss_nats,
        )  # fmt: skip
        for answer in draft.answers
    )
    return TrainingExample(
        model=model.card.name,
        text=text,
        objective=objective,
        noise=noise if objective == "denoising" else "",
        seed=seed,
        tokens=tuple(_token(*pair, readings) for pair in zip(plain.ids, draft.fates, strict=True)),
        inputs=tuple(_token(token_id, fate, readings) for token_id, fate in draft.inputs),
        input_text=decode(model, [token_id for token_id, _ in draft.inputs]).strip(),
        answers=answers,
        target_text=decode(model, draft.target).strip(),
        loss_nats=sum(answer.loss_nats for answer in answers) / len(answers) if answers else None,
        later_epochs=draft.later_epochs,
        replaced_by=draft.replaced_by,
        segments=draft.segments,
    )


def _check_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MOST_SEED:
        raise UnsuitableText(f"seed must be a whole number from 0 to {MOST_SEED}; it is {seed!r}.")


def _read_all(model: LoadedModel, plain: PlainText, draft: Draft) -> dict[int, Reading]:
    ids = {*plain.ids, *(token_id for token_id, _ in draft.inputs)}
    ids.update(word for answer in draft.answers for word in (answer.right, answer.guess) if isinstance(word, int))
    return read_tokens(model, ids)


def _token(token_id: int, fate: Fate, readings: dict[int, Reading]) -> ExampleToken:
    reading = readings[token_id]
    return ExampleToken(reading.text, reading.token, token_id, fate)


def _words(word: int | str, readings: dict[int, Reading]) -> str:
    return readings[word].text if isinstance(word, int) else word
