"""The memory that a plan's sorts need, predicted before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from contend.errors import UsageError
from contend.measurement import MemoryPrediction, VectorLength
from contend.mpi import this_machine
from contend.shown import Shown
from contend.studies.measured_plan import MeasuredPlan
from contend.studies.plan_file import find_plan, read_plan


@dataclass(frozen=True, eq=False)
class PredictedMemory(Shown, told="memory_document"):
    """Memory that sorts need.

    Attributes:
        plan: name of the plan.
        lengths: lengths of vectors, each on several numbers of hosts.
        memory: bytes of a host.
    """

    plan: str
    lengths: tuple[tuple[VectorLength, tuple[MemoryPrediction, ...]], ...]
    memory: int


def predict_memory(plan: MeasuredPlan, options: Mapping[str, Any]) -> PredictedMemory:
    """The memory that a plan's sorts need.

    Args:
        plan: with all that options changed.
        options: that did; where they say nothing of lengths or memory, what `MeasuredPlan.predict`
            says of them counts.

    Raises:
        UsageError: the plan sorts nothing, or the memory of a host is not known.
    """
    sorts = [measure for measure in plan.measures if measure.probe == "sort"]
    if not sorts:
        raise UsageError(f"{plan.name}: --predict is for plans that sort")
    own = plan.predict
    memory = own.memory if own is not None and "memory" not in options else plan.memory
    if memory is None:
        memory = this_machine().memory
    if memory is None:
        raise UsageError("--memory: expected a size such as 24GiB, got none")
    shown = own.length if own is not None and "length" not in options else None
    lengths = []
    for measure in sorts:
        for each in measure.ranks_per_host:
            hosts = measure.hosts or tuple(dict.fromkeys(-(-r // each) for r in measure.ranks))
            for length in shown or measure.length:
                predictions = tuple(
                    MemoryPrediction(measure.vectors or 0, count, each, length.at(count))
                    for count in hosts
                )
                lengths.append((length, predictions))
    return PredictedMemory(plan.name, tuple(lengths), memory)


def published(length: VectorLength, prediction: MemoryPrediction) -> dict[str, float | None]:
    """Seconds that Mistry et al. 2015 published for a sort on the cluster tara, by source.

    None is an error there; a source that is missing published nothing for this run.
    """
    return {
        known.source: known.seconds
        for known in _mistry2015().known()
        if known.length == length
        and known.hosts == prediction.hosts
        and known.vectors == prediction.vectors
        and known.ranks_per_host == prediction.ranks_per_host
    }


@cache
def _mistry2015() -> MeasuredPlan:
    plan = read_plan(find_plan("mistry2015"))
    assert isinstance(plan, MeasuredPlan)
    return plan
