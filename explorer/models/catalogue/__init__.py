"""CATALOGUE: the models on offer, in teaching order. To add one, add a card to the file of its family.

Revisions, sizes and checksums are those that public files record. What none confirms is named in `unconfirmed`
and settled when the model is first downloaded and loaded; it is never guessed.
"""

from explorer.models.card import ModelCard
from explorer.models.catalogue.bert import BERT
from explorer.models.catalogue.elmo import ELMO
from explorer.models.catalogue.encoder_decoders import ENCODER_DECODERS
from explorer.models.catalogue.gpt import GPT
from explorer.models.catalogue.improved_bert import IMPROVED_BERT
from explorer.models.catalogue.minis import MINIS
from explorer.models.catalogue.offline import OFFLINE
from explorer.models.catalogue.sentences import SENTENCES
from explorer.models.catalogue.small import SMALL

CATALOGUE: tuple[ModelCard, ...] = (
    *OFFLINE,  # on every machine, without a network
    *MINIS,
    *ELMO,
    *GPT,
    *BERT,
    *IMPROVED_BERT,
    *ENCODER_DECODERS,
    *SENTENCES,
    *SMALL,
)

DEFAULT_MODEL = CATALOGUE[0].name  # answers where nobody names one: on the page, in the shell, over HTTP
SPAN_MODEL = "MiniLM (span)"  # the same for spans
CAUSAL_MODEL = "MiniLM (causal)"  # the same where one is to write
VECTOR_MODEL = "all-MiniLM-L6-v2"  # the same for vectors of words
