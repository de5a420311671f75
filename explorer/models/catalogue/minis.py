"""A family from nothing that differs in its objective only: one corpus, vocabulary, size and number of tokens."""

from explorer.models.card import Ability, Bundled, ModelCard

HOW = (
    "Trained from nothing on 16.0 M tokens of Wikipedia, novels, Wikinews and children's stories, in one to "
    "two and a half hours on one CPU core that did other work, too: a weak model, to be compared with its siblings. "
    "{score}"
)


def _mini(
    name: str,
    folder: str,
    delta_sha256: str,
    model_type: str,
    ability: Ability,
    special: str,
    paper: tuple[str, str],
    parameters: int,
    weights_bytes: int,
    score: str,
) -> ModelCard:
    return ModelCard(
        name=name,
        source=Bundled(folder, delta_sha256=delta_sha256),
        model_type=model_type,
        abilities=frozenset({ability, Ability.EMBED}),
        special=special,
        licence="Apache-2.0",
        paper=paper[0],
        paper_url=paper[1],
        parameters=parameters,
        weights_bytes=weights_bytes,
        training=HOW.format(score=score),
    )


MINIS = (
    _mini(
        "GPT mini",
        "gpt-mini",
        "2c558ab92835e44f437f9808a30ab04e470d47ccd6f1508ddda89879fdc187f0",
        "gpt2",
        Ability.GENERATE,
        special="Four million weights from nothing, to say what comes next: it reads the left side only.",
        paper=(
            "Radford et al. 2018",
            "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
        ),
        parameters=3_898_368,
        weights_bytes=15_593_472,
        score="Held-out Wikipedia: 1.76 bits per byte (n = 65,024).",
    ),
    _mini(
        "BERT mini",
        "bert-mini",
        "cef1323d7db6c9fbda822b7caac0395aa4b1c7cdb1b3441ce8bcf537ba872b16",
        "bert",
        Ability.FILL_BLANKS,
        special="As large as GPT mini, but it sees both sides, and says which token was masked.",
        paper=("Devlin et al. 2019", "https://arxiv.org/abs/1810.04805"),
        parameters=3_942_336,
        weights_bytes=15_769_344,
        score="Held-out Wikipedia, 15 % masked: 27.6 % right at once, 47.9 % among five (n = 9,579).",
    ),
    _mini(
        "ELMo mini",
        "elmo-mini",
        "bbea74a4f82b9b5c8653b26356346f3c93ef9fb6c31693aa0cace30f032877d5",
        "elmo",
        Ability.PREDICT_BOTH_WAYS,
        special="As large as GPT mini, on the same text, but two LSTMs: one reads from the left, one from the right.",
        paper=("Peters et al. 2018", "https://arxiv.org/abs/1802.05365"),
        parameters=3_852_288,
        weights_bytes=15_409_152,
        score="Held-out Wikipedia: 1.94 bits per byte (n = 65,536).",
    ),
)
