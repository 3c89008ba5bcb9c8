"""Graphs taken apart by METIS."""

from __future__ import annotations

import signal

import numpy as np
from numpy.typing import NDArray


def metis_parts(
    count: int,
    start: NDArray[np.int64],
    head: NDArray[np.int64],
    *,
    weight: NDArray[np.int64],
    edge_weight: NDArray[np.int64],
    seed: int = 0,
) -> NDArray[np.int64]:
    """Which part METIS puts every node in: as heavy ones, with little between them.

    Args:
        count: of parts.
        start: where the neighbours of each node begin in `head`, shape [nodes + 1].
        head: the neighbours.
        weight: of the nodes.
        edge_weight: of what leads to the neighbours.
        seed: of its choices.

    Returns:
        Shape [nodes].
    """
    import pymetis

    try:
        _, part = pymetis.part_graph(
            count,
            pymetis.CSRAdjacency(start, head),
            vweights=weight,
            eweights=edge_weight,
            options=pymetis.Options(seed=seed),
        )
    except RuntimeError:
        # At work METIS catches SIGTERM itself, and leaves it blocked when it gives up.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        signal.raise_signal(signal.SIGTERM)
        raise
    return np.asarray(part, dtype=np.int64)
