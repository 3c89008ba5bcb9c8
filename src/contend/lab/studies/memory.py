"""The memory that a plan's sorts need, predicted before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from contend.base.errors import UsageError
from contend.base.schema import PythonOnly, Share, Shown, Size, Spread, told
from contend.lab.measurement import NEAR, MemoryPrediction, VectorLength
from contend.lab.mpi import this_machine
from contend.lab.studies.measured_plan import MeasuredPlan


@dataclass(frozen=True)
class SortArray:
    """An array; a mean where blocks differ in length."""

    length: int | float
    """Number of doubles or of vectors, as the paper counts them."""
    bytes: int | float
    """Memory that it takes."""


@dataclass(frozen=True)
class PublishedTime:
    """A time that others published for the same run."""

    source: str
    """Name of who published it."""
    status: str
    """Word ``done``, or ``failed`` where the source has an error."""
    seconds: float | None
    """Seconds; null for an error."""


@dataclass(frozen=True, kw_only=True)
class SortMemory:
    """The memory of one sort."""

    length: str
    """Length of a vector as it was asked for, such as ``512N``."""
    sort: Spread[MemoryPrediction]
    """What it needs."""
    global_: SortArray
    """All vectors."""
    local: SortArray
    """Vectors of one rank."""
    block: SortArray
    """Vectors that one rank sends to another."""
    fit: str
    """Word ``fits``, ``near`` or ``exceeds``, against the memory of a host."""
    published: list[PublishedTime]
    """Times that others published for the same run."""


@dataclass(frozen=True, eq=False)
class PredictedMemory(Shown, told="memory_document"):
    """Predicted memory of a study of sorts.

    Numbers are exact integers, but for means where `divides` is false: those are floating-point.
    """

    study: str
    """Name of the plan."""
    lengths: PythonOnly[tuple[tuple[VectorLength, tuple[MemoryPrediction, ...]], ...]]
    """Lengths of vectors, each on several numbers of hosts."""
    host_memory_bytes: Size
    """Memory of a host."""
    near_from_share: Share = float(NEAR)
    """Share of it from which on arrays are near the memory of a host."""

    @told
    def predictions(self) -> list[SortMemory]:
        """One for each vector length and number of hosts."""
        return [
            SortMemory(
                length=str(length),
                sort=sort,
                global_=SortArray(sort.vectors, sort.global_bytes),
                local=SortArray(_number(sort.local_length), _number(sort.local_bytes)),
                block=SortArray(_number(sort.block_length), _number(sort.block_bytes)),
                fit=sort.fit(self.host_memory_bytes).name.lower(),
                published=[
                    PublishedTime(source, "done" if seconds else "failed", seconds)
                    for source, seconds in published(length, sort).items()
                ],
            )
            for length, sorts in self.lengths
            for sort in sorts
        ]


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


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
    # Kinds of plans bring frames along, which predicting needs not.
    from contend.lab.studies.plan_file import find_plan, read_plan

    plan = read_plan(find_plan("mistry2015"))
    assert isinstance(plan, MeasuredPlan)
    return plan
