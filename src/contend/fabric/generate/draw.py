"""Random choices of the generators, the same on every machine and with every numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from contend.fabric.generate.plan import Indices


class Draw:
    """A counter-based source of random orders and numbers.

    It takes the raw words of Philox, which are fixed, and not the methods of numpy's Generator,
    whose streams may change between versions.
    """

    def __init__(self, seed: int) -> None:
        self._words = np.random.Philox(seed)

    def order(self, count: int) -> Indices:
        """A random permutation of 0 .. count - 1."""
        return np.argsort(self._raw(count), kind="stable")

    def below(self, bound: int, count: int) -> Indices:
        """Numbers from 0 .. bound - 1; the bias of the remainder is below bound / 2^64."""
        return (self._raw(count) % np.uint64(bound)).astype(np.int64)

    def _raw(self, count: int) -> NDArray[np.uint64]:
        words: NDArray[np.uint64] = self._words.random_raw(count)
        return words
