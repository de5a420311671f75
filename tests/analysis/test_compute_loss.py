"""Training examples of every objective, and that their losses are those of transformers."""

from functools import cache

import pytest
import torch
from torch.nn import functional
from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel

from explorer.analysis.compute_loss import compute_loss, draw_replacements
from explorer.analysis.corruption.noises import MAKE_NOISE
from explorer.analysis.examples import MAKE_EXAMPLE
from explorer.analysis.exporting import to_tables
from explorer.analysis.objectives import NOISES, OBJECTIVE_CARDS
from explorer.analysis.training_results import Fate
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.card import Ability
from tests.analysis import objective_models, tiny_models
from tests.analysis.objective_models import TEXT

SHORT = "The cat is playing in Paris. He is happy, unhappily. A dog walks home."
EXACT = {"abs": 1e-5}


@pytest.fixture(scope="module")
def minis():
    return cache(objective_models.mini)


@pytest.fixture(scope="module")
def two_heads():
    return objective_models.bert_with_both_heads()


@pytest.fixture(scope="module")
def bart():
    return objective_models.bart()


def ids_of(tokens):
    return torch.tensor([[token.token_id for token in tokens]])


def labels_of(example):
    """What transformers calls the labels of a masked model."""
    labels = ids_of(example.tokens)
    answered = {answer.index for answer in example.answers}
    return torch.tensor([[label if i in answered else -100 for i, label in enumerate(labels[0].tolist())]])


def plain_loss(model, **inputs):
    with torch.no_grad():
        return model.network(**inputs).loss.item()


def test_every_objective_and_every_noise_is_described_and_made():
    assert OBJECTIVE_CARDS.keys() == MAKE_EXAMPLE.keys()
    assert NOISES.keys() == MAKE_NOISE.keys()


@pytest.mark.parametrize("objective", ["masked", "whole_word", "span_masked"])
@pytest.mark.parametrize("seed", range(5))
def test_a_masked_loss_is_that_of_transformers(family, objective, seed):
    example = compute_loss(family, SHORT, objective=objective, seed=seed)
    expected = plain_loss(family, input_ids=ids_of(example.inputs), labels=labels_of(example))
    assert example.loss_nats == pytest.approx(expected, **EXACT)
    assert len(example.inputs) == len(example.tokens)
    picked = [i for i, token in enumerate(example.tokens) if token.fate not in (Fate.KEPT, Fate.SPECIAL)]
    assert picked == [answer.index for answer in example.answers]
    for before, after in zip(example.tokens, example.inputs, strict=True):
        assert before.fate == after.fate
        assert (after.token_id == family.tokenizer.mask_token_id) or after.fate != Fate.MASKED
        assert before.token_id == after.token_id or after.fate in (Fate.MASKED, Fate.RANDOMIZED)
    for answer in example.answers:
        assert answer.right == example.tokens[answer.index].text
        assert answer.probability == pytest.approx(torch.tensor(-answer.loss_nats).exp().item())


def test_a_masked_loss_of_a_bert_with_both_heads(two_heads):
    example = compute_loss(two_heads, SHORT, seed=3)
    inputs, labels = ids_of(example.inputs), labels_of(example)
    with torch.no_grad():
        logits = two_heads.network(input_ids=inputs).prediction_logits
    assert example.loss_nats == pytest.approx(functional.cross_entropy(logits[0], labels[0]).item(), **EXACT)


def test_over_many_seeds_the_fates_are_80_10_10_and_15_per_cent_are_picked(bert):
    fates = [token.fate for seed in range(300) for token in compute_loss(bert, SHORT, seed=seed).tokens]
    own = [fate for fate in fates if fate != Fate.SPECIAL]
    picked = [fate for fate in own if fate != Fate.KEPT]
    per_text = len(own) // 300
    assert len(picked) == 300 * round(0.15 * per_text)
    for fate, share in ((Fate.MASKED, 0.8), (Fate.RANDOMIZED, 0.1), (Fate.UNCHANGED, 0.1)):
        error = (share * (1 - share) / len(picked)) ** 0.5
        assert picked.count(fate) / len(picked) == pytest.approx(share, abs=4 * error)


def test_dynamic_masks_differ_from_epoch_to_epoch(bert):
    example = compute_loss(bert, SHORT, seed=0)
    epochs = [tuple(token.fate for token in example.tokens), *example.later_epochs]
    assert len(epochs) == 4 and len(set(epochs)) > 1
    assert {len(epoch) for epoch in epochs} == {len(example.tokens)}
    assert compute_loss(bert, SHORT, objective="whole_word").later_epochs == ()


def test_whole_words_are_picked_with_all_their_pieces(bert):
    for seed in range(30):
        example = compute_loss(bert, "playing walks unhappily dogs in paris", objective="whole_word", seed=seed)
        picked = [token.fate not in (Fate.KEPT, Fate.SPECIAL) for token in example.tokens]
        for before, (after, token) in zip(picked, list(zip(picked, example.tokens, strict=True))[1:], strict=False):
            if token.token.startswith("##"):
                assert before == after


def test_a_span_shares_one_fate(bert):
    for seed in range(30):
        example = compute_loss(bert, "the cat is in the home . " * 6, objective="span_masked", seed=seed)
        fates = {answer.index: example.tokens[answer.index].fate for answer in example.answers}
        assert len(fates) >= 6 and any(index + 1 in fates for index in fates)


def test_a_causal_loss_is_that_of_transformers(minis):
    for model, text in ((objective_models.gpt2(), SHORT), (minis("causal"), TEXT)):
        example = compute_loss(model, text, objective="causal")
        ids = ids_of(example.tokens)
        assert example.loss_nats == pytest.approx(plain_loss(model, input_ids=ids, labels=ids), **EXACT)
        assert [answer.index for answer in example.answers] == list(range(1, ids.shape[1]))
        assert example.inputs == example.tokens


def test_a_bilm_predicts_every_token_from_both_sides(minis):
    model = minis("bilm")
    example = compute_loss(model, TEXT, objective="bilm")
    ids = ids_of(example.tokens)
    with torch.no_grad():
        output = model.network(input_ids=ids)
    expected = [functional.cross_entropy(side[0], ids[0]) for side in (output.forward_logits, output.backward_logits)]
    assert example.loss_nats == pytest.approx(sum(expected).item() / 2, **EXACT)
    count = ids.shape[1]
    assert [answer.direction for answer in example.answers] == ["forward"] * count + ["backward"] * count
    assert [answer.index for answer in example.answers] == 2 * list(range(count))


@pytest.mark.parametrize("seed", range(4))
def test_a_span_corruption_loss_is_that_of_transformers(minis, seed):
    model = minis("span")
    example = compute_loss(model, TEXT, objective="span", seed=seed)
    labels = torch.tensor([model.tokenizer.convert_tokens_to_ids([answer.right for answer in example.answers])])
    assert example.loss_nats == pytest.approx(
        plain_loss(model, input_ids=ids_of(example.inputs), labels=labels), **EXACT
    )
    target = [answer.right for answer in example.answers]
    assert target[0] == "<extra_id_0>" and target[-1] == "[SEP]" and target[-2].startswith("<extra_id_")
    text = [token.token for token in example.tokens if token.fate == Fate.MASKED]
    assert text == [word for word in target if not word.startswith(("<extra", "[SEP]"))]
    assert example.target_text.startswith("<extra_id_0>") and "<extra_id_0>" in example.input_text
    own = [token for token in example.tokens if token.fate != Fate.SPECIAL]
    assert len(text) == round(0.15 * len(own))


def test_a_span_corruption_loss_of_two_berts_joined(minis):
    tokenizer = minis("span").tokenizer
    body = {"vocab_size": len(tokenizer), **tiny_models.TINY}
    config = EncoderDecoderConfig.from_encoder_decoder_configs(
        BertConfig(**body), BertConfig(**body, is_decoder=True, add_cross_attention=True)
    )
    config.decoder_start_token_id, config.pad_token_id = tokenizer.cls_token_id, tokenizer.pad_token_id
    config.eos_token_id = tokenizer.sep_token_id
    model = tiny_models.loaded(EncoderDecoderModel(config), tokenizer, abilities=[Ability.FILL_SPANS])
    example = compute_loss(model, TEXT, objective="span")
    labels = torch.tensor([tokenizer.convert_tokens_to_ids([answer.right for answer in example.answers])])
    expected = plain_loss(model, input_ids=ids_of(example.inputs), labels=labels)
    assert example.loss_nats == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(("name", "objective"), [("MiniLM (masked)", "masked"), ("MiniLM (causal)", "causal")])
def test_the_losses_of_shipped_models_are_those_of_transformers(shipped_registry, name, objective):
    def both(model):
        example = compute_loss(model, SHORT, objective=objective, seed=2)
        ids = ids_of(example.tokens)
        labels = labels_of(example) if objective == "masked" else ids
        return example.loss_nats, plain_loss(model, input_ids=ids_of(example.inputs), labels=labels)

    ours, theirs = shipped_registry.run(name, both)
    assert ours == pytest.approx(theirs, **EXACT)


@pytest.mark.parametrize("noise", MAKE_NOISE)
def test_a_denoising_loss_is_that_of_transformers(bart, noise):
    example = compute_loss(bart, SHORT, objective="denoising", noise=noise, seed=1)
    labels = ids_of(example.tokens)
    assert example.loss_nats == pytest.approx(
        plain_loss(bart, input_ids=ids_of(example.inputs), labels=labels), **EXACT
    )
    assert [answer.right for answer in example.answers] == [token.text for token in example.tokens]
    assert example.inputs[0].fate == example.inputs[-1].fate == Fate.SPECIAL
    assert example.noise == noise


def test_the_noises_leave_their_marks(bart):
    def fates(noise, part="tokens"):
        return {token.fate for token in getattr(compute_loss(bart, SHORT, objective="denoising", noise=noise), part)}

    assert Fate.DELETED in fates("token_deletion") and Fate.MASKED not in fates("token_deletion", "inputs")
    assert Fate.MASKED in fates("token_masking") and Fate.MASKED in fates("text_infilling", "inputs")
    assert Fate.MOVED in fates("document_rotation")


@pytest.mark.parametrize("seed", range(4))
def test_a_replaced_token_loss_is_that_of_transformers(minis, seed):
    model = minis("replaced")
    example = compute_loss(model, TEXT, objective="replaced", seed=seed)
    labels = torch.tensor([[int(token.fate == Fate.REPLACED) for token in example.tokens]])
    assert example.loss_nats == pytest.approx(
        plain_loss(model, input_ids=ids_of(example.inputs), labels=labels), **EXACT
    )
    assert example.replaced_by == "other tokens of the text"
    words = {token.token_id for token in example.tokens if token.fate != Fate.SPECIAL}
    for before, after in zip(example.tokens, example.inputs, strict=True):
        assert (before.token_id != after.token_id) == (after.fate == Fate.REPLACED)
        assert after.fate == Fate.SPECIAL or after.token_id in words


def test_a_generator_of_the_same_tokens_draws_the_replacements(minis, bert):
    drawn = draw_replacements(minis("masked"), TEXT, seed=5)
    assert drawn == draw_replacements(minis("masked"), TEXT, seed=5)
    example = compute_loss(minis("replaced"), TEXT, objective="replaced", replacements=drawn)
    assert example.replaced_by == "drawn by masked mini"
    read = {index: token.token for index, token in enumerate(example.inputs)}
    assert len(drawn.drawn) == 3 and all(read[index] == token for index, token in drawn.drawn)
    changed = {index for index, token in enumerate(example.tokens) if token.fate == Fate.REPLACED}
    assert changed == {index for index, token in drawn.drawn if token != drawn.tokens[index]}
    foreign = draw_replacements(bert, TEXT)
    example = compute_loss(minis("replaced"), TEXT, objective="replaced", replacements=foreign)
    assert example.replaced_by.startswith("other tokens of the text, because tiny bert cuts it into other tokens; one")


def test_the_probability_that_a_sentence_follows(two_heads):
    example = compute_loss(two_heads, "The cat is happy.", objective="next_sentence", other_text="He is in Paris.")
    encoded = two_heads.tokenizer("The cat is happy.", "He is in Paris.", return_tensors="pt")
    with torch.no_grad():
        logits = two_heads.network(**encoded).seq_relationship_logits
    [answer] = example.answers
    assert answer.right == "next"
    assert answer.probability == pytest.approx(logits.softmax(dim=-1)[0, 0].item(), **EXACT)
    assert example.loss_nats == pytest.approx(functional.cross_entropy(logits, torch.tensor([0])).item(), **EXACT)
    assert [token.token for token in example.inputs].count("[SEP]") == 2
    written = [row[-1] for row in to_tables(example)["inputs"]]
    assert written == ["segment", *("AB"[number] for number in encoded.token_type_ids[0])]
    with pytest.raises(UnsuitableText, match="second sentence"):
        compute_loss(two_heads, "The cat is happy.", objective="next_sentence")


def test_the_same_seed_gives_the_same_example(bert):
    assert compute_loss(bert, SHORT, seed=7) == compute_loss(bert, SHORT, seed=7)
    assert compute_loss(bert, SHORT, seed=7) != compute_loss(bert, SHORT, seed=8)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"text": "the cat ___ home"}, "has a blank"),
        ({"text": "the [MASK] is"}, "has a blank"),
        ({"text": ""}, "too little text"),
        ({"text": "cat"}, "too little text"),
        ({"text": "a \0 cat"}, "control"),
        ({"text": "cat " * 70}, "at most 64"),
        ({"objective": "guess"}, "Choose one of: masked, whole_word"),
        ({"seed": -1}, "seed must be"),
        ({"seed": 2**31}, "seed must be"),
        ({"noise": "none"}, "There is no noise"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(bert, options, says):
    with pytest.raises(UnsuitableText, match=says):
        compute_loss(bert, **{"text": SHORT, **options})


def test_a_long_text_is_refused_before_it_is_drawn(minis, bart):
    bert = tiny_models.loaded(
        tiny_models.tiny_bert(tiny_models.word_piece().tokenizer), tiny_models.word_piece().tokenizer, limit_tokens=512
    )
    with pytest.raises(UnsuitableText, match="at most 256 are looked at"):
        compute_loss(bert, "cat " * 257)
    with pytest.raises(UnsuitableText, match="one sentence"):
        compute_loss(bart, "The cat is", objective="denoising", noise="sentence_permutation")


@pytest.mark.parametrize("objective", ["causal", "bilm", "span", "denoising", "replaced", "next_sentence"])
def test_a_model_that_was_trained_otherwise_is_refused(bert, objective):
    with pytest.raises(UnsuitableModel, match="tiny bert was not trained so: .* Choose "):
        compute_loss(bert, SHORT, objective=objective)


def test_t5_and_bart_are_told_apart(minis, bart):
    with pytest.raises(UnsuitableModel, match="Choose .*T5"):
        compute_loss(bart, SHORT, objective="span")
    with pytest.raises(UnsuitableModel, match="Choose BART"):
        compute_loss(minis("span"), TEXT, objective="denoising")
