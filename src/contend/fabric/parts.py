"""Connected parts of networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def connected_parts(size: int, near: NDArray[Any], far: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the connected part of every node, shape [size], in the order of the least node.

    Args:
        size: nodes.
        near: one end of every edge, shape [edges].
        far: the other end.
    """
    least = np.arange(size)
    while True:
        joined = np.minimum(least[near], least[far])
        lower = least.copy()
        # The nodes themselves, and those that stood for their parts until now.
        for ends in (near, far, least[near], least[far]):
            np.minimum.at(lower, ends, joined)
        lower = lower[lower]
        if np.array_equal(lower, least):
            return np.unique(least, return_inverse=True)[1].reshape(-1).astype(np.int64)
        least = lower
