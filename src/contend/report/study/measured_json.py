"""What a measured study has as JSON."""

from __future__ import annotations

import msgspec
import numpy as np

from contend.runs import median_interval
from contend.studies import (
    Answer,
    EndedStudy,
    MeasuredPlan,
    Result,
)


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
    rate_Bps_per_rank: float | None


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
    rate_Bps_per_rank: float | None
    published: list[PublishedJson]


class CauseJson(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no figure.

    Attributes:
        cause: in one word.
        said: in one line.
    """

    cause: str
    said: str


class LaunchPointJson(msgspec.Struct, frozen=True, kw_only=True):
    """A point in one launch; null is what is not known or does not apply.

    Attributes:
        algorithm: the schedule.
        bytes: to each other rank.
        failure: why it has no figures.
        samples: how many count: neither warm-up nor late.
        late: samples that did not count because a rank started late.
        median_s: median in seconds.
        low_s: lower end of its 95 % interval.
        high_s: upper end.
        p99_s: seconds within which 99 % of the samples are.
        max_s: the longest.
        rate_Bps: bytes per second that a rank sends, at the median.
        verified: whether the data was right.
        ended: why sampling ended.
        steps_s: medians of the parts of a sample by name, over all launches.
        step_shares: medians of these parts' shares of their samples.
    """

    algorithm: str | None
    bytes: int | None
    failure: CauseJson | None = None
    samples: int = 0
    late: int = 0
    median_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    p99_s: float | None = None
    max_s: float | None = None
    rate_Bps: float | None = None
    verified: bool | None = None
    ended: str = ""
    steps_s: dict[str, float] = {}
    step_shares: dict[str, float] = {}


class GridCellJson(msgspec.Struct, frozen=True, kw_only=True):
    """What a launch of a cell was asked; null is what does not apply.

    Attributes:
        measure: name of the measurement in the plan.
        probe: which program.
        library: the MPI library as it was asked for.
        nodes: number of nodes.
        ranks_per_node: ranks on every node.
        ranks: number of ranks.
        launch: number of the launch, from 1.
        conditions: what programs cannot see.
        algorithms: schedules.
        sizes: bytes to each other rank.
        numbers: number of vectors that were sorted.
        doubles: length of a vector, as the plan has it.
        vector: doubles in a vector.
        input: kind of input of a sort.
    """

    measure: str
    probe: str
    library: str
    nodes: int
    ranks_per_node: int
    ranks: int
    launch: int
    conditions: str
    algorithms: tuple[str, ...]
    sizes: tuple[int, ...]
    numbers: int | None
    doubles: str | None
    vector: int | None
    input: str | None


class TermsJson(msgspec.Struct, frozen=True, kw_only=True):
    """How all cells of a study are measured.

    Attributes:
        on: where.
        precision: relative half-width of the median's interval at which a point is done.
        repetitions: fewest and most samples of a point.
        verify: whether every sample's data was checked.
        seed: of every random choice.
    """

    on: str
    precision: float
    repetitions: tuple[int, int]
    verify: bool
    seed: int


class StudyLaunchJson(msgspec.Struct, frozen=True, kw_only=True):
    """A launch of a cell that has ended.

    Attributes:
        cell: what was asked for.
        terms: how.
        seats: where its ranks were.
        points: what came out.
        one_host: whether its nodes were groups of ranks on one host.
        host_bytes: what the data on a host needs at most, as it was predicted.
        memory: bytes of a host that it was compared with; null where they are not known.
        library: the MPI library as it calls itself.
        warnings: what a reader must know.
        runs: its run folder, below that of the study.
        budget_s: seconds that the study had.
        elapsed_s: seconds that the launch took.
    """

    cell: GridCellJson
    terms: TermsJson
    seats: str
    points: list[LaunchPointJson]
    one_host: bool
    host_bytes: int
    memory: int | None
    library: str
    warnings: tuple[str, ...]
    runs: list[str]
    budget_s: float
    elapsed_s: float


class MeasuredStudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of measurements.

    Attributes:
        verdict: what it comes to, in words.
        study: name of the plan.
        run: folder of the study.
        notes: what a reader must know, as the plan says it.
        points: results over all launches.
        cells: every launch that has ended.
        left: cells that no time was left for.
        warnings: what a reader must know.
    """

    verdict: str = ""
    study: str
    run: str
    notes: list[str]
    points: list[PointJson]
    cells: list[StudyLaunchJson]
    left: list[str]
    warnings: list[str]


def measured_json(plan: MeasuredPlan, ended: EndedStudy, on: str, run: str) -> MeasuredStudyJson:
    """The result of ``contend study --json`` for a plan of measurements.

    Args:
        plan: what was measured.
        ended: what came of it.
        on: where it was measured.
        run: folder of the study.
    """
    terms = TermsJson(
        on=on,
        precision=plan.precision,
        repetitions=plan.repetitions,
        verify=plan.verify,
        seed=plan.seed,
    )
    warnings = dict.fromkeys(text for answer in ended.answers for text in answer.warnings)
    return MeasuredStudyJson(
        study=plan.name,
        run=run,
        notes=list(plan.notes),
        points=[_point(plan, result) for result in ended.results],
        cells=[
            _launch(plan, terms, answer, index)
            for answer in ended.answers
            for index in range(len(answer.launches))
        ],
        left=list(ended.left),
        warnings=list(warnings),
    )


def _launch(plan: MeasuredPlan, terms: TermsJson, answer: Answer, index: int) -> StudyLaunchJson:
    cell, run, launch = answer.cell, answer.points.run, answer.launches[index]
    first = answer.results[0]
    return StudyLaunchJson(
        cell=GridCellJson(
            measure=cell.measure,
            probe=cell.probe,
            library=cell.library,
            nodes=cell.hosts,
            ranks_per_node=cell.ranks_per_host,
            ranks=cell.ranks,
            launch=launch + 1,
            conditions=cell.conditions,
            algorithms=cell.algorithms,
            sizes=cell.sizes,
            numbers=cell.vectors,
            doubles=None if cell.length is None else str(cell.length),
            vector=cell.vector,
            input=cell.input,
        ),
        terms=terms,
        seats=first.seats,
        points=[_launch_point(answer, result, index) for result in answer.results],
        one_host=first.one_host,
        host_bytes=answer.host_bytes,
        memory=answer.memory,
        library=run.record.library.title,
        warnings=answer.warnings,
        # Its folder is below that of the study, in the one of all runs.
        runs=["/".join(run.folder.parts[-2:])],
        budget_s=plan.budget_s,
        elapsed_s=answer.points.elapsed_s(launch),
    )


def _launch_point(answer: Answer, result: Result, index: int) -> LaunchPointJson:
    launch, name = answer.launches[index], (result.place.algorithm, result.place.bytes)
    failure, summary, end = result.failures[index], result.summary, answer.points.end(name, launch)
    told = LaunchPointJson(
        algorithm=name[0],
        bytes=name[1],
        failure=None if failure is None else CauseJson(cause=failure.cause, said=failure.reason),
        verified=None if end is None else end.verified,
        ended="" if end is None else end.reason,
    )
    if failure is not None or summary is None:
        return told
    times, parts = summary.by_launch[launch], result.parts
    median = median_interval(times)
    sent = summary.sent
    return msgspec.structs.replace(
        told,
        samples=len(times),
        late=answer.points.late.get((name, launch), 0),
        median_s=median.value,
        low_s=median.low,
        high_s=median.high,
        p99_s=float(np.quantile(times, 0.99)),
        max_s=float(times.max()),
        rate_Bps=sent / median.value if sent and median.value > 0 else None,
        steps_s={} if parts is None else _spaced(parts.seconds),
        step_shares={} if parts is None else _spaced(parts.shares),
    )


def _spaced(values: dict[str, float]) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in values.items()}


def _point(plan: MeasuredPlan, result: Result) -> PointJson:
    failure, summary, place = result.failure, result.summary, result.place
    return PointJson(
        measure=place.measure,
        nodes=place.hosts,
        ranks=place.ranks,
        ranks_per_node=place.ranks_per_host,
        numbers=place.vectors,
        doubles=None if place.length is None else str(place.length),
        algorithm=place.algorithm,
        bytes=place.bytes,
        library=result.library,
        conditions=result.cell.conditions,
        input=result.cell.input,
        seats=result.seats,
        launches=len(result.failures),
        status="failed" if result.median_s is None else "done",
        cause=None if failure is None else failure.cause,
        said="" if failure is None else failure.reason,
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
                rate_Bps_per_rank=known.rate_of(place.ranks),
            )
            for known in plan.known()
            if known.placed and known.beside(place)
        ],
    )
