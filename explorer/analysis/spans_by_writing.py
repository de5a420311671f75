"""Spans that an encoder-decoder writes: T5 one after the other behind its sentinels, BART within the whole text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import Lock

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import GenerationConfig
from transformers.modeling_outputs import BaseModelOutput

from explorer.analysis.blanks import check_tokens, put_fills, split_text
from explorer.analysis.corruption.sentinels import find_sentinels
from explorer.analysis.reading import decode, read_span
from explorer.analysis.span_choices import distinct_choices
from explorer.analysis.span_results import Span, SpanChoice, SpanCompletion, SpanFills
from explorer.analysis.written_spans import Written, count_remarks, read_rewritten, read_sentinels
from explorer.models.backend import LoadedModel
from explorer.models.turns import holding

METHODS = ("beams", "sampling")
LEAST_BEAMS = 40  # with as few as are shown, words of one token drop out behind the beginnings of longer fills
MOST_BEGINNINGS = 8  # shared by all blanks but the first, each of which goes on from as many fills of those before it
LEAST_BEGINNINGS = 2
SCORE = "ln p(the span and the sentinel that ends it | the text, the best sentence’s fills of the blanks before it)"
COMPLETION_SCORE = "ln p(all that was written | the text)"
REWRITTEN_SCORE = "ln p(the best whole text with this fill that was written | the text with masks)"
_sampling = Lock()  # torch draws from one random state of the process


@dataclass(frozen=True)
class Output:
    """What was written behind a given beginning.

    Attributes:
        ids: Token ids, without the beginning; an end that was written is the last.
        log_probability: Their sum, in nats.
    """

    ids: tuple[int, ...]
    log_probability: float


class _Writer:
    """Writes behind a given beginning, for one encoded input.

    Args:
        model: An encoder-decoder.
        ids: The input.
        count: How many outputs are drawn, or at least are looked for.
        method: One of METHODS.
        seed: Of the sampling.
    """

    def __init__(self, model: LoadedModel, ids: Sequence[int], count: int, method: str, seed: int) -> None:
        self._network = network = model.network
        self._memory = network.get_encoder()(torch.tensor([ids], device=network.device)).last_hidden_state
        self._is_sampling, self._seed = method == "sampling", seed
        self._beams = 1 if self._is_sampling else max(count, LEAST_BEAMS)
        self._outputs_asked = count if self._is_sampling else self._beams
        config = network.config
        self.start_id = config.decoder_start_token_id
        self.end_id: int = config.eos_token_id
        self._pad_id = config.pad_token_id or 0
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...], int], list[Output]] = {}

    def write(self, beginning: Sequence[int], ends: Sequence[int], most_tokens: int) -> list[Output]:
        """The likeliest outputs, or random ones, best first; none of them twice.

        Args:
            beginning: Ids that the output begins with, the one that starts the decoder among them.
            ends: Ids at any of which it ends.
            most_tokens: Where it is cut otherwise.
        """
        asked = tuple(beginning), tuple(ends), most_tokens
        if asked not in self._known:
            self._known[asked] = self._write(*asked)
        return self._known[asked]

    def log_probability(self, beginning: Sequence[int], next_id: int) -> float:
        """Of one token behind a beginning, in nats."""
        given = torch.tensor([beginning], device=self._network.device)
        encoded = BaseModelOutput(last_hidden_state=self._memory)
        logits = self._network(encoder_outputs=encoded, decoder_input_ids=given).logits[0, -1]
        return float(logits.float().log_softmax(dim=-1)[next_id])

    def _write(self, beginning: tuple[int, ...], ends: tuple[int, ...], most_tokens: int) -> list[Output]:
        options = GenerationConfig(  # all that a published model may have settings of its own for
            num_beams=self._beams,
            num_return_sequences=self._outputs_asked,
            do_sample=self._is_sampling,
            temperature=1.0,
            top_k=0 if self._is_sampling else None,
            top_p=1.0,
            length_penalty=0.0 if self._beams > 1 else None,
            early_stopping=False,
            no_repeat_ngram_size=0,
            repetition_penalty=1.0,
            min_length=0,
            max_new_tokens=most_tokens,
            eos_token_id=list(ends),
            pad_token_id=self._pad_id,
            decoder_start_token_id=self.start_id,
            return_dict_in_generate=True,
            output_scores=True,
        )
        given = torch.tensor([beginning], device=self._network.device)
        encoded = BaseModelOutput(last_hidden_state=self._memory)
        with _seeded(self._seed) if self._is_sampling else nullcontext():
            made = self._network.generate(encoder_outputs=encoded, decoder_input_ids=given, generation_config=options)
        return self._outputs(made, len(beginning), set(ends))

    def _outputs(self, made: object, skipped: int, ends: set[int]) -> list[Output]:
        sums = made.sequences_scores if self._beams > 1 else self._sums(made, skipped, ends)
        found: dict[tuple[int, ...], float] = {}
        for row, score in zip(made.sequences[:, skipped:].tolist(), sums.tolist(), strict=True):
            end = next((place for place, token in enumerate(row) if token in ends), len(row) - 1)
            found.setdefault(tuple(row[: end + 1]), score)
        return [Output(ids, score) for ids, score in sorted(found.items(), key=lambda item: (-item[1], item[0]))]

    def _sums(self, made: object, skipped: int, ends: set[int]) -> Tensor:
        """Log-probabilities of outputs up to their ends, which a search with beams would tell by itself."""
        drawn: Int[Tensor, "output token"] = made.sequences[:, skipped:]
        steps = torch.stack(made.scores, dim=1).float().log_softmax(dim=-1)
        chosen = steps.gather(2, drawn[:, :, None])[:, :, 0]
        is_end = torch.isin(drawn, torch.tensor(sorted(ends), device=drawn.device))
        before = is_end.cumsum(dim=1) - is_end.int() == 0  # up to the first end, and that too
        return chosen.masked_fill(~before, 0.0).sum(dim=1)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draw from a seed, and leave the random state of the process as it was."""
    with holding(_sampling), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def fill_by_sentinels(model: LoadedModel, text: str, count: int, most_tokens: int, method: str, seed: int) -> SpanFills:
    """Put a sentinel into each blank, and let the model write what each stands for; arguments as of fill_spans."""
    segments = split_text(text, None)
    blanks = len(segments) - 1
    sentinels = find_sentinels(model.tokenizer)
    saw = "".join(
        f"{segment}<extra_id_{number}>" if number < blanks else segment for number, segment in enumerate(segments)
    )
    ids = _tokenize(model, saw)
    writer = _Writer(model, ids, count, method, seed)
    stops = (writer.end_id, *sentinels)
    if blanks == 1:  # all that is written is its fill
        found = writer.write([writer.start_id, sentinels[0]], stops, most_tokens + 1)
        outputs = [Output((sentinels[0], *output.ids), output.log_probability) for output in found]
    else:
        outputs = writer.write([writer.start_id], (writer.end_id, sentinels[blanks]), blanks * (most_tokens + 1) + 1)
        if method == "beams":
            outputs = _best_first([*outputs, *_blank_by_blank(writer, sentinels[: blanks + 1], stops, most_tokens)])
    written = [read_sentinels(output.ids, sentinels, [writer.end_id], blanks) for output in outputs]
    pairs = sorted(zip(outputs, written, strict=True), key=lambda pair: pair[1].fills.count(None))
    outputs, written = ([*part] for part in zip(*pairs, strict=True))  # those that leave no blank out come first
    spans, beginning = [], [writer.start_id]
    for blank in range(blanks):
        beginning = [*beginning, sentinels[blank]]
        if blanks > 1:
            found = writer.write(beginning, stops, most_tokens + 1)
        fills = [(tuple(id for id in one.ids if id not in stops), one.log_probability) for one in found]
        spans.append(Span(distinct_choices(partial(read_span, model), fills)[:count]))
        beginning += written[0].fills[blank] or ()
    completions = _completions(model, segments, outputs, written)[:count]
    return SpanFills(
        model=model.card.name,
        text=text,
        method=method,
        score=SCORE,
        completion_score=COMPLETION_SCORE,
        spans=tuple(spans),
        completions=completions,
        saw=(decode(model, ids),),
        wrote=tuple(decode(model, output.ids) for output in outputs[:count]),
        remarks=count_remarks([one.remarks for one in written[:count]]),
    )


def _blank_by_blank(writer: _Writer, sentinels: Sequence[int], stops: Sequence[int], most_tokens: int) -> list[Output]:
    """Outputs that one search over all blanks loses: a beginning that has paid for a next blank drops out behind longer
    fills of the one before. So each blank is searched by itself, behind the likeliest fills of those before it.

    Args:
        writer: Of the text.
        sentinels: One for each blank, and the one that ends the last.
        stops: Ids that end a fill.
        most_tokens: Longest fill.
    """
    first, blanks = sentinels[0], len(sentinels) - 1
    kept = [Output((first,), writer.log_probability([writer.start_id], first))]
    for blank in range(blanks):
        is_last = blank == blanks - 1
        ends = (sentinels[blank + 1], *([writer.end_id] if is_last else []))
        found = [
            Output((*one.ids, *fill.ids), one.log_probability + fill.log_probability)
            for one in kept
            for fill in writer.write([writer.start_id, *one.ids], stops, most_tokens + 1)
            if fill.ids[-1] in ends
        ]
        kept = _best_first(found)[: None if is_last else max(LEAST_BEGINNINGS, MOST_BEGINNINGS // blanks)]
    return kept


def _best_first(outputs: Sequence[Output]) -> list[Output]:
    """None of them twice."""
    known = {output.ids: output for output in reversed(outputs)}
    return sorted(known.values(), key=lambda output: (-output.log_probability, output.ids))


def fill_by_rewriting(model: LoadedModel, text: str, count: int, most_tokens: int, method: str, seed: int) -> SpanFills:
    """Put a mask into each blank, let the model write the whole text, and read the fills off it."""
    segments = split_text(text, model.tokenizer.mask_token)
    ids = _tokenize(model, model.tokenizer.mask_token.join(segments))
    writer = _Writer(model, ids, count, method, seed)
    bos_id = model.tokenizer.bos_token_id
    beginning = [writer.start_id] if bos_id is None else [writer.start_id, bos_id]
    outputs = writer.write(beginning, [writer.end_id], len(ids) + (len(segments) - 1) * most_tokens)
    texts = [decode(model, output.ids, skip_special=True).strip() for output in outputs]
    read = [read_rewritten(written, segments) for written in texts]
    good = [(fills, output) for (fills, _), output in zip(read, outputs, strict=True) if fills is not None]
    spans = []
    for blank in range(len(segments) - 1):
        best: dict[str, float] = {}
        for fills, output in good:
            best.setdefault(fills[blank], output.log_probability)
        spans.append(Span(tuple(SpanChoice(fill, score, len(_tokenize(model, fill, marks=False)))
                                for fill, score in islice(best.items(), count))))  # fmt: skip
    return SpanFills(
        model=model.card.name,
        text=text,
        method=method,
        score=REWRITTEN_SCORE,
        completion_score=COMPLETION_SCORE,
        spans=tuple(spans),
        completions=tuple(
            SpanCompletion(put_fills(segments, fills), fills, output.log_probability) for fills, output in good[:count]
        ),
        saw=(decode(model, ids),),
        wrote=tuple(decode(model, output.ids) for output in outputs[:count]),
        remarks=count_remarks([(remark,) if remark else () for _, remark in read[:count]]),
    )


def _completions(
    model: LoadedModel, segments: Sequence[str], outputs: Sequence[Output], written: Sequence[Written]
) -> tuple[SpanCompletion, ...]:
    completions: dict[str, SpanCompletion] = {}
    for output, one in zip(outputs, written, strict=True):
        if completions and all(ids is None for ids in one.fills):
            continue  # the text as it was, below texts that are filled
        fills = tuple(None if ids is None else read_span(model, ids) for ids in one.fills)
        filled = put_fills(segments, fills)
        completions.setdefault(filled, SpanCompletion(filled, fills, output.log_probability))
    return tuple(completions.values())


def _tokenize(model: LoadedModel, text: str, *, marks: bool = True) -> list[int]:
    with model.tokenizer_lock:
        ids = model.tokenizer(text, add_special_tokens=marks, verbose=False)["input_ids"]
    check_tokens(model, len(ids))
    return ids
