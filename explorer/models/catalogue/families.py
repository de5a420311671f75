"""FAMILIES: the models as lectures group them, in teaching order."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.models.card import Ability, ModelCard
from explorer.models.catalogue.bert import BERT
from explorer.models.catalogue.elmo import ELMO
from explorer.models.catalogue.encoder_decoders import ENCODER_DECODERS
from explorer.models.catalogue.gpt import GPT
from explorer.models.catalogue.improved_bert import IMPROVED_BERT
from explorer.models.catalogue.sentences import SENTENCES


@dataclass(frozen=True)
class Family:
    """Models that a lecture treats together.

    Attributes:
        title: What they are called, and by which model they are known.
        words: What they have in common.
        cards: The published ones.
        ability: What brings any other model here, such as a small one that this project trained; None = nothing does.
    """

    title: str
    words: str
    cards: tuple[ModelCard, ...]
    ability: Ability | None = None

    @property
    def key(self) -> str:
        """A word for it: the first of the models by which it is known, "RoBERTa"."""
        return self.title.partition(": ")[2].partition(",")[0]


FAMILIES = (
    Family(
        "Two LSTMs: ELMo",
        "One reads from the left, one from the right; what they hold at a word is a feature for other models.",
        ELMO,
        Ability.PREDICT_BOTH_WAYS,
    ),
    Family(
        "Decoders: GPT",
        "A Transformer that sees only what stands before, and is trained to say which token comes next.",
        GPT,
        Ability.GENERATE,
    ),
    Family(
        "Encoders: BERT",
        "A Transformer that sees both sides, and is trained to say which token was masked.",
        BERT,
        Ability.FILL_BLANKS,
    ),
    Family(
        "After BERT: RoBERTa, ELECTRA, SpanBERT, XLM-R",
        "More text, fewer weights, or another task: replaced tokens, spans, any order, a hundred languages.",
        IMPROVED_BERT,
        Ability.DETECT_REPLACED,
    ),
    Family(
        "Encoder–decoders: T5, BART",
        "One Transformer reads a text with gaps, and another one writes what is missing.",
        ENCODER_DECODERS,
        Ability.FILL_SPANS,
    ),
    Family(
        "Sentence encoders: Sentence-BERT",
        "Encoders tuned so that sentences of like meaning get like vectors.",
        SENTENCES,
        Ability.EMBED_SENTENCES,
    ),
)
_OF_PUBLISHED = {card.name: family for family in FAMILIES for card in family.cards}
_ENCODERS = next(family for family in FAMILIES if family.ability is Ability.FILL_BLANKS)


def family_of(card: ModelCard) -> Family:
    """The family of any model, also of one that is not in the catalogue; without a head, it is an encoder."""
    by_ability = (family for family in FAMILIES if family.ability in card.abilities)
    return _OF_PUBLISHED.get(card.name) or next(by_ability, _ENCODERS)
