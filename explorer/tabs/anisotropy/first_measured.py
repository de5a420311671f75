"""The finished example that the tab opens on: measured ahead, so that it is there before torch is.

`python -m explorer.tabs.first_view` measures it anew; do so when the shipped models, the sentences or the first example
change.
"""

import json
from base64 import b64decode, b64encode
from dataclasses import asdict

import numpy as np
from jaxtyping import Shaped

from explorer.analysis.anisotropy_results import Anisotropy, Protocol
from explorer.analysis.exporting import to_json
from explorer.analysis.frozen_arrays import freeze_copy
from explorer.models.registry import Registry
from explorer.settings import ASSETS
from explorer.tabs.anisotropy.cures import FIRST_CURES
from explorer.tabs.anisotropy.gallery import read_gallery
from explorer.tabs.anisotropy.material import Measured, read_corpus

FILE = ASSETS / "first_view" / "anisotropy.json"
ARRAYS = ("spectrum", "edges", "random_pairs", "same_word", "top_dimensions", "covariance")


def read_first_measured() -> tuple[Anisotropy, ...]:
    """What the tab opens on, of each of its models; then the first of them after FIRST_CURES."""
    return tuple(_unpack(stored) for stored in json.loads(FILE.read_text(encoding="utf-8")))


def compute_first_measured(registry: Registry) -> tuple[Anisotropy, ...]:
    """The same, from the models themselves."""
    start, measured = read_gallery()[0], Measured()
    options = {"unit": start.unit, "specials": start.specials}
    plain = [measured.anisotropy(registry, model, read_corpus(""), **options) for model in (start.model, *start.beside)]
    cured = measured.anisotropy(registry, start.model, read_corpus(""), FIRST_CURES, **options)
    return *(one for [one] in plain), *cured


def store(found: tuple[Anisotropy, ...]) -> list[dict[str, object]]:
    """Measurements as what JSON knows; arrays with seven digits."""
    return [
        to_json({**vars(one), "protocol": asdict(one.protocol)} | {key: _pack(getattr(one, key)) for key in ARRAYS})
        for one in found
    ]


def _pack(array: Shaped[np.ndarray, "..."]) -> dict[str, object]:
    packed = b64encode(array.astype("<i4" if array.dtype.kind == "i" else "<f4").tobytes()).decode("ascii")
    return {"shape": list(array.shape), "kind": array.dtype.kind, "numbers": packed}


def _unpack(stored: dict) -> Anisotropy:
    arrays = {key: _unpack_array(**stored[key]) for key in ARRAYS}
    tuples = {key: tuple(stored[key]) for key in ("layers", "remarks")}
    metrics = {key: tuple(values) for key, values in stored["metrics"].items()}
    return Anisotropy(**stored | arrays | tuples | {"metrics": metrics, "protocol": Protocol(**stored["protocol"])})


def _unpack_array(shape: list[int], kind: str, numbers: str) -> Shaped[np.ndarray, "..."]:
    flat = np.frombuffer(b64decode(numbers), dtype="<i4" if kind == "i" else "<f4")
    return freeze_copy(flat.astype(np.int64 if kind == "i" else np.float64).reshape(shape))
