"""From a model's scores to the next token: what the controls leave of them, who is chosen, and what else might be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from explorer.analysis.decoding_strategies import CONTROLS, STRATEGIES
from explorer.analysis.generation_results import GenerationStep, TokenOption
from explorer.errors import UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.written_text import WrittenText


@dataclass(frozen=True)
class Plan:
    """How the next token is chosen: the arguments of continue_text, checked.

    Attributes:
        strategy: A key of STRATEGIES; the others are keys of CONTROLS.
        drawn: How often the seed has been drawn from before.
    """

    strategy: str
    temperature: float | int = 1.0
    top_k: int = 0
    top_p: float | int = 1.0
    min_p: float | int = 0.0
    typical_p: float | int = 1.0
    repetition_penalty: float | int = 1.0
    beams: int = 4
    penalty_alpha: float | int = 0.6
    contrast_k: int = 4
    seed: int = 0
    drawn: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            UnsuitableText: The message says the range.
        """
        if self.strategy not in STRATEGIES:
            raise UnsuitableText(f"There is no strategy {self.strategy!r}. Choose one of: {', '.join(STRATEGIES)}.")
        for key in CONTROLS:
            check_control(key, getattr(self, key))


def check_control(key: str, value: object) -> None:
    """Refuse a setting that is not a number in its range.

    Raises:
        UnsuitableText: It is not; the message says the range.
    """
    control = CONTROLS[key]
    kinds = int if control.is_whole else int | float
    if not isinstance(value, bool) and isinstance(value, kinds) and control.lowest <= value <= control.highest:
        return  # a number that is none (NaN) lies in no range
    what = "whole number" if control.is_whole else "number"
    hint = " To have the likeliest token every time, choose the strategy greedy." if key == "temperature" else ""
    raise UnsuitableText(
        f"{key} must be a {what} from {control.lowest:g} to {control.highest:g}; it is {value!r}.{hint}"
    )


def make_processors(plan: Plan) -> LogitsProcessorList:
    """What `generate` of transformers makes of the same settings, in its order."""
    processors = LogitsProcessorList()
    if plan.repetition_penalty != 1:
        processors.append(RepetitionPenaltyLogitsProcessor(float(plan.repetition_penalty)))
    if plan.strategy != "sample":
        return processors
    if plan.temperature != 1:
        processors.append(TemperatureLogitsWarper(float(plan.temperature)))
    if plan.top_k:
        processors.append(TopKLogitsWarper(plan.top_k))
    if plan.top_p < 1:
        processors.append(TopPLogitsWarper(float(plan.top_p)))
    if plan.min_p > 0:
        processors.append(MinPLogitsWarper(float(plan.min_p)))
    if plan.typical_p < 1:
        processors.append(TypicalLogitsWarper(float(plan.typical_p)))
    return processors


@dataclass(frozen=True)
class Choice:
    """A token that was chosen, in numbers.

    Attributes:
        token_id: Its id.
        probability: The model's own, of the whole vocabulary.
        chance: What it would have been drawn with; 1 where nothing is drawn.
        rank: Its place by the model's own probability.
        entropy: Of the model's own distribution, in nats.
        options: The likeliest tokens: id, the model's own probability, chance.
        is_drawn: Whether one is drawn at all.
    """

    token_id: int
    probability: float
    chance: float
    rank: int
    entropy: float
    options: tuple[tuple[int, float, float], ...]
    is_drawn: bool


def measure_choice(
    logits: Float[Tensor, " vocab"], token_id: int, alternatives: int, chances: Float[Tensor, " vocab"] | None = None
) -> Choice:
    """What the scores say of a token that was chosen, and of the likeliest ones.

    Args:
        logits: The model's own scores of what comes next.
        token_id: What was chosen.
        alternatives: How many of the likeliest tokens to tell, from 1 to as many as there are.
        chances: What each would have been drawn with; None where nothing is drawn.
    """
    probabilities = logits.softmax(dim=-1)
    asked = torch.cat([torch.tensor([token_id], device=logits.device), logits.topk(alternatives).indices])
    numbers = [torch.dot(probabilities, logits)[None], logits[asked], probabilities[asked]]
    if chances is not None:
        numbers.append(chances[asked])
    ids, told = asked.tolist(), torch.cat(numbers).tolist()  # each look at a GPU's numbers waits for it
    count = len(ids)
    mean, scores, told = told[0], told[1 : count + 1], told[count + 1 :]
    if math.isnan(mean):  # 0 times minus infinity, of a token that the network itself rules out
        mean = torch.dot(probabilities, logits.clamp_min(-1e4)).item()
    rank = 1 + sum(score > scores[0] for score in scores[1:])
    if rank > alternatives:
        rank = 1 + int((logits > logits[token_id]).sum())
    drawn = told[count:] if chances is not None else [float(option == token_id) for option in ids]
    return Choice(
        token_id=token_id,
        probability=told[0],
        chance=drawn[0],
        rank=rank,
        entropy=max(scores[1] - math.log(told[1]) - mean, 0.0),  # the first two: ln sum exp of all scores
        options=tuple(zip(ids[1:], told[1:count], drawn[1:], strict=True)),
        is_drawn=chances is not None,
    )


@dataclass(frozen=True)
class Ends:
    """The tokens at any of which a text ends.

    Attributes:
        spellings: Of each, by its id.
    """

    spellings: dict[int, str]

    def __contains__(self, token_id: int) -> bool:
        """Whether a text ends there."""
        return token_id in self.spellings


def find_ends(model: LoadedModel) -> Ends:
    """The tokens at which a text of this model ends; none where it knows no end."""
    vocabulary = model.network.get_input_embeddings().weight.shape[0]
    said = model.network.generation_config.eos_token_id
    known = [token_id for token_id in (said if isinstance(said, list) else [said]) if token_id is not None]
    ids = [token_id for token_id in known if token_id < vocabulary] or [model.tokenizer.eos_token_id]
    with model.tokenizer_lock:
        return Ends(
            {token_id: model.tokenizer.convert_ids_to_tokens(token_id) for token_id in ids if token_id is not None}
        )


def put_step(text: WrittenText, choice: Choice, ends: Ends, stop: str) -> GenerationStep:
    """Put a chosen token behind a text.

    Args:
        text: What stands before; the token is added to it.
        choice: The token.
        ends: Add nothing to the text; among the alternatives they are spelled.
        stop: Why nothing follows.
    """
    *looks, look = text.look([*(option for option, _, _ in choice.options), choice.token_id])
    return GenerationStep(
        token_id=choice.token_id,
        text="" if choice.token_id in ends else text.add(choice.token_id, look, is_last=bool(stop)),
        probability=choice.probability,
        chance=choice.chance,
        rank=choice.rank,
        entropy=choice.entropy,
        alternatives=tuple(
            TokenOption(option, ends.spellings.get(option, adds), probability, chance)
            for (option, probability, chance), adds in zip(choice.options, looks, strict=True)
        ),
        stop=stop,
        is_drawn=choice.is_drawn,
    )
