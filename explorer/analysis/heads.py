"""What every attention head of a model does, in numbers: where its attention goes, and how far it spreads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.blanks import check_option
from explorer.analysis.head_measures import MEASURES
from explorer.analysis.head_pairs import encode_pair
from explorer.analysis.head_results import BUILT_IN, GIVEN, TOLD, HeadMeasures
from explorer.analysis.head_sides import encode_sides, has_two_sides, sees_no_next
from explorer.analysis.head_sums import NUMBERS, SHARES, sum_layer, uniform_weights, weigh_marks
from explorer.analysis.head_texts import (
    EncodedText,
    batch_by_length,
    choose_stack,
    encode_texts,
    find_punctuation,
    make_inputs,
    make_marks,
)
from explorer.analysis.induction import score_induction
from explorer.analysis.treebank import read_own_sentences
from explorer.errors import UnsuitableText
from explorer.models.attention import head_counts, visit_weights
from explorer.models.backend import LoadedModel

MOST_TEXTS = 5_000
NO_NEXT = "The model reads from left to right, and sees no next token."
WHY_LEFT_OUT = {
    "end": "The model puts no token behind a text.",
    "punctuation": "The texts have no punctuation.",
}
NO_INDUCTION = "Induction is measured of encoders, and of decoders that stand alone."
TOO_SHORT = "No token of the texts has such a place in sight."


@torch.inference_mode()
def measure_heads(
    model: LoadedModel,
    texts: Sequence[str] = (),
    *,
    stack: str | None = None,
    seed: int = 0,
    second_text: str | None = None,
    written: Sequence[int] = (),
) -> HeadMeasures:
    """Measure every attention head: where its attention goes, how widely it spreads, how far it reaches.

    Each number is the mean over the tokens of all texts, special tokens not among them, that see at least one other
    token. What the decoder of an encoder-decoder reads is said in head_results.DECODER_READS.

    Args:
        model: With attention.
        texts: At most MOST_TEXTS; none = a built-in set of English sentences.
        stack: Whose heads: "encoder", "decoder" or "cross"; None = the first that the model has.
        seed: Of the random tokens that induction is scored on, and of what is hidden from an encoder.
        second_text: Beside a single text: the second of a pair, what was written behind it, or what a decoder reads.
        written: For a causal model, instead: the very tokens that it wrote behind the text.

    Returns:
        A value of each measure of head_measures.MEASURES for each head; those that are not defined are left out.

    Raises:
        UnsuitableModel: It has no attention, or no such stack.
        UnsuitableText: A text cannot be read, or is longer than the model reads; or there is one token alone.

    Source: Clark et al. 2019, https://aclanthology.org/W19-4828; distance: Vig and Belinkov 2019,
        https://aclanthology.org/W19-4808; induction: Olsson et al. 2022, https://arxiv.org/abs/2209.11895
    """
    check_option("seed", seed, 2**31 - 1, least=0)
    if isinstance(texts, str):
        texts = [texts]
    if len(texts) > MOST_TEXTS:
        raise UnsuitableText(f"There are {len(texts):,} texts; at most {MOST_TEXTS:,} are measured in one call.")
    stack = choose_stack(model, stack)
    source = GIVEN if texts else BUILT_IN
    said, decoder_reads, beside = None, "", None
    if written or (second_text or "").strip():
        encoded, said, beside = encode_pair(model, stack, texts, second_text, written)
        decoder_reads = TOLD if said else ""
    else:
        encoded = encode_texts(model, texts or [sentence.text for sentence in read_own_sentences()])
        if has_two_sides(model, stack):
            encoded, said, decoder_reads = encode_sides(model, encoded, seed)
    sums, counts, uniform = _add_up(model, encoded, said, stack)
    tokens = int(counts[-1])
    if not tokens:
        raise UnsuitableText("There is one token alone, which can only look at itself. Write a sentence.")
    values, defined, evenly, left_out = _divide(sums, counts, uniform)
    if sees_no_next(model, stack):
        left_out["next"] = NO_NEXT
    if said is None:
        induction = score_induction(model, seed, stack)
        values["induction"], defined["induction"], evenly["induction"] = induction
    else:
        left_out["induction"] = NO_INDUCTION
    seen = (said if said and stack == "decoder" else encoded)[0]
    first, *_, last = seen.ids
    with model.tokenizer_lock:
        spelled = model.tokenizer.convert_ids_to_tokens([first, last])
    for value in values.values():
        value.setflags(write=False)
    order = [key for key in MEASURES if key in values]
    return HeadMeasures(
        model=model.card.name,
        stack=stack,
        source=source,
        texts=len(encoded),
        tokens=tokens,
        values={key: values[key] for key in order},
        counts={key: defined[key] for key in order},
        uniform={key: evenly[key] for key in order},
        left_out=left_out,
        first_token=spelled[0] if seen.start else "",
        end_token=spelled[1] if seen.end else "",
        seed=seed,
        decoder_reads=decoder_reads,
        second_text=beside,
    )


def _add_up(
    model: LoadedModel, texts: list[EncodedText], said: list[EncodedText] | None, stack: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of NUMBERS: its sums [number layer head], how many tokens they are over, those of an even head."""
    layers, heads = head_counts(model.network)[stack]
    punctuation = find_punctuation(model, [*texts, *(said or ())])
    sums = torch.zeros(len(NUMBERS), layers, heads, dtype=torch.float64, device=model.network.device)
    counts = torch.zeros(len(NUMBERS), dtype=torch.float64, device=model.network.device)
    uniform = torch.zeros_like(counts)
    for batch in batch_by_length(model, texts):
        rows, answers = ([some[index] for index in batch] if some else None for some in (texts, said))
        mark = partial(make_marks, model, punctuation=punctuation, by_place=stack == "cross")
        seen = answers if answers and stack == "decoder" else rows
        looking = mark(answers, is_causal=True) if answers and stack == "cross" else None
        weighing = weigh_marks(mark(seen, is_causal=sees_no_next(model, stack)), looking)

        def add(name: str, layer: int, weights: Tensor, weighing=weighing) -> None:
            if name == stack:
                sums[:, layer] += sum_layer(weights, weighing)

        visit_weights(model.network, make_inputs(model, rows, answers), add)
        counts += weighing.counts
        uniform += sum_layer(uniform_weights(weighing), weighing)[:, 0]
    return sums.cpu().numpy(), counts.cpu().numpy(), uniform.cpu().numpy()


def _divide(sums: np.ndarray, counts: np.ndarray, uniform: np.ndarray) -> tuple[dict, dict, dict, dict]:
    """Means of what is defined, and why the rest is not."""
    values, defined, evenly, left_out = {}, {}, {}, {}
    for index, key in enumerate((*SHARES, "distance", "", "entropy")):
        count = int(counts[index])
        if not key:
            continue
        if not count:
            left_out[key] = WHY_LEFT_OUT.get(key, TOO_SHORT)
            continue
        below = (sums[index + 1], uniform[index + 1]) if key == "distance" else (count, count)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = sums[index] / below[0]
        values[key] = np.nan_to_num(mean)  # a head that looks at special tokens alone reaches nowhere
        evenly[key] = float(uniform[index] / below[1]) if below[1] else 0.0
        defined[key] = count
    return values, defined, evenly, left_out
