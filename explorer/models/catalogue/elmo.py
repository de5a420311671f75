"""ELMo: word vectors that depend on their sentence, before transformers."""

from explorer.models.card import Ability, ModelCard, PublishedFile, PublishedFiles

ADDRESS = "https://s3-us-west-2.amazonaws.com/allennlp/models/elmo/"


def _published(shape: str, options_bytes: int | None = None, weights_bytes: int | None = None) -> PublishedFiles:
    files = (
        PublishedFile(f"elmo_{shape}_options.json", options_bytes),
        PublishedFile(f"elmo_{shape}_weights.hdf5", weights_bytes),
    )
    return PublishedFiles(base_url=f"{ADDRESS}{shape}/", files=files)


ELMO = (
    ModelCard(
        name="ELMo small",
        source=_published("2x1024_128_2048cnn_1xhighway"),
        model_type="elmo",
        abilities=frozenset({Ability.EMBED}),
        special="A small biLM: two LSTMs read the sentence in opposite directions, over words spelled by characters.",
        licence="unknown",
        paper="Peters et al. 2018",
        paper_url="https://arxiv.org/abs/1802.05365",
        parameters=13_600_000,
        unconfirmed=("parameters", "weights_bytes", "licence"),
    ),
    ModelCard(
        name="ELMo",
        source=_published("2x4096_512_2048cnn_2xhighway", options_bytes=336, weights_bytes=374_434_792),
        model_type="elmo",
        abilities=frozenset({Ability.EMBED}),
        special='The first widely used contextual vectors: "play" in a theatre and on a pitch are no longer one point.',
        licence="unknown",
        paper="Peters et al. 2018",
        paper_url="https://arxiv.org/abs/1802.05365",
        parameters=93_600_000,
        weights_bytes=374_434_792,
        unconfirmed=("parameters", "licence"),
    ),
)
