"""Sentence encoders: one vector per sentence, trained to be compared."""

from explorer.models.card import Ability, HubRepository, ModelCard

SENTENCES = (
    ModelCard(
        name="all-mpnet-base-v2",
        source=HubRepository(
            id="sentence-transformers/all-mpnet-base-v2", revision="e8c3b32edf5434bc2275fc9bab85f82640a19130"
        ),
        model_type="mpnet",
        abilities=frozenset({Ability.EMBED, Ability.EMBED_SENTENCES}),
        special="Sentence-BERT's idea on MPNet and a billion pairs: nearness of vectors is nearness of meaning.",
        licence="Apache-2.0",
        paper="Reimers and Gurevych 2019",
        paper_url="https://arxiv.org/abs/1908.10084",
        parameters=109_486_464,
        weights_bytes=437_971_872,
        weights_sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    ),
)
