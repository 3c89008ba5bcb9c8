"""A pattern: which rank sends to which, round by round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError


@dataclass(frozen=True, eq=False)
class Pattern:
    """Rounds of simultaneous messages between ranks 0 .. ranks - 1.

    Attributes:
        name: the specification it was made from, such as ``bisect`` or ``shift:3``.
        core: the core's generator.
        scale: a figure is also reported multiplied by this, to take out what the pattern does to
            its own ends (``neighbour:k``: k); 1 for all others.
    """

    name: str
    core: _core.Pattern
    scale: float = 1.0

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.core.ranks

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self.core.rounds

    @property
    def random(self) -> bool:
        """Whether the messages differ from sample to sample."""
        return self.core.random

    def messages(
        self, number: int = 0, *, seed: int = 1, sample: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Source and target ranks of round `number`, as sample `sample` of `seed` draws it.

        Returns:
            Two arrays of shape [messages].

        Raises:
            UsageError: when there is no such round.
        """
        if not 0 <= number < self.rounds:
            raise UsageError(f"round 0 .. {self.rounds - 1} of {self.name}, got {number}")
        source, target, _ = self.core.messages(number, seed, sample)
        return source, target
