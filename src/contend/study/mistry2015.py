"""The parallel sort of Mistry et al. 2015 on the cluster tara: what was run, and what it took."""

from __future__ import annotations

from dataclasses import dataclass

from contend.measurement.sort_memory import MemoryPrediction, VectorLength

NUMBERS = 1_492_992
"""2 · (8 · 18 · 2 · 3)², which p² divides for all numbers of processes that were used."""

NODES = (1, 3, 9, 18, 36)
PROCESSES_PER_NODE = 8
LENGTHS = (VectorLength(512, False), VectorLength(512, True))
"""Constant global memory (table 2) and constant local memory (table 4)."""

NODE_MEMORY = 24 << 30


@dataclass(frozen=True)
class Published:
    """Wall clock times of the data exchange that one source gives for one vector length.

    Attributes:
        source: `paper` or `poster`.
        length: the vector length m.
        seconds: one for each of `NODES`; None is ERR, for the poster a memory error.
    """

    source: str
    length: VectorLength
    seconds: tuple[float | None, ...]


PUBLISHED = (
    Published("paper", VectorLength(512, False), (1.14, 0.57, 0.25, 0.15, 0.11)),
    Published("paper", VectorLength(512, True), (1.14, 1.64, 2.09, 2.28, 2.30)),
    Published("poster", VectorLength(512, True), (0.60, 1.64, 2.09, 2.28, 2.30)),
    Published("poster", VectorLength(800, True), (1.79, 3.05, 3.73, 5.01, 6.73)),
    Published("poster", VectorLength(810, True), (1.80, 2.83, 3.30, 5.54, None)),
    Published("poster", VectorLength(1024, True), (85.00, 170.62, None, None, None)),
)
"""Tables 3 and 5 of the paper, and the table of the authors' poster on the same study."""


def published(length: VectorLength, prediction: MemoryPrediction) -> dict[str, float | None]:
    """Seconds by source for a run that was published; None is ERR, a missing source is unknown."""
    same = (prediction.numbers, prediction.processes_per_node) == (NUMBERS, PROCESSES_PER_NODE)
    if not same or prediction.nodes not in NODES:
        return {}
    place = NODES.index(prediction.nodes)
    return {known.source: known.seconds[place] for known in PUBLISHED if known.length == length}
