"""Arrays that results hold, which nobody may change. Free of torch."""

import numpy as np


def freeze_copy(values: np.ndarray) -> np.ndarray:
    """A copy that is not writeable and keeps nothing else in memory; any shape."""
    copy = values.copy()
    copy.setflags(write=False)
    return copy
