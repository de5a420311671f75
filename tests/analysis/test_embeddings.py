"""Vectors of uses against transformers' hidden states of one sentence alone, in every architecture and tokenizer."""

from functools import cache

import numpy as np
import pytest
import torch

from explorer.analysis import embed_occurrences, stream_occurrences
from explorer.analysis.uses import find_uses
from explorer.errors import UnsuitableModel, UnsuitableText
from explorer.models.backend import LoadedModel
from explorer.models.card import Ability
from explorer.models.elmo import ElmoConfig, ElmoModel
from explorer.models.elmo_tokenizer import ElmoTokenizer
from explorer.models.layer_vectors import cut_batches
from explorer.settings import Settings
from tests.analysis import causal_models, objective_models, tiny_models
from tests.models.families import FAMILIES
from tests.models.small_models import EVAL

TOLERANCE = (
    1e-5  # of the largest number of each vector: a trained model's rogue dimension may be 90, all others below 1
)
SENTENCES = (
    "The cat is playing in Paris.",
    "A dog walks home (slowly) and the cat plays.",
    "I don't know, don't you?",
    "Un-happy cats 🙂 are un-happy 🙂🙂.",
    "play walk run play walk run play walk run",
    "  The   king is unhappily playing  ",
)
USES = [
    (sentence, span)
    for sentence in SENTENCES
    for word in ("playing", "don't", "🙂", "un-happy", "play", "the", "home (slowly)", "unhappily", "run")
    for span in find_uses(sentence, word)
]
OWN = {**tiny_models.FAMILIES, **causal_models.MODELS, "bart": objective_models.bart}
OWN |= {f"mini {name}": None for name in ("span", "bilm", "replaced")}


def embedding(model: LoadedModel) -> LoadedModel:
    """The same with the ability to give vectors."""
    card = model.card
    return tiny_models.loaded(
        model.network,
        model.tokenizer,
        name=card.name,
        abilities=[*card.abilities, Ability.EMBED],
        limit_tokens=model.limit_tokens,
    )


@cache
def own(name: str) -> LoadedModel:
    make = OWN[name]
    return embedding(make() if make else objective_models.mini(name.removeprefix("mini ")))


@cache
def elmo() -> LoadedModel:
    torch.manual_seed(0)
    config = ElmoConfig(
        character_dim=4, filters=((1, 4), (2, 8)), n_highways=1, projection_dim=6, lstm_dim=10, activation="relu"
    )
    network = ElmoModel(config)
    return tiny_models.loaded(network, ElmoTokenizer(), name="tiny elmo", abilities=[Ability.EMBED], limit_tokens=512)


@torch.inference_mode()
def plain_states(model: LoadedModel, sentence: str) -> np.ndarray:
    """Hidden states of one sentence alone, as transformers gives them; [layer, token, dim]."""
    network = model.network
    ids = torch.tensor([model.tokenizer(sentence)["input_ids"]])
    if network.config.is_encoder_decoder:
        states = network.get_encoder()(input_ids=ids, output_hidden_states=True).hidden_states
    elif isinstance(model.tokenizer, ElmoTokenizer):
        states = network(ids).hidden_states
    elif network.config.model_type == "elmo":
        states = network(ids).hidden_states
    else:
        states = network(input_ids=ids, output_hidden_states=True).hidden_states
    return torch.cat(states).numpy()


def plain_places(model: LoadedModel, sentence: str, span) -> list[int]:
    """The tokens of a use, asked letter by letter of the tokenizer's own table; by white space for ELMo's words."""
    encoded = model.tokenizer(sentence, return_offsets_mapping=True)
    if isinstance(model.tokenizer, ElmoTokenizer):
        return [i for i, (first, last) in enumerate(encoded["offset_mapping"]) if span[0] <= first and last <= span[1]]
    tokens = encoded.tokens()
    letters = [place for place in range(*span) if not sentence[place].isspace()]
    places = {
        index
        for letter in letters
        for index, (first, last) in enumerate(encoded["offset_mapping"])
        if first <= letter < last and tokens[index] not in {"▁", "Ġ"}
    }
    asked = {encoded.char_to_token(letter) for letter in letters} - {None}
    assert {index for index in asked if tokens[index] not in {"▁", "Ġ"}} <= places
    return sorted(places)


def assert_same(vectors: np.ndarray, expected: np.ndarray) -> None:
    """Fail where vectors, [..., dim], differ by more than float32's rounding in another order of sums."""
    largest = np.maximum(1, np.abs(expected).max(axis=-1, keepdims=True))
    np.testing.assert_allclose(vectors / largest, expected / largest, atol=TOLERANCE, rtol=0)


def check(model: LoadedModel, uses) -> None:
    """Each use, by all ways to join pieces, in one batch with all others."""
    able = [use for use in uses if plain_places(model, *use)]
    assert len(able) >= len(uses) - 4, "hardly any use may be without a token"
    sentences, spans = zip(*able, strict=True)
    states = {sentence: plain_states(model, sentence) for sentence in set(sentences)}
    for pieces in ("first", "mean", "last"):
        result = embed_occurrences(model, sentences=sentences, positions=spans, pieces=pieces)
        assert result.layers == tuple(range(result.layer_count)) and result.layer_count == len(states[sentences[0]])
        for number, (sentence, span) in enumerate(able):
            places = plain_places(model, sentence, span)
            if pieces != "mean":
                places = places[:1] if pieces == "first" else places[-1:]
            expected = states[sentence][:, places].mean(axis=1)
            assert_same(result.vectors[:, number], expected)
            assert len(result.tokens[number]) == len(plain_places(model, sentence, span))


@pytest.mark.parametrize("name", OWN)
def test_vectors_are_the_hidden_states_of_the_sentence_alone(name):
    check(own(name), USES)


def test_vectors_of_elmo_are_its_three_layers():
    check(elmo(), USES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.model_type}-{family.ability}")
def test_every_architecture_of_the_catalogue(family):
    if not (EVAL / "tokenizers").is_dir():
        pytest.skip("needs the evaluation data: set EXPLORER_EVAL_DATA to its folder")
    torch.manual_seed(0)
    tokenizer = family.tokenizer(EVAL / "tokenizers")
    config = family.config(len(tokenizer))
    for name, value in family.overrides:
        setattr(config, name, value)
    network = objective_models.opinionated(family.saved_as(config))
    model = tiny_models.loaded(network, tokenizer, abilities=[Ability.EMBED], limit_tokens=family.limit_tokens)
    check(model, USES)


@pytest.mark.parametrize("name", ["word_piece", "byte_level", "sentence_piece", "gpt2", "bart"])
def test_a_vector_does_not_depend_on_its_company(name):
    model, order = own(name), np.random.default_rng(0).permutation(len(USES))
    sentences, spans = zip(*USES, strict=True)
    together = embed_occurrences(model, sentences=sentences, positions=spans)
    mixed = embed_occurrences(
        model, sentences=[sentences[i] for i in order], positions=[spans[i] for i in order], layers=[-1]
    )
    assert_same(mixed.vectors[0], together.vectors[-1][order])
    alone = embed_occurrences(model, sentences=sentences[3:4], positions=spans[3:4])
    assert_same(alone.vectors[:, 0], together.vectors[:, 3])


def test_any_number_of_uses_is_streamed_in_order():
    model, read = own("word_piece"), []
    uses = [use for use in USES if plain_places(model, *use)]
    sentences, spans = zip(*uses, strict=True)

    def watched():
        for sentence in sentences:
            read.append(sentence)
            yield sentence

    parts = stream_occurrences(model, sentences=watched(), positions=iter(spans), part=5)
    first = next(parts)
    assert len(read) == len(first.sentences) == 5, "no more is read than is embedded"
    found = [first, *parts]
    assert [sentence for one in found for sentence in one.sentences] == list(sentences)
    together = embed_occurrences(model, sentences=sentences, positions=spans).vectors
    assert_same(np.concatenate([one.vectors for one in found], axis=1), together)
    with pytest.raises(UnsuitableText, match="part must be a whole number from 1"):
        next(stream_occurrences(model, sentences=[], positions=[], part=0))


def test_a_sentence_that_is_too_long_is_read_around_the_use():
    model = own("gpt2")
    sentence = "the cat is playing " * 30
    uses = find_uses(sentence, "playing")
    result = embed_occurrences(model, sentences=[sentence] * len(uses), positions=uses)
    assert result.remarks[0].startswith("30 sentences are longer than the 48 tokens that tiny gpt2 reads")
    for number, ((start, end), (first, last)) in enumerate(zip(uses, result.read, strict=True)):
        assert first <= start and end <= last and last - first < len(sentence)
        seen = sentence[first:last]
        assert len(model.tokenizer(seen)["input_ids"]) == 48
        places = plain_places(model, seen, (start - first, end - first))
        expected = plain_states(model, seen)[:, places].mean(axis=1)
        assert_same(result.vectors[:, number], expected)
    middle = result.read[15]
    assert abs((uses[15][0] - middle[0]) - (middle[1] - uses[15][1])) < 12, "as much before the use as behind it"


def test_special_tokens_stay_around_a_window():
    model = own("word_piece")
    sentence = "the cat " * 60 + "is happy " + "the dog " * 60
    (use,) = find_uses(sentence, "happy")
    result = embed_occurrences(model, sentences=[sentence], positions=[use])
    ids = model.tokenizer(sentence[slice(*result.read[0])])["input_ids"]
    assert len(ids) == model.limit_tokens and result.remarks[0].startswith("One sentence is longer than the 64 tokens")
    expected = plain_states(model, sentence[slice(*result.read[0])])[:, ids.index(model.tokenizer.vocab["happy"])]
    assert_same(result.vectors[:, 0], expected)


def test_the_result_says_what_it_is_of():
    model = own("word_piece")
    result = embed_occurrences(
        model, sentences=["the cat is playing"], positions=[(11, 18)], layers=[0, -1], pieces="last"
    )
    assert (result.words, result.tokens) == (("playing",), (("playing",),))
    assert (result.layers, result.layer_count, result.pieces, result.remarks) == ((0, 2), 3, "last", ())
    assert result.vectors.dtype == np.float32 and not result.vectors.flags.writeable
    unknown = embed_occurrences(model, sentences=["the 🙂 is happy"], positions=[(4, 5)])
    assert unknown.tokens == (("[UNK]",),) and "One use has a token that the vocabulary lacks" in unknown.remarks[0]


@pytest.mark.parametrize(
    "sentences, positions, options, message",
    [
        ([], [], {}, "There is no use of a word to embed"),
        (["the cat"], [], {}, "as many positions"),
        ("the cat", [(0, 1)] * 7, {}, "Give a list of sentences"),
        (["the cat"], [(4, 8)], {}, "within the 7 characters of “the cat”, not"),
        (["the cat"], [(4, 4)], {}, "within the 7 characters"),
        (["the cat"], [(-3, 7)], {}, "within the 7 characters"),
        (["the cat"], [(True, 7)], {}, "within the 7 characters"),
        (["the cat", "the  cat"], [(4, 7), (3, 5)], {}, "Sentence 2: At .* only white space"),
        (["the \u200d cat"], [(4, 5)], {}, "has no token for"),
        (["the cat"], [(4, 7)], {"layers": [3]}, "has layers 0 .* to 2, not 3"),
        (["the cat"], [(4, 7)], {"layers": []}, "at least one is needed"),
        (["the cat"], [(4, 7)], {"pieces": "middle"}, "Choose one of: first, mean, last"),
        (["the " * 90], [(0, 359)], {}, "The use has 90 tokens"),
    ],
)
def test_what_cannot_be_embedded_is_refused(sentences, positions, options, message):
    with pytest.raises(UnsuitableText, match=message):
        embed_occurrences(own("word_piece"), sentences=sentences, positions=positions, **options)


def test_too_much_is_refused(monkeypatch):
    ask = {"sentences": ["the cat"] * 5, "positions": [(4, 7)] * 5}
    monkeypatch.setattr("explorer.analysis.embeddings.settings", lambda: Settings(most_uses=4))
    with pytest.raises(UnsuitableText, match="5 uses; at most 4 are embedded at once"):
        embed_occurrences(own("word_piece"), **ask)
    monkeypatch.setattr("explorer.analysis.embeddings.settings", lambda: Settings(most_vectors_mib=0))
    with pytest.raises(UnsuitableText, match="Ask for fewer layers or fewer uses"):
        embed_occurrences(own("word_piece"), **ask)


def test_a_model_without_vectors_is_refused():
    with pytest.raises(UnsuitableModel, match="gives no vectors"):
        embed_occurrences(tiny_models.word_piece(), sentences=["the cat"], positions=[(4, 7)])


def test_batches_hold_every_row_once_and_keep_to_their_bound():
    lengths = np.random.default_rng(1).integers(1, 90, 500).tolist() + [400]
    batches = list(cut_batches(lengths, 256))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(lengths[index] for index in batch) <= 256 or len(batch) == 1
    padded = sum(len(batch) * max(lengths[index] for index in batch) for batch in batches)
    assert padded < 1.03 * sum(lengths)


def test_really_trained_models(shipped_registry):
    minilm = ("MiniLM (masked)", "MiniLM (causal)", "MiniLM (span)")
    for name in (*minilm, "GPT mini", "ELMo mini", "BERT mini", "T5 mini", "ELECTRA mini"):
        shipped_registry.run(name, lambda model: check(model, USES))
