"""The cards are data; these are the rules that data keeps."""

import re
from dataclasses import replace

import pytest

from explorer.models.card import Ability, Bundled, HubRepository, InstalledPackage, ModelCard, PublishedFiles
from explorer.models.catalogue import CATALOGUE
from explorer.models.catalogue.families import FAMILIES, family_of

NAMED_IN_THE_DESIGN = {  # the lectures' models, by the start of their names here
    "ELMo", "GPT", "GPT-2", "BERT base", "BERT large", "mBERT", "RoBERTa", "ALBERT", "XLNet", "ELECTRA small generator",
    "ELECTRA small discriminator", "SpanBERT", "DeBERTa base", "DeBERTa v3", "XLM-R", "T5", "BART", "all-mpnet-base-v2",
    "all-MiniLM-L6-v2", "MiniLM (masked)",
}  # fmt: skip
HEADS = {  # which families have a class of transformers for an ability
    Ability.FILL_BLANKS: {"bert", "distilbert", "roberta", "albert", "electra", "deberta", "modernbert", "xlm-roberta"},
    Ability.FILL_SPANS: {"t5", "bart", "encoder-decoder"},
    Ability.GENERATE: {"bert", "openai-gpt", "gpt2", "gpt_neo", "gpt_neox", "xlnet"},
    Ability.PREDICT_BOTH_WAYS: {"elmo"},
    Ability.DETECT_REPLACED: {"electra"},
    Ability.NEXT_SENTENCE: {"bert"},
}
OF_A_FAMILY = {  # the start of its title
    "MiniLM (causal)": "Decoders",
    "MiniLM (span)": "Encoder–decoders",
    "all-MiniLM-L6-v2": "Sentence encoders",
    "GPT mini": "Decoders",
    "BERT mini": "Encoders",
    "ELMo mini": "Two LSTMs",
    "T5 mini": "Encoder–decoders",
    "ELECTRA mini": "After BERT",
    "BERT base": "Encoders",
    "XLNet base": "After BERT",
    "SpanBERT base": "After BERT",
    "BERT-Tiny (Google)": "Encoders",
}
ABOUT_FILES = {"revision", "parameters", "weights_bytes", "weights_format", "licence"}

every_card = pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
BUNDLED = [card for card in CATALOGUE if isinstance(card.source, Bundled)]
every_bundled_card = pytest.mark.parametrize("card", BUNDLED, ids=lambda card: card.name)


def test_names_are_unique():
    names = [card.name for card in CATALOGUE]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", sorted(NAMED_IN_THE_DESIGN))
def test_every_model_of_the_lectures_is_there(name):
    assert any(card.name.startswith(name) for card in CATALOGUE)


def test_every_published_model_has_one_family_and_every_other_that_of_its_head():
    published = [card.name for family in FAMILIES for card in family.cards]
    assert len(set(published)) == len(published) and {card.name for card in CATALOGUE}.issuperset(published)
    cards = {card.name: card for card in CATALOGUE}
    for name, title in OF_A_FAMILY.items():
        assert family_of(cards[name]).title.startswith(title), name
    headless = replace(CATALOGUE[0], name="mine", abilities=frozenset({Ability.EMBED}))
    assert family_of(headless).title.startswith("Encoders")


def test_teaching_order():
    order = [
        "MiniLM (masked)",
        "all-MiniLM-L6-v2",
        "ELMo",
        "GPT",
        "GPT-2",
        "BERT base",
        "RoBERTa base",
        "ALBERT base v2",
    ]
    order += ["XLNet base", "ELECTRA small generator", "DeBERTa base", "XLM-R base", "T5 small", "BART base"]
    places = [[card.name for card in CATALOGUE].index(name) for name in order]
    assert places == sorted(places)
    assert not CATALOGUE[0].needs_network, "the default must work offline"


@every_card
def test_facts(card: ModelCard):
    assert card.abilities
    assert card.special.endswith((".", "?", ":")) and 20 < len(card.special) <= 120
    assert re.fullmatch(r"[A-Z]\w+( and \w+| et al\.) \d{4}", card.paper)
    assert card.paper_url.startswith("https://")
    assert card.weights_format in ("safetensors", "bin")
    assert card.weights_sha256 is None or re.fullmatch("[0-9a-f]{64}", card.weights_sha256)
    assert card.parameters is None or 10**6 < card.parameters < 10**9
    assert card.languages


@every_card
def test_what_is_not_known_says_so(card: ModelCard):
    unconfirmed = set(card.unconfirmed)
    assert unconfirmed <= ABOUT_FILES
    assert "parameters" in unconfirmed or card.parameters is not None
    assert "weights_bytes" in unconfirmed or card.weights_bytes is not None
    assert "licence" in unconfirmed or re.fullmatch(r"MIT|Apache-2\.0", card.licence)
    if "weights_format" in unconfirmed:
        assert card.weights_format == "bin", "what may be either must be allowed to be either"


@every_card
def test_sources_are_pinned(card: ModelCard):
    match card.source:
        case HubRepository(id=id, revision=revision):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", id)
            assert re.fullmatch("[0-9a-f]{40}", revision) or (revision == "main" and "revision" in card.unconfirmed)
        case PublishedFiles(base_url=base_url, files=files):
            assert base_url.startswith("https://") and base_url.endswith("/") and files
        case Bundled(base=base, base_sha256=sha256):
            assert base is None or sha256
        case InstalledPackage():
            assert card.weights_sha256


@every_bundled_card
def test_what_this_project_trained_says_on_what_with_what_and_how_well(card: ModelCard):
    assert re.search(r"\d+\.\d M tokens, in [\w ]+ minutes on (one H100|two CPU cores)", card.training)
    for text in ("Wikipedia (CC BY-SA 3.0)", "novels in the public domain", "Wikinews (CC BY 2.5)"):
        assert text in card.training
    assert "African Storybook (CC BY 4.0)" in card.training or "early" in card.name, "it read no stories"
    assert re.search(r"Held-out Wikipedia|[Oo]f held-out Wikipedia", card.training) and "n = " in card.training


@every_card
def test_abilities_fit_the_architecture(card: ModelCard):
    for ability, families in HEADS.items():
        assert ability not in card.abilities or card.model_type in families
    assert Ability.EMBED in card.abilities


def test_models_published_without_a_trained_head_do_not_claim_one():
    cards = {card.name: card for card in CATALOGUE}
    assert cards["SpanBERT base"].abilities == {Ability.EMBED}
    assert cards["DeBERTa v3 base"].abilities == {Ability.EMBED}
    assert cards["ELECTRA small discriminator"].abilities == {Ability.DETECT_REPLACED, Ability.EMBED}
    assert ("legacy", False) in cards["DeBERTa base"].config_overrides
    assert ("do_lower_case", False) in cards["SpanBERT base"].tokenizer_overrides
