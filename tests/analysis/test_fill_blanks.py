import math
import random
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from transformers import pipeline

from explorer.analysis.blanks import UNDERSCORES, check_option, split_at_blanks
from explorer.analysis.fill_blanks import fill_blanks, fill_blanks_batch
from explorer.analysis.strategies import STRATEGIES
from explorer.errors import UnsuitableModel, UnsuitableText
from tests.analysis.tiny_models import log_probabilities, tiny_bert, word_piece

TEXTS = [
    "The cat ___ in Paris.",
    "___ is happy",
    "He is (___) home, un-happy.",
    "play___ing walk",
    "<script>alert('a')</script> ___ 🙂",
    "a dog\nwalks ___ the long way home and the cat is playing in Paris with a king and a queen",
    "שלום ___",
]
SEVERAL = ["The ___ is ___.", "___ ___ walk", "he ___ the (___) in ___!", "un___ly___"]


def pipe(model):
    return pipeline("fill-mask", model=model.network, tokenizer=model.tokenizer, device="cpu")


def with_masks(model, text):
    return UNDERSCORES.sub(model.tokenizer.mask_token, text)


def assert_choices_equal(choices, propositions):
    assert [choice.token_id for choice in choices] == [one["token"] for one in propositions]
    for choice, one in zip(choices, propositions, strict=True):
        assert choice.probability == pytest.approx(one["score"], abs=1e-5)


@pytest.mark.parametrize("text", TEXTS)
def test_one_blank_agrees_with_the_pipeline(family, text):
    [blank] = fill_blanks(family, text, top_k=10).blanks
    assert_choices_equal(blank.choices, pipe(family)(with_masks(family, text), top_k=10))


@pytest.mark.parametrize("text", SEVERAL)
def test_several_blanks_agree_with_the_pipeline(family, text):
    blanks = fill_blanks(family, text, top_k=7).blanks
    for blank, propositions in zip(blanks, pipe(family)(with_masks(family, text), top_k=7), strict=True):
        assert_choices_equal(blank.choices, propositions)


def test_agrees_with_the_pipeline_on_published_vocabularies(real_vocabulary):
    text = "The capital of France is ___, unlike that of Spain; it's a café 🙂."
    [blank] = fill_blanks(real_vocabulary, text, top_k=20).blanks
    assert_choices_equal(blank.choices, pipe(real_vocabulary)(with_masks(real_vocabulary, text), top_k=20))


def test_result_says_what_was_asked_and_seen(bert):
    fills = fill_blanks(bert, "The ___ is happy", strategy="independent")
    assert fills.model == "tiny bert"
    assert fills.text == "The ___ is happy"
    assert fills.tokens == ("[CLS]", "the", "[MASK]", "is", "happy", "[SEP]")
    assert fills.blanks[0].token_index == 2
    assert fills.score == STRATEGIES["independent"].score


def test_entropy_is_that_of_the_whole_distribution(bert):
    fills = fill_blanks(bert, "the ___ is", top_k=1)
    [scores] = log_probabilities(bert, [bert.tokenizer.encode("the [MASK] is")], [2])
    assert fills.blanks[0].entropy_bits == pytest.approx(float(-(scores.exp() * scores).sum()) / math.log(2), abs=1e-5)


def test_of_one_blank_all_strategies_say_the_same(family):
    answers = {
        strategy: fill_blanks(family, "The cat ___ home", count=7, strategy=strategy).completions
        for strategy in STRATEGIES
    }
    assert len(set(answers.values())) == 1
    [blank] = fill_blanks(family, "The cat ___ home", top_k=50).blanks
    ordinary = [
        choice for choice in blank.choices if choice.token and choice.token_id not in family.tokenizer.all_special_ids
    ]
    for completion, choice in zip(answers["joint"], ordinary, strict=False):
        assert completion.fills == (choice.text,)
        assert completion.log_probability == pytest.approx(math.log(choice.probability), abs=1e-4)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_completions_have_no_blank_and_keep_the_visitors_text(family, strategy, seed):
    """Whatever is typed, only white space beside a blank may change."""
    random.seed(seed)
    alphabet = [
        "the",
        "Cat",
        "PARIS",
        "un",
        "ly",
        "(",
        ")",
        ",",
        "é",
        "🙂",
        "_",
        "<b>",
        "\n",
        "  ",
        "'s",
        "我",
        "שלום",
        "-",
    ]
    for _ in range(6):
        parts = [random.choice(alphabet) for _ in range(8)]
        for place in random.sample(range(len(parts)), 3):
            parts[place] = random.choice([" ___ ", "___", " ____", family.tokenizer.mask_token])
        text = "".join(parts) + "x"
        segments = split_at_blanks(text, family.tokenizer.mask_token)
        kept = ".*?".join(r"\s*" + re.escape(segment.strip()) + r"\s*" for segment in segments)
        fills = fill_blanks(family, text, strategy=strategy, count=4)
        assert fills.completions or "_" in text
        for completion in fills.completions:
            assert not UNDERSCORES.search(completion.text)
            assert re.fullmatch(kept, completion.text, re.DOTALL), (text, completion.text)
            assert len(completion.fills) == len(segments) - 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_completions_are_best_first_distinct_and_without_special_tokens(bert, strategy):
    completions = fill_blanks(bert, "the ___ is ___ in ___", strategy=strategy, count=12).completions
    assert len(completions) == 12
    assert len({completion.fills for completion in completions}) == 12
    scores = [completion.log_probability for completion in completions]
    assert scores == sorted(scores, reverse=True)
    assert all(score < 0 for score in scores)
    assert not {fill for completion in completions for fill in completion.fills} & set(
        bert.tokenizer.all_special_tokens
    )


def test_a_small_vocabulary_gives_what_it_has(bert):
    fills = fill_blanks(bert, "the ___", top_k=50, count=50)
    assert len(fills.blanks[0].choices) == len(bert.tokenizer)
    assert len(fills.completions) == len(bert.tokenizer) - 5  # not the special tokens
    assert sum(choice.probability for choice in fills.blanks[0].choices) == pytest.approx(1)


def assert_same(fills, expected):
    """Equal but for the last digits, which depend on the shapes of the batches."""
    assert (fills.text, fills.tokens) == (expected.text, expected.tokens)
    for blank, other in zip(fills.blanks, expected.blanks, strict=True):
        assert [choice.token_id for choice in blank.choices] == [choice.token_id for choice in other.choices]
        for choice, twin in zip(blank.choices, other.choices, strict=True):
            assert choice.probability == pytest.approx(twin.probability, abs=1e-5)
    assert [completion.text for completion in fills.completions] == [other.text for other in expected.completions]
    for completion, other in zip(fills.completions, expected.completions, strict=True):
        assert completion.log_probability == pytest.approx(other.log_probability, abs=1e-4)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_batch_answers_as_one_by_one(family, strategy):
    texts = TEXTS + SEVERAL
    for fills, text in zip(fill_blanks_batch(family, texts, strategy=strategy), texts, strict=True):
        assert_same(fills, fill_blanks(family, text, strategy=strategy))


def test_a_batch_that_does_not_fit_in_memory_at_once_answers_the_same(bert, monkeypatch):
    expected = fill_blanks_batch(bert, TEXTS + SEVERAL)
    monkeypatch.setattr("explorer.analysis.search.MOST_LOGITS", 2 * len(bert.tokenizer))
    for fills, other in zip(fill_blanks_batch(bert, TEXTS + SEVERAL), expected, strict=True):
        assert_same(fills, other)


def test_sixteen_threads_get_single_threaded_answers(family):
    texts = (TEXTS + SEVERAL) * 2
    expected = {text: fill_blanks(family, text) for text in texts}
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda text: fill_blanks(family, text), texts))
    for fills in answers:
        assert_same(fills, expected[fills.text])


def test_an_empty_batch_is_empty(bert):
    assert fill_blanks_batch(bert, []) == ()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"top_k": 0}, "top_k must be a whole number from 1 to 50; it is 0"),
        ({"top_k": 51}, "top_k must be"),
        ({"count": -1}, "count must be"),
        ({"strategy": "random"}, "There is no strategy 'random'. Choose one of: independent, left_to_right, most"),
    ],
)
def test_options_out_of_range_are_refused(bert, options, message):
    with pytest.raises(UnsuitableText, match=message):
        fill_blanks(bert, "the ___", **options)


def test_an_empty_field_is_called_empty():
    with pytest.raises(UnsuitableText, match="blank must be a whole number from 1 to 10; it is empty"):
        check_option("blank", None, 10)


def test_too_many_texts_are_refused(bert):
    with pytest.raises(UnsuitableText, match="There are 257 texts; at most 256"):
        fill_blanks_batch(bert, ["a ___"] * 257)


def test_a_model_without_a_masked_head_is_refused(gpt):
    with pytest.raises(UnsuitableModel, match="tiny gpt has no mask token, so it cannot fill blanks"):
        fill_blanks(gpt, "a ___")


def test_fills_that_look_like_a_blank_are_left_out():
    """A model that wants underscores everywhere must not hand back a text with blanks."""
    model = word_piece()
    network = tiny_bert(model.tokenizer)
    underscore = model.tokenizer.convert_tokens_to_ids("_")
    with torch.no_grad():
        network.cls.predictions.bias[underscore] = 100.0
    model = type(model)(model.card, model.tokenizer, network.eval(), model.limit_tokens, 0)
    fills = fill_blanks(model, "the [MASK][MASK] is", strategy="independent")
    assert fills.blanks[0].choices[0].token == "_"
    assert fills.completions
    assert not any(UNDERSCORES.search(completion.text) for completion in fills.completions)


def test_byte_pieces_are_told_from_words_as_word_pieces_are(shipped_registry):
    text = "My grandmother ___ every ___."
    fills = shipped_registry.run("BERT mini", lambda model: fill_blanks(model, text, top_k=10, count=10))
    known = {choice.token: choice.text for choice in fills.blanks[1].choices}
    assert known["Ġday"] == "day" and known["day"] == "##day", "two bars, two names"
    ends = {completion.fills[1]: completion.text for completion in fills.completions}
    assert ends["day"].endswith("every day.") and ends["##day"].endswith("everyday."), "and real sentences"
    glued = shipped_registry.run("BERT mini", lambda model: fill_blanks(model, "He walks every___.", top_k=10))
    assert any(choice.token[:1] not in "Ġ." for choice in glued.blanks[0].choices)
    assert not any(choice.text.startswith("##") for choice in glued.blanks[0].choices)


def test_where_a_text_begins_words_with_and_without_a_space_are_told_apart(shipped_registry):
    ask = partial(fill_blanks, text="___ lives in Warsaw.", top_k=10, count=10)
    fills = shipped_registry.run("BERT mini", ask)
    known = {choice.token: choice.text for choice in fills.blanks[0].choices}
    assert (known["The"], known["ĠThe"]) == ("The", "␣The") and len(set(known.values())) == len(known)
    assert not any("␣" in completion.text for completion in fills.completions), "sentences are as they read"
    assert {completion.fills[0] for completion in fills.completions} <= {*known.values()}
    assert not any("␣" in choice.text for choice in shipped_registry.run("MiniLM (masked)", ask).blanks[0].choices)
