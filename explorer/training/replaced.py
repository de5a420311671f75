"""ELECTRA's objective: a generator fills the blanks, and the model says which tokens are not the text's own."""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional
from transformers import ElectraForMaskedLM, ElectraForPreTraining, PreTrainedTokenizerBase

from explorer.analysis.corruption.masking import BERT_CORRUPTION, MASK_SHARE
from explorer.analysis.corruption.sampling import sample
from explorer.training.evaluating import evaluating
from explorer.training.masker import Masker
from explorer.training.objective import Objective
from explorer.training.predictions import head_inputs, linear_cross_entropy

DETECTION_WEIGHT = 5.0  # the paper's 50 drowns, in shared layers, what they learn from the blanks


class ReplacedObjective(Objective):
    """Say of every token whether a generator put it there; the generator learns beside it, in the same layers.

    A discriminator with layers of its own learns from nothing but one bit a token, and in the tokens that a CPU can
    read stays at how often tokens are replaced; blanks that are filled in the same layers teach these what fits. The
    paper's generator sees [MASK] in every blank; here as BERT does in 80 of 100: where no blank shows its token, the
    layers stay far longer with how often words occur.

    Args:
        network: The discriminator, trained in place; what ships.
        tokenizer: Of the network.
        share: Chance of a position to be masked for the generator.
        seed: Of the weights of the generator's head.
        head_learning_rate: See Objective.

    Source: Clark et al. 2020, https://arxiv.org/abs/2003.10555; of one size and with all weights tied: section 3.2
    """

    def __init__(
        self,
        network: ElectraForPreTraining,
        tokenizer: PreTrainedTokenizerBase,
        *,
        share: float = MASK_SHARE,
        seed: int = 0,
        head_learning_rate: float | None = None,
    ) -> None:
        super().__init__(network, tokenizer, head_learning_rate=head_learning_rate)
        self.generator = new_generator(network, seed).to(network.device)
        self.trained = nn.ModuleDict({"network": network, "generator": self.generator})
        self._masker = Masker(tokenizer, share=share, corruption=BERT_CORRUPTION)

    def parameter_groups(self, learning_rate: float) -> list[dict]:
        """All that is trained, of both networks, each weight once."""
        groups = super().parameter_groups(learning_rate)
        shared = {id(weight) for group in groups for weight in group["params"]}
        own = [weight for weight in self.generator.parameters() if id(weight) not in shared]
        return [*groups, {"params": own, "lr": learning_rate, "weight_decay": 0.0}]

    def loss(
        self, ids: Int[Tensor, "row token"], share_done: float, generator: torch.Generator
    ) -> tuple[Tensor, float]:
        """The generator's cross-entropy and DETECTION_WEIGHT times the discriminator's; and the latter alone."""
        inputs, picked = self._masker.mask(ids, generator)
        device = self.network.device
        inputs, picked, ids = inputs.to(device), picked.to(device), ids.to(device)
        hidden = head_inputs(self.generator, self.generator.electra(inputs).last_hidden_state[picked])
        output = self.generator.get_output_embeddings()
        of_generator = linear_cross_entropy(hidden, output.weight, output.bias, ids[picked])
        with torch.no_grad():
            written = sample(functional.linear(hidden, output.weight, output.bias), generator)
        corrupted = ids.clone()
        corrupted[picked] = written
        logits = self.network(corrupted).logits.float()
        of_tokens = functional.binary_cross_entropy_with_logits(logits, (corrupted != ids).float())
        return of_generator + DETECTION_WEIGHT * of_tokens, of_tokens.item()


def new_generator(network: ElectraForPreTraining, seed: int) -> ElectraForMaskedLM:
    """The discriminator's own layers and embeddings under a head that fills blanks, random at first."""
    torch.manual_seed(seed)
    generator = ElectraForMaskedLM(network.config)
    generator.electra = network.electra
    generator.tie_weights()
    return generator


@dataclass(frozen=True)
class ReplacedReport:
    """How well a discriminator tells random words from a text's own.

    Attributes:
        length_tokens: Of each row, special tokens included.
        tokens: How many tokens were judged, special ones not counted.
        loss_nats: Mean cross-entropy per token.
        found: Share of the replaced tokens that were found, in [0, 1].
        accused: Share of the others that were taken for replaced.
    """

    length_tokens: int
    tokens: int
    loss_nats: float
    found: float
    accused: float


@torch.inference_mode()
def measure_replaced(
    network: ElectraForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    rows: Int[Tensor, "row token"],
    *,
    seed: int = 0,
    batch_rows: int = 64,
) -> ReplacedReport:
    """Put other tokens of the rows in the place of 15 %, and ask the model which.

    Tokens of the same text, not a generator's: so that the numbers of two models can be compared.

    Args:
        network: The discriminator.
        tokenizer: Of the network.
        rows: Held-out windows, special tokens included.
        seed: Of the choice of tokens.
        batch_rows: Rows per forward pass.
    """
    generator = torch.Generator().manual_seed(seed)
    masker = Masker(tokenizer)
    _, picked = masker.mask(rows, generator)
    others = rows[picked]
    corrupted = rows.clone()
    corrupted[picked] = others[torch.randperm(len(others), generator=generator)]
    replaced, counted = corrupted != rows, ~masker.is_special[rows]
    with evaluating(network):
        parts = [network(part.to(network.device)).logits.float().cpu() for part in corrupted.split(batch_rows)]
    logits = torch.cat(parts)
    loss = functional.binary_cross_entropy_with_logits(logits[counted], replaced[counted].float()).item()
    said = logits > 0
    found, accused = (said[which & counted].double().mean().item() for which in (replaced, ~replaced))
    return ReplacedReport(rows.shape[1], int(counted.sum()), loss, found, accused)
