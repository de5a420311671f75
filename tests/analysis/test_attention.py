"""What read_attention reads: the ids that the model would see, every token said, weights as transformers has them."""

import numpy as np
import pytest
import torch

from explorer.analysis import read_attention
from explorer.analysis.attention_inputs import encode_left, encode_texts
from explorer.analysis.attention_sides import MOST_WRITTEN_TOKENS
from explorer.analysis.generation import continue_text
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.card import Ability
from tests.analysis import causal_models, objective_models
from tests.analysis.tiny_models import loaded, word_piece
from tests.analysis.writing_models import NETWORKS, writer
from tests.models.attention_networks import eager_weights
from tests.models.families import FAMILIES

TEXT = "The cat sat on the mat and looked at the dog."
PAIR = "A king lived in an old house."


@pytest.fixture(params=FAMILIES, ids=lambda family: f"{family.model_type}-{family.ability}")
def published(request, tokenizers_folder):
    """Every architecture of the catalogue with its own kind of tokenizer."""
    family = request.param
    torch.manual_seed(0)
    tokenizer = family.tokenizer(tokenizers_folder)
    config = family.config(len(tokenizer))
    for name, value in family.overrides:
        setattr(config, name, value)
    config.decoder_start_token_id = 0
    abilities = [family.ability, Ability.EMBED]
    return loaded(family.saved_as(config), tokenizer, abilities=abilities, limit_tokens=family.limit_tokens)


@pytest.mark.parametrize("second_text", [None, PAIR])
def test_every_architecture_reads_what_transformers_reads(published, second_text):
    reading = read_attention(published, TEXT, second_text=second_text)
    tokenizer, network = published.tokenizer, published.network
    if network.config.is_encoder_decoder:
        first = tokenizer(TEXT)["input_ids"]
        inputs = {"input_ids": torch.tensor([first])}
        names = [token.text for token in reading.stacks[1].queries]
        decoder = tokenizer.convert_tokens_to_ids(names)
        if second_text:
            assert decoder[-3:] == tokenizer(PAIR, add_special_tokens=False)["input_ids"][-3:]
        assert reading.written_by_model is (second_text is None)
        inputs["decoder_input_ids"] = torch.tensor([decoder])
        wanted_names = ["encoder", "decoder", "cross"]
    elif Ability.GENERATE in published.card.abilities:
        whole = TEXT if second_text is None else f"{TEXT} {PAIR}"
        ids = tokenizer(whole, add_special_tokens=False)["input_ids"]
        inputs = {"input_ids": torch.tensor([ids])}
        wanted_names = ["encoder" if published.card.model_type == "xlnet" else "decoder"]
    else:
        encoded = (
            tokenizer(TEXT, second_text, return_tensors="pt") if second_text else tokenizer(TEXT, return_tensors="pt")
        )
        inputs = {"input_ids": encoded["input_ids"]}
        if "token_type_ids" in encoded:
            inputs["token_type_ids"] = encoded["token_type_ids"]
        wanted_names = ["encoder"]
    assert [stack.name for stack in reading.stacks] == wanted_names
    wanted = eager_weights(network, inputs, wanted_names)
    for stack in reading.stacks:
        assert stack.weights.shape[2:] == (len(stack.queries), len(stack.keys))
        assert stack.weights.dtype == np.float32 and stack.weights.flags.c_contiguous
        assert not stack.weights.flags.writeable
        np.testing.assert_allclose(stack.weights, wanted[stack.name][:, 0].numpy(), atol=1e-5, rtol=0)
        np.testing.assert_allclose(stack.weights.sum(axis=-1), 1, atol=1e-5)


def test_tokens_say_what_they_are_of_the_text(published):
    if published.card.model_type in {"xlm-roberta", "albert", "deberta-v2", "xlnet", "openai-gpt", "llama", "t5"}:
        text = TEXT  # their vocabulary here is made of a few sentences
    else:
        text = "Don't go, Zoë: السلام عليكم </script> 👍🏽!"
    tokens = read_attention(published, text, second_text=PAIR).stacks[0].queries
    own = [token for token in tokens if not token.is_special and token.segment == 0]
    assert "".join(token.surface for token in own).replace(" ", "") == text.replace(" ", "")
    assert all(token.word is None and token.surface == "" for token in tokens if token.is_special)
    numbers = [token.word for token in tokens if token.word is not None]
    assert numbers == sorted(numbers) and set(numbers) == set(range(max(numbers) + 1))


@pytest.mark.parametrize("architecture", [name for name in NETWORKS if name != "mamba"])
def test_attention_while_writing_is_that_of_the_text_so_far(architecture):
    model = writer(architecture)
    steps = list(continue_text(model, "the cat is", strategy="greedy", max_new_tokens=6))
    written = [step.chosen.token_id for step in steps] if hasattr(steps[0], "chosen") else [s.token_id for s in steps]
    reading = read_attention(model, "the cat is", written=written)
    begun = encode_left(model, "the cat is")
    ids = torch.tensor([[*begun.ids, *written]])
    name = "encoder" if architecture == "xlnet" else "decoder"
    wanted = eager_weights(model.network, {"input_ids": ids}, [name])[name][:, 0].numpy()
    np.testing.assert_allclose(reading.weights, wanted, atol=1e-5, rtol=0)
    assert [token.segment for token in reading.tokens] == [0] * len(begun.ids) + [1] * len(written)
    assert reading.tokens[: len(begun.ids)] == begun.tokens
    assert reading.second_text == model.tokenizer.decode(written, clean_up_tokenization_spaces=False)
    if name == "decoder":  # nobody looks ahead, and nothing before changes as the text grows
        assert not np.triu(reading.weights, 1).any()
        before = read_attention(model, "the cat is").weights
        np.testing.assert_allclose(reading.weights[..., : len(begun.ids), : len(begun.ids)], before, atol=1e-5)


def test_an_encoder_decoder_writes_what_is_missing():
    model = objective_models.bart()
    reading = read_attention(model, "the cat is happy")
    encoder, decoder, cross = reading.stacks
    assert reading.written_by_model
    assert 0 < len(decoder.queries) <= MOST_WRITTEN_TOKENS + 2
    ids = model.tokenizer.convert_tokens_to_ids([token.text for token in decoder.queries])
    inputs = {"input_ids": torch.tensor([encode_texts(model, "the cat is happy").ids])}
    with torch.inference_mode():  # each token is the likeliest after those before it
        logits = model.network(**inputs, decoder_input_ids=torch.tensor([ids])).logits[0]
    assert logits.argmax(dim=-1).tolist()[1:-1] == ids[2:]
    assert cross.queries == decoder.queries and cross.keys == encoder.keys
    assert all(token.segment == 1 for token in decoder.queries)
    again = read_attention(model, "the cat is happy", second_text="the dog")
    assert not again.written_by_model and again.second_text == "the dog"
    assert [token.surface for token in again.stacks[1].queries if not token.is_special][-1] != ""


def test_blanks_are_masks_and_sentinels():
    bert = word_piece()
    tokens = read_attention(bert, "the ___ is walking [MASK]").tokens
    assert [token.text for token in tokens] == ["[CLS]", "the", "[MASK]", "is", "walk", "##ing", "[MASK]", "[SEP]"]
    assert [token.word for token in tokens] == [None, 0, 1, 2, 3, 3, 4, None]
    assert tokens[2].surface == tokens[6].surface == "___"
    span = objective_models.mini("span")
    tokens = read_attention(span, "the ___ barks in ___ .").tokens
    assert [token.text for token in tokens if token.surface == "___"] == ["<extra_id_0>", "<extra_id_1>"]


def test_a_pair_is_two_segments():
    model = word_piece()
    reading = read_attention(model, "the cat", second_text="a dog is happy")
    assert [token.segment for token in reading.tokens] == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    with torch.inference_mode():
        encoded = model.tokenizer("the cat", "a dog is happy", return_tensors="pt")
        assert encoded["token_type_ids"].sum() == 5
    untold = eager_weights(model.network, {"input_ids": encoded["input_ids"]})["encoder"][:, 0].numpy()
    assert np.abs(untold - reading.weights).max() > 1e-4  # the model was told which is which


def test_only_the_layers_asked_for_are_kept(bert):
    whole = read_attention(bert, "the cat is home")
    last = read_attention(bert, "the cat is home", layers=[1])
    assert last.weights.shape[0] == 1
    np.testing.assert_array_equal(last.weights[0], whole.weights[1])
    decoder = objective_models.bart()
    assert [len(stack.weights) for stack in read_attention(decoder, "the cat", layers=[0, 1]).stacks] == [2, 2, 2]


def test_one_token_looks_at_itself():
    reading = read_attention(causal_models.gpt2(), "a")
    assert reading.weights.shape[2:] == (1, 1)
    assert (reading.weights == 1).all()


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "There is no text"),
        (" \n", {}, "There is no text"),
        ("a\x07b", {}, "control characters"),
        ("the <mask>", {}, "mask of another model"),
        ("the cat " * 40, {}, "reads at most 64"),
        ("the cat", {"layers": [2]}, "no layer 2: its layers are counted from 0 to 1"),
        ("the cat", {"layers": [-1]}, "no layer -1"),
        ("the cat", {"layers": [True]}, "no layer True"),
        ("the cat", {"layers": []}, "No layer"),
        ("the cat", {"written": [3]}, "does not write a text on"),
        ("the cat", {"second_text": "\x00"}, "control characters"),
    ],
)
def test_what_cannot_be_read_is_refused(bert, text, options, message):
    with pytest.raises(UnsuitableText, match=message):
        read_attention(bert, text, **options)


def test_a_blank_second_text_counts_as_none(bert):
    assert read_attention(bert, "the cat", second_text=" ").second_text is None


def test_written_tokens_are_checked():
    with pytest.raises(UnsuitableText, match="no token 99999"):
        read_attention(writer("gpt2"), "the cat", written=[99999])
    with pytest.raises(UnsuitableText, match="reads at most"):
        read_attention(writer("gpt2"), "the cat", written=[3] * 80)


def test_more_than_fits_into_memory_is_refused_before_it_is_read(bert, monkeypatch):
    monkeypatch.setattr("explorer.analysis.attention.MOST_WEIGHTS_MIB", 0)
    with pytest.raises(UnsuitableText, match="Ask for fewer layers"):
        read_attention(bert, "the cat")
    with pytest.raises(UnsuitableText, match="Shorten the text"):
        read_attention(bert, "the cat", layers=[0])


@pytest.mark.parametrize("name", ["mamba", "bilm"])
def test_a_model_without_attention_says_so(name):
    model = writer("mamba") if name == "mamba" else objective_models.mini("bilm")
    with pytest.raises(UnsuitableModel, match="no attention"):
        read_attention(model, "the cat")


def test_layers_are_handed_over_as_they_pass():
    model = objective_models.mini("span")
    seen = {}
    whole = read_attention(model, "The cat sat.", passed=lambda layer, found: seen.update({layer: found}))
    assert list(seen) == list(range(len(whole.weights)))
    for layer, found in seen.items():
        for one, stack in zip(found.stacks, whole.stacks, strict=True):
            assert (one.name, one.queries) == (stack.name, stack.queries)
            np.testing.assert_array_equal(one.weights, stack.weights[layer : layer + 1])
