"""A family from nothing that differs in its objective only: one corpus, vocabulary, size and time on one GPU."""

from explorer.models.card import Ability, Bundled, ModelCard
from explorer.models.catalogue.corpora import ALL_TEXT

HOW = (
    "Trained from nothing on {tokens_m:.1f} M tokens, in {minutes} minutes on one H100 that seven other trainings "
    "shared (by the run's log): a small model, to be compared with its siblings. "
    f"The text: {ALL_TEXT}. "
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
    tokens_m: float,
    score: str,
    minutes: str = "nine",
    generator: str = "",
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
        generator=generator,
        training=HOW.format(tokens_m=tokens_m, minutes=minutes, score=score),
    )


MINIS = (
    _mini(
        "GPT mini",
        "gpt-mini",
        "e1d52fdf6b20f6dbf1193ab0209596e6feece78dc3414c2d859bd01804aa9ae9",
        "gpt2",
        Ability.GENERATE,
        special="Four million weights from nothing, to say what comes next: it reads the left side only.",
        paper=(
            "Radford et al. 2018",
            "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
        ),
        parameters=3_898_368,
        weights_bytes=15_593_472,
        tokens_m=61.7,
        score="Held-out Wikipedia: 1.56 bits per byte (n = 65,024).",
    ),
    _mini(
        "BERT mini",
        "bert-mini",
        "6ecb31fe021c887963471e616d04e7bda4845bf7d4b41ad1e589b757a0331eff",
        "bert",
        Ability.FILL_BLANKS,
        special="As large as GPT mini, but it sees both sides, and says which token was masked.",
        paper=("Devlin et al. 2019", "https://arxiv.org/abs/1810.04805"),
        parameters=3_942_336,
        weights_bytes=15_769_344,
        tokens_m=63.3,
        score="Held-out Wikipedia, 15 % masked: 39.8 % right at once, 61.5 % among five (n = 9,579).",
    ),
    _mini(
        "ELMo mini",
        "elmo-mini",
        "f8aa04d67a4fbbf6b97785a22d665d7c5a8c9c15b851d649e22441673bc33c15",
        "elmo",
        Ability.PREDICT_BOTH_WAYS,
        special="As large as GPT mini, on the same text, but two LSTMs: one reads from the left, one from the right.",
        paper=("Peters et al. 2018", "https://arxiv.org/abs/1802.05365"),
        parameters=3_852_288,
        weights_bytes=15_409_152,
        tokens_m=45.3,
        score="Held-out Wikipedia: 1.79 bits per byte (n = 65,536).",
    ),
    _mini(
        "T5 mini",
        "t5-mini",
        "cd4707bb960712c223d41615dba331377c09e6f36bfa870b3425e26b72de0b5a",
        "t5",
        Ability.FILL_SPANS,
        special="As large as BERT mini, in two halves: one reads the text, one writes the words that are missing.",
        paper=("Raffel et al. 2020", "https://arxiv.org/abs/1910.10683"),
        parameters=4_279_872,
        weights_bytes=17_119_488,
        tokens_m=78.4,
        score="Held-out Wikipedia: 14.3 % of single missing words written exactly (n = 512).",
    ),
    _mini(
        "ELECTRA mini",
        "electra-mini",
        "33dcf5bc08cd1efc7e2e6c5d6da481b19fdd4c8288eb7707fe4f5285b7a5022d",
        "electra",
        Ability.DETECT_REPLACED,
        special="As large as BERT mini, but it says of every token whether another model put it there.",
        paper=("Clark et al. 2020", "https://arxiv.org/abs/2003.10555"),
        parameters=3_936_001,
        weights_bytes=15_744_004,
        tokens_m=30.3,
        minutes="eight",
        generator="BERT mini",
        score="Held-out Wikipedia, 15 % of the tokens shuffled: 75 % found, 12 % of the others accused (n = 64,512).",
    ),
)
