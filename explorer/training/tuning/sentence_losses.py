"""What sentence vectors are trained by, so that like meanings get like vectors."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

MARGIN = 1.0  # of unit vectors' distances, which lie in [0, 2]
SHARPNESS = 20.0  # what cosines are multiplied with before the softmax


def triplet_loss(
    anchors: Float[Tensor, "row dim"], positives: Float[Tensor, "row dim"], negatives: Float[Tensor, "row dim"]
) -> Float[Tensor, " row"]:
    """How much less than a margin the negative is farther off than the positive, of each row.

    Sentence-BERT takes vectors as they are; here they are brought to length 1 first, so that the margin asks the same
    of every model.

    Args:
        anchors: Vectors of the sentences that the others are compared with.
        positives: Of those that mean the same.
        negatives: Of those that do not.

    Source: Reimers and Gurevych 2019, section 3, https://arxiv.org/abs/1908.10084
    """
    return functional.triplet_margin_loss(
        *(functional.normalize(side, dim=-1) for side in (anchors, positives, negatives)),
        margin=MARGIN,
        reduction="none",
    )


def cosine_loss(
    first: Float[Tensor, "row dim"], second: Float[Tensor, "row dim"], scores: Float[Tensor, " row"]
) -> Float[Tensor, " row"]:
    """Squared difference of the cosine and what people said, of each row.

    Args:
        first: Vectors of the one sentence.
        second: Of the other.
        scores: In [0, 1].

    Source: Reimers and Gurevych 2019, section 3, https://arxiv.org/abs/1908.10084
    """
    return (functional.cosine_similarity(first, second, dim=-1) - scores).square()


def in_batch_loss(
    anchors: Float[Tensor, "row dim"], positives: Float[Tensor, "row dim"], negatives: Float[Tensor, "row dim"]
) -> Float[Tensor, " row"]:
    """Cross-entropy of finding each row's positive among all positives and negatives of the batch.

    Args:
        anchors: As of triplet_loss.
        positives: Likewise.
        negatives: Likewise.

    Source: Henderson et al. 2017, section 4.4, https://arxiv.org/abs/1705.00652
    """
    unit = functional.normalize(anchors, dim=-1)
    candidates = functional.normalize(torch.cat([positives, negatives]), dim=-1)
    return functional.cross_entropy(
        SHARPNESS * unit @ candidates.T, torch.arange(len(anchors), device=anchors.device), reduction="none"
    )
