"""Times that Mistry et al. 2015 published for the parallel sort on the cluster tara."""

from __future__ import annotations

from functools import cache

from contend.measurement import MemoryPrediction, VectorLength
from contend.study.measured.plan import MeasuredPlan
from contend.study.measured.read import read_measured
from contend.study.shipped import find_plan


@cache
def plan() -> MeasuredPlan:
    """The plan that comes with contend."""
    return read_measured(find_plan("mistry2015"))


def published(length: VectorLength, prediction: MemoryPrediction) -> dict[str, float | None]:
    """Seconds by source for a run that was published; None is ERR, a missing source is unknown."""
    return {
        known.source: known.seconds
        for known in plan().known()
        if known.doubles == str(length)
        and known.nodes == prediction.nodes
        and known.numbers == prediction.numbers
        and known.ranks_per_node == prediction.processes_per_node
    }
