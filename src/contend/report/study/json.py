"""Studies as JSON: the keys that scripts rely on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from contend.congestion import SampleMean
from contend.measurement import Agreement
from contend.report.pairs import AgreementJson, agreement_keys
from contend.report.study.simulated import ImpactJson, impacts, references_of, scaled
from contend.study import (
    Case,
    GridCell,
    MeasuredPlan,
    MeasuredRecord,
    Outcome,
    Plan,
    Record,
    Result,
)


class DifferenceJson(msgspec.Struct, frozen=True, kw_only=True):
    """A number known from elsewhere, beside ours.

    Attributes:
        source: who published it.
        average: which of our averages it is compared with.
        value: the published number, as a fraction of the link speed.
        difference: ours, multiplied by the cell's scale, minus theirs.
    """

    source: str
    average: str
    value: float
    difference: float


class StudyCellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a study of simulations; of one that failed there are the first five keys.

    Attributes:
        fabric: name of the fabric.
        engine: what computed its routes; "" is its own.
        pattern: the traffic pattern.
        status: ``done`` or ``failed``.
        cause: why it failed.
        samples: number of patterns that were drawn.
        seed: of every random choice.
        rated_bisection: capacity of the narrowest cut found between halves of the hosts that take
            part, as a fraction of full bisection.
        scale: what averages may be multiplied by to leave out the pattern's own end points.
        averages: bandwidths by name, as fractions of the link speed.
        references: numbers known from elsewhere.
        elapsed_s: seconds that the simulation took.
    """

    fabric: str
    engine: str
    pattern: str
    status: str
    cause: str | UnsetType = UNSET
    samples: int | UnsetType = UNSET
    seed: int | UnsetType = UNSET
    rated_bisection: float | UnsetType | None = UNSET
    scale: float | UnsetType = UNSET
    averages: dict[str, SampleMean] | UnsetType = UNSET
    references: list[DifferenceJson] | UnsetType = UNSET
    elapsed_s: float | UnsetType = UNSET


class StudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of simulations.

    Attributes:
        study: name of the plan.
        run: folder of the study.
        average: the average that the plan compares.
        notes: what a reader must know, as the plan says it.
        cells: one for each fabric, engine and pattern.
        applications: what full bandwidth would leave of applications' run times; there if the plan
            has applications.
    """

    study: str
    run: str
    average: str
    notes: list[str]
    cells: list[StudyCellJson]
    applications: list[ImpactJson] | UnsetType = UNSET


class PublishedJson(msgspec.Struct, frozen=True, kw_only=True):
    """What others published for the same point.

    Attributes:
        source: who published it.
        said: what the source calls the algorithm or the case.
        conditions: under which it was measured.
        status: ``done``, or ``failed`` where the source has an error.
        seconds: the time; null for a rate.
        rate_Bps_per_rank: bytes per second of a rank; null for a time without a size.
    """

    source: str
    said: str
    conditions: str
    status: str
    seconds: float | None
    rate_Bps_per_rank: float | None  # noqa: N815


class PointJson(msgspec.Struct, frozen=True, kw_only=True):
    """A point of the grid over all its launches; null is what does not apply to it.

    Attributes:
        measure: name of the measurement in the plan.
        nodes: number of nodes.
        ranks: number of ranks.
        ranks_per_node: ranks on every node.
        numbers: number of vectors that were sorted.
        doubles: length of a vector, as the plan has it.
        algorithm: the schedule.
        bytes: to each other rank.
        library: the MPI library as it calls itself.
        conditions: what programs cannot see, as it was given.
        input: kind of input of a sort.
        seats: where the ranks were.
        launches: number of launches.
        status: ``done`` or ``failed``.
        cause: why it failed, as a word.
        said: why it failed.
        n: number of timed samples.
        late: number of samples in which a rank started late.
        median_s: median in seconds.
        ci95_s: both ends of its 95 % interval.
        rate_Bps_per_rank: bytes per second that a rank sends, at the median.
        published: what others published for the same point.
    """

    measure: str
    nodes: int | None
    ranks: int | None
    ranks_per_node: int | None
    numbers: int | None
    doubles: str | None
    algorithm: str | None
    bytes: int | None
    library: str
    conditions: str
    input: str | None
    seats: str
    launches: int
    status: str
    cause: str | None
    said: str
    n: int
    late: int
    median_s: float | None
    ci95_s: tuple[float, float] | None
    rate_Bps_per_rank: float | None  # noqa: N815
    published: list[PublishedJson]


class MeasuredStudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of measurements.

    Attributes:
        study: name of the plan.
        run: folder of the study.
        notes: what a reader must know, as the plan says it.
        points: results over all launches.
        cells: the cells as the study keeps them.
        left: cells that no time was left for.
        warnings: what a reader must know.
    """

    study: str
    run: str
    notes: list[str]
    points: list[PointJson]
    cells: list[Any]
    left: list[str]
    warnings: list[str]


class VerifiedFabricJson(AgreementJson, frozen=True, kw_only=True):
    """A fabric whose measured bandwidths were compared with the simulation's.

    Attributes:
        fabric: its name in the study.
        source: what describes it.
        engine: what computed its routes; null is its own.
        rate_Bps: bytes per second of an emulated cable.
    """

    fabric: str
    source: str
    engine: str | None
    rate_Bps: float  # noqa: N815


class VerificationJson(msgspec.Struct, frozen=True, kw_only=True):
    """The study ``verification``.

    Attributes:
        study: always ``verification``.
        seed: of every random choice.
        results: one for each fabric.
    """

    study: str = "verification"
    seed: int
    results: list[VerifiedFabricJson]


def study_json(plan: Plan, outcomes: Sequence[Outcome], run: str) -> StudyJson:
    """The result of ``contend study --json`` for a plan of simulations.

    Args:
        plan: what was asked for.
        outcomes: the cells that have ended.
        run: folder of the study.
    """
    return StudyJson(
        study=plan.name,
        run=run,
        average=plan.average,
        notes=list(plan.notes),
        cells=[_cell(plan, outcome.record) for outcome in outcomes],
        applications=list(impacts(plan, [outcome.record for outcome in outcomes])) or UNSET,
    )


def measured_json(
    plan: MeasuredPlan,
    records: Sequence[MeasuredRecord],
    results: Sequence[Result],
    left: Sequence[GridCell],
    run: str,
) -> MeasuredStudyJson:
    """The result of ``contend study --json`` for a plan of measurements.

    Args:
        plan: what was measured.
        records: cells that have ended, one for each launch.
        results: points over all launches.
        left: cells that no time was left for.
        run: folder of the study.
    """
    warnings = dict.fromkeys(warning for record in records for warning in record.warnings)
    return MeasuredStudyJson(
        study=plan.name,
        run=run,
        notes=list(plan.notes),
        points=[_point(plan, result) for result in results],
        cells=list(records),
        left=[cell.label for cell in left],
        warnings=list(warnings),
    )


def verification_json(seed: int, results: Sequence[VerifiedFabricJson]) -> VerificationJson:
    """The result of ``contend study verification --json``."""
    return VerificationJson(seed=seed, results=list(results))


def verified_json(case: Case, agreement: Agreement, rate: float) -> VerifiedFabricJson:
    """A fabric of the study ``verification``.

    Args:
        case: which fabric.
        agreement: of its measured and predicted bandwidths.
        rate: bytes per second of a cable.
    """
    return VerifiedFabricJson(
        fabric=case.name,
        source=case.source,
        engine=case.engine,
        rate_Bps=rate,
        **agreement_keys(agreement),
    )


def _cell(plan: Plan, record: Record) -> StudyCellJson:
    names = {name: getattr(record, name) for name in ("fabric", "engine", "pattern", "status")}
    if record.status == "failed":
        return StudyCellJson(**names, cause=record.cause)
    return StudyCellJson(
        **names,
        samples=record.simulation["samples"],
        seed=record.simulation["seed"],
        rated_bisection=record.rated_bisection,
        scale=record.scale,
        averages=record.averages,
        references=list(_differences(plan, record)),
        elapsed_s=record.simulation["elapsed_s"],
    )


def _differences(plan: Plan, record: Record) -> Iterator[DifferenceJson]:
    for reference in references_of(plan, record):
        average = reference.average or plan.average
        if (ours := scaled(record, average)) is not None:
            theirs = reference.percent / 100
            yield DifferenceJson(
                source=reference.source,
                average=average,
                value=theirs,
                difference=ours.mean - theirs,
            )


def _point(plan: MeasuredPlan, result: Result) -> PointJson:
    failure, summary = result.failure, result.summary
    return PointJson(
        **{name: getattr(result.place, name) for name in _GRID},
        **{name: getattr(result.series, name) for name in ("library", "conditions", "input")},
        seats=result.seats,
        launches=len(result.points),
        status="failed" if result.median_s is None else "done",
        cause=None if failure is None else failure.cause,
        said="" if failure is None else failure.said,
        n=0 if summary is None else summary.n,
        late=0 if summary is None else summary.late,
        median_s=result.median_s,
        ci95_s=result.interval_s,
        rate_Bps_per_rank=result.rate,
        published=[
            PublishedJson(
                source=known.source,
                said=known.said,
                conditions=known.conditions,
                status="failed" if known.failed else "done",
                seconds=known.seconds,
                rate_Bps_per_rank=known.rate_of(result.place.ranks),
            )
            for known in plan.known()
            if known.placed and known.beside(result.place)
        ],
    )


_GRID = (
    *("measure", "nodes", "ranks", "ranks_per_node"),
    *("numbers", "doubles", "algorithm", "bytes"),
)
