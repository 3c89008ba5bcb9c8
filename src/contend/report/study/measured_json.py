"""What a measured study has as JSON."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np

from contend.report.document import filled
from contend.runs import PointError, median_interval
from contend.studies import Answer, MeasuredStudy, Result


class PublishedJson(msgspec.Struct, frozen=True, kw_only=True):
    """What others published for the same point."""

    source: Annotated[str, "who published it."]
    said: Annotated[str, "what the source calls the algorithm or the case."]
    conditions: Annotated[str, "under which it was measured."]
    status: Annotated[str, "``done``, or ``failed`` where the source has an error."]
    seconds: Annotated[float | None, "the time; null for a rate."]
    rate_Bps_per_rank: Annotated[
        float | None, "bytes per second of a rank; null for a time without a size."
    ]


class FiguresJson(msgspec.Struct, frozen=True, kw_only=True):
    """What samples come to, or why there are none."""

    status: Annotated[str, "``done`` or ``failed``."]
    cause: Annotated[str | None, "why it failed, as a word."] = None
    said: Annotated[str, "why it failed."] = ""
    n: Annotated[int, "number of timed samples that count: neither warm-up nor late."] = 0
    late: Annotated[int, "number of samples in which a rank started late."] = 0
    median_s: Annotated[float | None, "median in seconds."] = None
    ci95_s: Annotated[
        tuple[float, float] | None,
        "both ends of its 95 % interval; null where there are too few samples for one.",
    ] = None
    rate_Bps_per_rank: Annotated[
        float | None, "bytes per second that a rank sends, at the median."
    ] = None


class LaunchJson(FiguresJson, frozen=True, kw_only=True):
    """A point in one launch; null is what is not known or does not apply."""

    launch: Annotated[int, "its number, from 1."]
    p99_s: Annotated[float | None, "seconds within which 99 % of the samples are."] = None
    max_s: Annotated[float | None, "the longest."] = None
    verified: Annotated[bool | None, "whether the data was right."] = None
    ended: Annotated[str, "why sampling ended."] = ""


class PointJson(FiguresJson, frozen=True, kw_only=True):
    """A point of the grid over all its launches; null is what does not apply to it."""

    cell: Annotated[int, "its number in ``cells``, from 0."]
    measure: Annotated[str, "name of the measurement in the plan."]
    hosts: Annotated[int | None, "number of hosts."]
    ranks: Annotated[int | None, "number of ranks."]
    ranks_per_host: Annotated[int | None, "ranks on every host."]
    vectors: Annotated[int | None, "number of vectors that were sorted."]
    length: Annotated[str | None, "of a vector, as the plan has it."]
    algorithm: Annotated[str | None, "the schedule."]
    bytes: Annotated[int | None, "to each other rank."]
    library: Annotated[str, "the MPI library as it calls itself."]
    conditions: Annotated[str, "what programs cannot see, as it was given."]
    input: Annotated[str | None, "kind of input of a sort."]
    beyond_wire: Annotated[bool, "whether ranks sent faster than ports and cables carry."] = False
    steps_s: Annotated[dict[str, float], "medians of the parts of a sample by name."]
    step_shares: Annotated[dict[str, float], "medians of these parts' shares of their samples."]
    published: Annotated[list[PublishedJson], "what others published for the same point."]
    launches: Annotated[list[LaunchJson], "the point in each launch that has ended."]


class MeasuredCellJson(msgspec.Struct, frozen=True, kw_only=True):
    """A cell under its conditions: what one run answers."""

    name: Annotated[str, "the cell for people."]
    probe: Annotated[str, "which program."]
    mpi: Annotated[str, "the MPI library as it was asked for."]
    length_in_doubles: Annotated[
        int | None, "of a vector on these hosts; null for what sorts nothing."
    ]
    seats: Annotated[str, "where its ranks were."]
    one_host: Annotated[bool, "whether its hosts were groups of ranks on one host."]
    host_bytes: Annotated[int, "what the data on a host needs at most, as it was predicted."]
    memory: Annotated[
        int | None, "bytes of a host that it was compared with; null where they are not known."
    ]
    warnings: Annotated[tuple[str, ...], "what a reader must know."]
    run: Annotated[str, "its folder, below that of the study."]
    elapsed_s: Annotated[list[float], "seconds that each launch took."]


class MeasuredStudyJson(msgspec.Struct, frozen=True, kw_only=True):
    """A study of measurements."""

    verdict: Annotated[str, "one-sentence verdict."] = ""
    study: Annotated[str, "name of the plan."]
    run: Annotated[str, "folder of the study."]
    on: Annotated[str, "where it was measured."]
    precision: Annotated[
        float, "relative half-width of the median's interval at which a point is done."
    ]
    repetitions: Annotated[tuple[int, int], "fewest and most samples of a point."]
    verify: Annotated[bool, "whether every sample's data was checked."]
    seed: Annotated[int, "of every random choice."]
    budget_s: Annotated[float, "seconds that the study had."]
    notes: Annotated[list[str], "what a reader must know, as the plan says it."]
    points: Annotated[list[PointJson], "results."]
    cells: Annotated[list[MeasuredCellJson], "the runs that they are of."]
    left: Annotated[list[str], "cells that no time was left for."]
    warnings: Annotated[list[str], "what a reader must know."]


def measured_json(study: MeasuredStudy) -> MeasuredStudyJson:
    """The result of ``contend study --json`` for a plan of measurements."""
    return filled(
        MeasuredStudyJson,
        study.plan,
        verdict="",
        study=study.plan.name,
        run=str(study.folder),
        on=study.on,
        points=[
            _point(study, number, result)
            for number, answer in enumerate(study.answers)
            for result in answer.results
        ],
        cells=[_cell(answer) for answer in study.answers],
        left=study.left,
        warnings=list(dict.fromkeys(text for a in study.answers for text in a.warnings)),
    )


def _cell(answer: Answer) -> MeasuredCellJson:
    return filled(
        MeasuredCellJson,
        answer,
        answer.cell,
        name=answer.cell.label,
        mpi=answer.cell.library,
        length_in_doubles=answer.cell.vector,
        # Its folder is below that of the study, in the one of all runs.
        run="/".join(answer.run.folder.parts[-2:]),
        elapsed_s=[answer.elapsed_s(launch) for launch in answer.launches],
    )


def _point(study: MeasuredStudy, number: int, result: Result) -> PointJson:
    answer, place, parts = result.answer, result.place, result.parts
    return filled(
        PointJson,
        place,
        result,
        answer.cell,
        *filter(None, [result.summary]),
        cell=number,
        length=None if place.length is None else str(place.length),
        library=answer.library,
        status="failed" if result.median_s is None else "done",
        **_why(result.failure),
        ci95_s=result.interval_s,
        rate_Bps_per_rank=result.rate,
        steps_s={} if parts is None else _spaced(parts.seconds),
        step_shares={} if parts is None else _spaced(parts.shares),
        published=[
            filled(
                PublishedJson,
                known,
                status="failed" if known.failed else "done",
                rate_Bps_per_rank=known.rate_of(place.ranks),
            )
            for known in study.plan.known()
            if known.placed and known.beside(place)
        ],
        launches=[_launch(answer, result, index) for index in range(len(answer.launches))],
    )


def _why(failure: PointError | None) -> dict[str, Any]:
    return {
        "cause": None if failure is None else failure.cause,
        "said": "" if failure is None else failure.reason,
    }


def _launch(answer: Answer, result: Result, index: int) -> LaunchJson:
    launch = answer.launches[index]
    failure, summary, end = (
        result.failures[index],
        result.summary,
        answer.ends.get((result.name, launch)),
    )
    told = LaunchJson(
        launch=launch + 1,
        status="done" if failure is None else "failed",
        **_why(failure),
        verified=None if end is None else end.verified,
        ended="" if end is None else end.reason,
    )
    if failure is not None or summary is None:
        return told
    times = summary.by_launch[launch]
    median = median_interval(times)
    return msgspec.structs.replace(
        told,
        n=len(times),
        late=answer.late.get((result.name, launch), 0),
        median_s=median.value,
        ci95_s=median.interval,
        rate_Bps_per_rank=summary.sent / median.value if summary.sent and median.value else None,
        p99_s=float(np.quantile(times, 0.99)),
        max_s=float(times.max()),
    )


def _spaced(values: dict[str, float]) -> dict[str, float]:
    return {name.replace("_", " "): value for name, value in values.items()}
