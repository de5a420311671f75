"""GPT and GPT-2: transformers that read from left to right and predict the next token."""

from explorer.models.card import Ability, HubRepository, ModelCard

GPT_2_PAPER = "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf"

GPT = (
    ModelCard(
        name="GPT",
        source=HubRepository(id="openai-community/openai-gpt", revision="1e0d4f3028acbffb47fe933cea64619c5ec1a002"),
        model_type="openai-gpt",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="The first GPT: a left-to-right transformer, pre-trained on novels and then fine-tuned for any task.",
        licence="MIT",
        paper="Radford et al. 2018",
        paper_url="https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
        parameters=116_534_784,
        weights_format="bin",
        unconfirmed=("weights_bytes", "weights_format", "licence"),
    ),
    ModelCard(
        name="GPT-2",
        source=HubRepository(id="openai-community/gpt2", revision="607a30d783dfa663caf39e06633721c8d4cfcd7e"),
        model_type="gpt2",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="Trained on 40 GB of web pages that people had linked to, it does tasks that nobody trained it for.",
        licence="MIT",
        paper="Radford et al. 2019",
        paper_url=GPT_2_PAPER,
        parameters=124_439_808,
        unconfirmed=("weights_bytes", "licence"),
    ),
    ModelCard(
        name="GPT-2 medium",
        source=HubRepository(id="openai-community/gpt2-medium", revision="6dcaa7a952f72f9298047fd5137cd6e4f05f41da"),
        model_type="gpt2",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="The same recipe as GPT-2, twice as deep: compare the two to see what size alone buys.",
        licence="MIT",
        paper="Radford et al. 2019",
        paper_url=GPT_2_PAPER,
        parameters=354_823_168,
        weights_bytes=1_519_984_962,
        weights_sha256="fc5a354a19255ad494f3d71549390baca1ccf61d1d822b9408971705c687c9cd",
        unconfirmed=("licence",),
    ),
    ModelCard(
        name="DistilGPT2",
        source=HubRepository(id="distilbert/distilgpt2", revision="2290a62682d06624634c1f46a6ad5be0f47f38aa"),
        model_type="gpt2",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="A student with half of GPT-2's layers, trained to give GPT-2's probabilities, not just the next word.",
        licence="Apache-2.0",
        paper="Sanh et al. 2019",
        paper_url="https://arxiv.org/abs/1910.01108",
        parameters=81_912_576,
        weights_bytes=352_824_413,
        weights_sha256="e1ff18884359fe8beb795a5f414feb85a6ce3d929ad019c0d958c039d2b94a1b",
    ),
)
