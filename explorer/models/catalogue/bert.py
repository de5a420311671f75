"""BERT: a transformer that reads in both directions, because the words to predict are hidden from it."""

from explorer.models.card import Ability, HubRepository, ModelCard

PAPER = "Devlin et al. 2019"
PAPER_URL = "https://arxiv.org/abs/1810.04805"
ABILITIES = frozenset({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE, Ability.EMBED})

BERT = (
    ModelCard(
        name="BERT base",
        source=HubRepository(id="google-bert/bert-base-uncased", revision="86b5e0934494bd15c9632b12f734a8a67f723594"),
        model_type="bert",
        abilities=ABILITIES,
        special="Fills hidden words from both sides and tells whether two sentences belong together; sees no capitals.",
        licence="Apache-2.0",
        paper=PAPER,
        paper_url=PAPER_URL,
        parameters=110_106_428,
        weights_bytes=440_449_768,
    ),
    ModelCard(
        name="BERT base cased",
        source=HubRepository(id="google-bert/bert-base-cased", revision="cd5ef92a9fb2f889e972770a36d4ed042daf221e"),
        model_type="bert",
        abilities=ABILITIES,
        special="BERT that sees capitals, which matter for names: compare Turkey with turkey.",
        licence="Apache-2.0",
        paper=PAPER,
        paper_url=PAPER_URL,
        parameters=108_932_934,
        weights_bytes=435_755_784,
        unconfirmed=("licence",),
    ),
    ModelCard(
        name="BERT large",
        source=HubRepository(id="google-bert/bert-large-uncased", revision="6da4b6a26a1877e173fca3225479512db81a5e5b"),
        model_type="bert",
        abilities=ABILITIES,
        special="24 layers instead of 12: more world knowledge, three times the weights.",
        licence="Apache-2.0",
        paper=PAPER,
        paper_url=PAPER_URL,
        parameters=336_226_108,
        weights_bytes=1_344_951_957,
        unconfirmed=("weights_bytes", "licence"),
    ),
    ModelCard(
        name="mBERT",
        source=HubRepository(
            id="google-bert/bert-base-multilingual-cased", revision="3f076fdb1ab68d5b2880cb87a0886f315b8146f8"
        ),
        model_type="bert",
        abilities=ABILITIES,
        special="One BERT for the 104 largest Wikipedias, never told which language it reads.",
        licence="Apache-2.0",
        paper=PAPER,
        paper_url=PAPER_URL,
        parameters=178_566_653,
        weights_format="bin",
        languages=("multilingual",),
        unconfirmed=("parameters", "weights_bytes", "weights_format"),
    ),
    ModelCard(
        name="DistilBERT",
        source=HubRepository(
            id="distilbert/distilbert-base-uncased", revision="12040accade4e8a0f71eabdb258fecc2e7e948be"
        ),
        model_type="distilbert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="A student with half of BERT's layers that keeps most of what BERT can do.",
        licence="Apache-2.0",
        paper="Sanh et al. 2019",
        paper_url="https://arxiv.org/abs/1910.01108",
        parameters=66_985_530,
        weights_bytes=267_954_768,
        unconfirmed=("licence",),
    ),
)
