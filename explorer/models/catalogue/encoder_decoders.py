"""T5 and BART: an encoder that reads, a decoder that writes what is missing."""

from explorer.models.card import Ability, HubRepository, ModelCard

ABILITIES = frozenset({Ability.FILL_SPANS, Ability.EMBED})
T5_LANGUAGES = ("en", "fr", "ro", "de")

ENCODER_DECODERS = (
    ModelCard(
        name="T5 small",
        source=HubRepository(id="google-t5/t5-small", revision="df1b051c49625cf57a3d0d8d3863ed4d13564fe4"),
        model_type="t5",
        abilities=ABILITIES,
        special='Every task is text to text: a missing span is <extra_id_0>; "translate English to German:" works too.',
        licence="Apache-2.0",
        paper="Raffel et al. 2020",
        paper_url="https://arxiv.org/abs/1910.10683",
        parameters=60_506_624,
        weights_bytes=242_043_056,
        weights_sha256="bd944e5f1b3ad9b70dd9d00010a517059e19265671076b8b0a4a58d9491842bc",
        languages=T5_LANGUAGES,
    ),
    ModelCard(
        name="T5 base",
        source=HubRepository(id="google-t5/t5-base", revision="a9723ea7f1b39c1eae772870f3b547bf6ef7e6c1"),
        model_type="t5",
        abilities=ABILITIES,
        special="The size of two BERTs: one that reads and one that writes.",
        licence="Apache-2.0",
        paper="Raffel et al. 2020",
        paper_url="https://arxiv.org/abs/1910.10683",
        parameters=222_903_552,
        weights_bytes=891_646_390,
        weights_sha256="a90903540cc02cbeb7ff9f823f1a80eb778c7e22426a0e620b01c77a5ec8f5b4",
        languages=T5_LANGUAGES,
        unconfirmed=("licence",),
    ),
    ModelCard(
        # Its output head is not tied: never call resize_token_embeddings or tie_weights, which would overwrite it.
        name="Flan-T5 small",
        source=HubRepository(id="google/flan-t5-small", revision="0fc9ddf78a1e988dac52e2dac162b0ede4fd74ab"),
        model_type="t5",
        abilities=ABILITIES,
        special="T5 fine-tuned on 1,800 tasks phrased as instructions, so it follows ones it has never seen.",
        licence="Apache-2.0",
        paper="Chung et al. 2022",
        paper_url="https://arxiv.org/abs/2210.11416",
        parameters=76_961_152,
        weights_bytes=307_867_048,
        weights_sha256="495fa51e204676f1a857a9fc13c4c89f3f5ba9f480b898cebca02add25e6d749",
        languages=("multilingual",),
    ),
    ModelCard(
        name="BART base",
        source=HubRepository(id="facebook/bart-base", revision="aadd2ab0ae0c8268c7c9693540e9904811f36177"),
        model_type="bart",
        abilities=ABILITIES,
        special="BERT's reader and GPT's writer, trained to restore damaged text; one <mask> may hide several words.",
        licence="Apache-2.0",
        paper="Lewis et al. 2020",
        paper_url="https://arxiv.org/abs/1910.13461",
        parameters=139_420_416,
        unconfirmed=("weights_bytes",),
    ),
    ModelCard(
        name="BART large",
        source=HubRepository(id="facebook/bart-large", revision="cb48c1365bd826bd521f650dc2e0940aee54720c"),
        model_type="bart",
        abilities=ABILITIES,
        special="Twelve layers that read and twelve that write.",
        licence="Apache-2.0",
        paper="Lewis et al. 2020",
        paper_url="https://arxiv.org/abs/1910.13461",
        parameters=406_291_456,
        weights_format="bin",
        unconfirmed=("weights_bytes",),
    ),
)
