import pytest

from explorer.analysis import measure_prompt
from explorer.analysis.prompts import check_generates, check_ids, encode_prompt
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.catalogue import CATALOGUE
from tests.analysis.writing_models import stories, writer


def test_a_prompt_gets_the_start_that_its_tokenizer_sets_and_no_end():
    bert = writer("bert")
    ids = encode_prompt(bert, "the cat")
    assert bert.tokenizer.convert_ids_to_tokens(ids) == ["[CLS]", "the", "cat"]
    assert encode_prompt(bert, "") == [bert.tokenizer.cls_token_id]
    model = stories()
    assert encode_prompt(model, "Once") == model.tokenizer("Once")["input_ids"]
    assert encode_prompt(model, "") == [model.tokenizer.bos_token_id]
    plain = writer("openai-gpt").tokenizer("the cat", add_special_tokens=False)["input_ids"]
    assert encode_prompt(writer("openai-gpt"), "the cat")[-len(plain) :] == plain


@pytest.mark.parametrize(("kind", "unknown"), [("bert", 2), ("gpt2", 0)])  # GPT-2 lacks no byte
def test_what_the_vocabulary_lacks_is_counted(kind, unknown):
    model = writer(kind)
    length = measure_prompt(model, "the 🦊 🦊 cat")
    assert (length.tokens, length.unknown) == (len(encode_prompt(model, "the 🦊 🦊 cat")), unknown)
    assert measure_prompt(model, "the cat").unknown == 0
    assert measure_prompt(model, "he walks").pieces == (kind == "bert"), "walk ##s"


@pytest.mark.parametrize(("kind", "sees_spaces"), [("bert", False), ("gpt2", True)])
def test_a_prompt_is_empty_where_the_model_sees_none_of_it(kind, sees_spaces):
    model = writer(kind)
    assert measure_prompt(model, "").is_empty and not measure_prompt(model, "the cat").is_empty
    assert measure_prompt(model, "   ").is_empty is not sees_spaces


@pytest.mark.parametrize("token_id", [-1, 10**9])
def test_ids_that_do_not_exist_are_refused(token_id):
    model = writer("gpt2")
    check_ids(model, range(model.network.config.vocab_size))
    with pytest.raises(UnsuitableText, match=f"no token {token_id}"):
        check_ids(model, [0, token_id])


@pytest.mark.parametrize(
    "name, why",
    [
        ("BERT mini", "it was not trained to say what comes next"),
        ("ELMo mini", "it predicts each word from its left and from its right"),
        ("T5 mini", "its decoder was trained to restore what a text lacks"),
    ],
)
def test_why_a_model_does_not_write_is_said_of_each_kind(name, why):
    with pytest.raises(UnsuitableModel, match=why):
        check_generates(next(card for card in CATALOGUE if card.name == name))
