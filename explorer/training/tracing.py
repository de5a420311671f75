"""Measuring a model as its training goes on: held-out numbers, and its answers to a few prompts.

Source: checkpoints over training as in Biderman et al. 2023, https://arxiv.org/abs/2304.01373
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.analysis.results import TracePoint
from explorer.models.elmo_language_model import ElmoForPreTraining
from explorer.training.corpus import Corpus
from explorer.training.evaluating import evaluating
from explorer.training.objectives import measure_held_out
from explorer.training.pretraining import PretrainingStep
from explorer.training.trace import LENGTH_TOKENS, MEASURED_TOKENS, TRACE, read_trace
from explorer.training.writing import writing_to

FIRST_TOKENS = 50_000  # a point at 50,000 tokens, and then whenever there are half as many more
GROWTH = 1.5
ANSWER_TOKENS = 12

BLANKS = (
    "The cat sat on the ___.",
    "She opened the door and ___ into the room.",
    "London is the capital of ___.",
    "He was born in New ___.",
)
PROMPTS = ("The city of", "She opened the door and", "In the year")
REPLACED = (
    "The cat sat on the Tuesday.",
    "She opened the door and yellow into the room.",
    "London is the capital of yesterday.",
)
Answer = Callable[[PreTrainedModel, PreTrainedTokenizerBase, str], str]


class Tracer:
    """Writes a TracePoint to a folder now and then; where no held-out document is long enough, none.

    Args:
        objective: A key of OBJECTIVES.
        network: What is trained.
        tokenizer: Of the network.
        corpus: Its first file's held-out documents are used.
        folder: Of the run; what an earlier session wrote there is gone on from.
    """

    def __init__(
        self,
        objective: str,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        corpus: Corpus,
        folder: Path,
    ) -> None:
        self._objective, self._network, self._tokenizer = objective, network, tokenizer
        self._corpus = Corpus(corpus.names[:1], corpus.train[:1], corpus.held_out[:1])
        self._file = folder / TRACE
        points = read_trace(folder)
        self._noted_tokens = points[-1].tokens if points else 0

    def after_step(self, step: PretrainingStep) -> None:
        """Note a point, if it is time to."""
        if step.tokens >= max(FIRST_TOKENS, self._noted_tokens * GROWTH):
            self._note(step)

    def finish(self, step: PretrainingStep) -> None:
        """Note the last point, unless it is noted."""
        if step.tokens > self._noted_tokens:
            self._note(step)

    def _note(self, step: PretrainingStep) -> None:
        self._noted_tokens = step.tokens
        measured = measure_held_out(
            self._objective,
            self._network,
            self._tokenizer,
            self._corpus,
            length_tokens=LENGTH_TOKENS,
            tokens_per_file=MEASURED_TOKENS,
        )
        if not measured:
            return
        answers = answer_prompts(self._objective, self._network, self._tokenizer)
        point = TracePoint(step.tokens, step.seconds, measured[0].scores, answers)
        with writing_to(self._file.parent), self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(point), ensure_ascii=False) + "\n")


@torch.inference_mode()
def answer_prompts(
    objective: str, network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> tuple[tuple[str, str], ...]:
    """What a model makes of a few prompts, in the way that its objective taught it.

    Args:
        objective: A key of OBJECTIVES.
        network: Trained for it.
        tokenizer: Of the network.

    Returns:
        (prompt, answer) pairs.
    """
    prompts, answer = ANSWERED[objective]
    with evaluating(network):
        return tuple((text, answer(network, tokenizer, text)) for text in prompts)


def _fill(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """The three likeliest tokens of a blank."""
    ids, blank = _with_mask(network, tokenizer, text)
    logits = getattr(output := network(ids), "logits", None)
    logits = output.prediction_logits if logits is None else logits
    return _likeliest(tokenizer, logits[0, blank])


def _fill_both_ways(network: ElmoForPreTraining, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """The three likeliest tokens of a blank from its left, and from its right; neither side knows the other."""
    ids, blank = _with_mask(network, tokenizer, text)
    output = network(ids)
    sides = (output.forward_logits, output.backward_logits)
    left, right = (_likeliest(tokenizer, logits[0, blank]) for logits in sides)
    return f"from the left: {left}; from the right: {right}"


def _with_mask(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[Tensor, int]:
    ids = tokenizer(text.replace("___", tokenizer.mask_token), return_tensors="pt").input_ids.to(network.device)
    return ids, ids[0].tolist().index(tokenizer.mask_token_id)


def _likeliest(tokenizer: PreTrainedTokenizerBase, logits: Tensor) -> str:
    return ", ".join(tokenizer.decode([id]).strip() for id in logits.topk(3).indices.tolist())


def _suspect(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """The token that is most likely not the text's own, and how likely."""
    ids = tokenizer(text, return_tensors="pt").input_ids.to(network.device)
    probabilities = network(ids).logits[0].float().sigmoid()
    probabilities[torch.isin(ids[0], torch.tensor(tokenizer.all_special_ids, device=ids.device))] = 0.0
    most = int(probabilities.argmax())
    return f"{tokenizer.decode([ids[0, most].item()]).strip()}: {probabilities[most]:.0%}"


def _continue(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """The likeliest next tokens, one after the other."""
    ids = tokenizer(text, return_tensors="pt").input_ids.to(network.device)
    length = ids.shape[1]
    for _ in range(ANSWER_TOKENS):
        ids = torch.cat([ids, network(ids).logits[:, -1:].argmax(dim=-1)], dim=1)
    return tokenizer.decode(ids[0, length:], skip_special_tokens=True).strip()


def _fill_span(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    """What the model writes for a sentinel, greedily."""
    sentinel = "<extra_id_0>"
    inputs = tokenizer(text.replace("___", sentinel), return_tensors="pt").input_ids.to(network.device)
    memory = network.get_encoder()(inputs)
    ids = torch.tensor([[network.config.decoder_start_token_id]], device=network.device)
    for _ in range(ANSWER_TOKENS):
        logits = network(encoder_outputs=memory, decoder_input_ids=ids).logits
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=1)
    written = tokenizer.decode(ids[0, 1:]).partition(sentinel)[2]
    for end in ("<extra_id_", tokenizer.eos_token):
        written = written.partition(end)[0]
    return written.strip()


ANSWERED: dict[str, tuple[tuple[str, ...], Answer]] = {  # objective -> what is asked, and how it is answered
    "masked": (BLANKS, _fill),
    "masked+nsp": (BLANKS, _fill),
    "causal": (PROMPTS, _continue),
    "span": (BLANKS, _fill_span),
    "bilm": (BLANKS, _fill_both_ways),
    "replaced": (REPLACED, _suspect),
}
