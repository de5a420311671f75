"""Small models: quick on any machine, and plain enough to look inside."""

from explorer.models.card import Ability, HubRepository, ModelCard

SMALL_BERT = frozenset({Ability.FILL_BLANKS, Ability.NEXT_SENTENCE, Ability.EMBED})
SMALL_BERT_PAPER = ("Turc et al. 2019", "https://arxiv.org/abs/1908.08962")

SMALL = (
    ModelCard(
        name="BERT-Tiny (Google)",
        source=HubRepository(
            id="google/bert_uncased_L-2_H-128_A-2", revision="30b0a37ccaaa32f332884b96992754e246e48c5f"
        ),
        model_type="bert",
        abilities=SMALL_BERT,
        special="Two layers, two heads: small enough to draw all of its attention on one page.",
        licence="Apache-2.0",
        paper=SMALL_BERT_PAPER[0],
        paper_url=SMALL_BERT_PAPER[1],
        parameters=4_433_468,
        weights_format="bin",
        unconfirmed=("weights_bytes", "weights_format"),
        tokenizer_overrides=(("model_max_length", 512),),
    ),
    ModelCard(
        name="BERT-Mini (Google)",
        source=HubRepository(
            id="google/bert_uncased_L-4_H-256_A-4", revision="387825ce42dbb39b87911cdf8e383ee3b25184f8"
        ),
        model_type="bert",
        abilities=SMALL_BERT,
        special="Four layers, twice as wide as BERT-Tiny's two: beside it and BERT base it shows what size buys.",
        licence="Apache-2.0",
        paper=SMALL_BERT_PAPER[0],
        paper_url=SMALL_BERT_PAPER[1],
        parameters=11_267_900,
        weights_format="bin",
        unconfirmed=("weights_bytes", "weights_format"),
        tokenizer_overrides=(("model_max_length", 512),),
    ),
    ModelCard(
        name="Pythia 70M",
        source=HubRepository(id="EleutherAI/pythia-70m", revision="a39f36b100fe8a5377810d56c3f4789b9c53ac42"),
        model_type="gpt_neox",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="The smallest of a family published to be studied, with its data and every stage of its training.",
        licence="Apache-2.0",
        paper="Biderman et al. 2023",
        paper_url="https://arxiv.org/abs/2304.01373",
        parameters=70_426_624,
        weights_bytes=166_029_852,
        weights_sha256="ebfa4e2f18696ebd83716a0d39fe2c025f2ff8483f72a83ca59c475692fc9d15",
    ),
    ModelCard(
        name="TinyStories 8M",
        source=HubRepository(id="roneneldan/TinyStories-8M", revision="8612e3b15c66ffa94eaa6ee0de5c96edd2d630af"),
        model_type="gpt_neo",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="Tells whole tales in a small child's words; two thirds of its 19.7 M weights are token vectors.",
        licence="unknown",
        paper="Eldan and Li 2023",
        paper_url="https://arxiv.org/abs/2305.07759",
        parameters=19_702_528,
        weights_format="bin",
        unconfirmed=("weights_bytes", "licence"),
    ),
)
