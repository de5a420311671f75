"""ELMo with its softmax: two language models, one in each direction, that share words and predictions.

Source: Peters et al. 2018, section 3.1, https://arxiv.org/abs/1802.05365
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers import AutoModelForPreTraining, PreTrainedModel
from transformers.utils import ModelOutput

from explorer.models.elmo import ElmoConfig, ElmoModel


@dataclass
class ElmoPredictions(ModelOutput):
    """What ElmoForPreTraining returns.

    Attributes:
        forward_logits: Of each token, from those before it, [row, token, vocab].
        backward_logits: Of each token, from those behind it, [row, token, vocab].
        hidden_states: All layers from 0 (words without context) to the top, [row, token, dim].
    """

    forward_logits: Float[Tensor, "row token vocab"] | None = None
    backward_logits: Float[Tensor, "row token vocab"] | None = None
    hidden_states: tuple[Float[Tensor, "row token dim"], ...] | None = None


class ElmoForPreTraining(PreTrainedModel):
    """A biLM over the tokens of a vocabulary, which may share its table with the softmax.

    Args:
        config: With input="tokens" and marks around rows (bos_token_id, eos_token_id).
    """

    config: ElmoConfig
    config_class = ElmoConfig
    base_model_prefix = "elmo"
    main_input_name = "input_ids"
    _tied_weights_keys = {"softmax.weight": "elmo.words.weight"}

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        self.elmo = ElmoModel(config)
        self.softmax = nn.Linear(config.projection_dim, config.vocab_size)
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """The vectors of the vocabulary."""
        return self.elmo.get_input_embeddings()

    def get_output_embeddings(self) -> nn.Linear:
        """The softmax of both directions."""
        return self.softmax

    def _init_weights(self, module: nn.Module) -> None:
        self.elmo._init_weights(module) if hasattr(self, "elmo") else super()._init_weights(module)

    def directions(
        self, input_ids: Int[Tensor, "row token"], lengths: Int[Tensor, " row"]
    ) -> tuple[Float[Tensor, "row token half"], Float[Tensor, "row token half"]]:
        """What predicts each token from those before it, and from those behind it.

        Args:
            input_ids: Ids without marks of the sentence.
            lengths: Tokens in each row.
        """
        layers, _ = self.elmo.read(self.elmo.add_marks(input_ids, lengths), lengths + 2)
        forward, backward = layers[-1].chunk(2, dim=-1)
        return forward[:, :-2], backward[:, 2:]

    def forward(
        self,
        input_ids: Int[Tensor, "row token"],
        attention_mask: Int[Tensor, "row token"] | None = None,
    ) -> ElmoPredictions:
        """Predictions of every token by both directions.

        Args:
            input_ids: Ids without marks of the sentence.
            attention_mask: 1 = a token, 0 = nothing; the tokens of a row come first.
        """
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        forward, backward = self.directions(input_ids, mask.sum(dim=1))
        hidden_states = self.elmo(input_ids, mask).hidden_states
        return ElmoPredictions(self.softmax(forward), self.softmax(backward), hidden_states)


AutoModelForPreTraining.register(ElmoConfig, ElmoForPreTraining)
