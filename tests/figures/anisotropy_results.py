"""A made-up measurement of anisotropy, whose numbers are known."""

import numpy as np

from explorer.analysis.anisotropy_metrics import METRICS
from explorer.analysis.anisotropy_results import Anisotropy, Protocol

BINS = 4


def protocol(**changes):
    given = {
        "corpus": "a corpus", "sentences": 20, "points": 300, "words": 90, "unit": "tokens", "specials": False,
        "least_uses": 5, "repeated_words": 12, "kept_words": 12, "kept_uses": 50, "random_points": 300, "seed": 0,
    }  # fmt: skip
    return Protocol(**given | changes)


def anisotropy(model="M & M", layers=3, **changes):
    """Layer n: mean cosine 0.1 n + 0.2, self-similarity 0.5; random pairs in the third bin, uses in the last."""
    metrics = {key: tuple(0.1 * layer for layer in range(layers)) for key in METRICS}
    metrics |= {"mean_cosine": tuple(0.1 * layer + 0.2 for layer in range(layers)), "self_similarity": (0.5,) * layers}
    isotropic = {key: 0.0 for key in METRICS} | {"mean_norm": None, "norm_spread": None, "effective_rank": 5.5}
    shares = np.zeros((2, layers, BINS))
    shares[0, :, 2], shares[1, :, 3] = 1, 1
    given = {
        "model": model, "cure": "none", "protocol": protocol(), "layers": tuple(range(layers)), "layer_count": layers,
        "dim": 6, "metrics": metrics, "isotropic": isotropic, "spectrum": np.full((layers, 6), 1 / 6),
        "edges": np.linspace(-1, 1, BINS + 1), "random_pairs": shares[0], "same_word": shares[1],
        "top_dimensions": np.tile(np.arange(2), (layers, 1)), "covariance": np.tile(np.eye(2), (layers, 1, 1)),
        "remarks": (),
    }  # fmt: skip
    return Anisotropy(**given | changes)
