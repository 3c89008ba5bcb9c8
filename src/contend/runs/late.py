"""The rule of late samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LATE_SHARE = 0.05
LATE_SECONDS = 10e-6


def results(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Result of every sample: the latest end minus the earliest start.

    Args:
        start: instants [samples, ranks]; not-a-number for ranks that take no part.
        end: likewise.
    """
    latest: NDArray[np.float64] = np.fmax.reduce(end, axis=1)
    earliest: NDArray[np.float64] = np.fmin.reduce(start, axis=1)
    return latest - earliest


def late_samples(
    start: NDArray[np.float64], end: NDArray[np.float64], agreed: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether some rank of a sample started too late for the sample to count.

    Too late is more than 5 % of the result and more than 10 µs after the agreed instant.

    Args:
        start: instants [samples, ranks]; not-a-number for ranks that take no part.
        end: likewise.
        agreed: instants at which all were to start [samples].
    """
    behind: NDArray[np.float64] = np.fmax.reduce(start, axis=1) - agreed
    late: NDArray[np.bool_] = behind > np.maximum(LATE_SHARE * results(start, end), LATE_SECONDS)
    return late
