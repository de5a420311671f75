"""How each objective makes a training example of a text, and how probable a model finds the right answers."""

from collections.abc import Callable

from explorer.analysis.examples.draft import Draft, Options
from explorer.analysis.examples.judged import detect_replaced, judge_next_sentence
from explorer.analysis.examples.masked import mask_spans, mask_tokens_once, mask_whole_words
from explorer.analysis.examples.unmasked import predict_both_ways, predict_next
from explorer.analysis.examples.written import restore_text, write_spans
from explorer.analysis.plain_text import PlainText
from explorer.models.backend import LoadedModel

MAKE_EXAMPLE: dict[str, Callable[[LoadedModel, PlainText, Options], Draft]] = {
    "masked": mask_tokens_once,
    "whole_word": mask_whole_words,
    "span_masked": mask_spans,
    "replaced": detect_replaced,
    "next_sentence": judge_next_sentence,
    "causal": predict_next,
    "bilm": predict_both_ways,
    "span": write_spans,
    "denoising": restore_text,
}
