"""Points of a cell from the run that measured them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from contend.runs import SCHEMA, CellEnd, CellRecord, CellSummary, Run
from contend.study.measured.attempts import PointName
from contend.study.measured.joined import join
from contend.study.measured.record import Cause, Failure, Point
from contend.study.measured.results import Summaries

_NO_FAILURE = ("precision", "repetitions", "budget")
_CUT = "cut"
_OWN_SUFFIX = "_s"


def points_of(run: Run) -> tuple[dict[PointName, Point], PointName | None]:
    """Points that a run has figures of or that failed by themselves, and the one it was cut in."""
    ends = {
        end.cell: end
        for launch in run.record.launches
        if launch.measured is not None
        for end in launch.measured.ends
    }
    summaries = {summary.record.cell: summary for summary in run.summaries}
    steps = _steps(run)
    found: dict[PointName, Point] = {}
    cut: PointName | None = None
    for record in run.record.cells:
        name, end = _name(run, record), ends.get(record.cell)
        if end is None or end.reason == _CUT:
            cut = name
            continue
        summary = summaries.get(record.cell)
        if end.reason not in _NO_FAILURE or summary is None:
            failure = Failure(_cause(end), end.said or f"the probe {end.reason} it")
            found[name] = Point(*name, failure=failure, ended=end.reason, verified=end.verified)
        else:
            found[name] = _point(name, summary, end, steps.get(record.cell, {}))
    return found, cut


def read_runs(parts: Sequence[tuple[int, Path]]) -> Summaries:
    """Figures of all points of some runs, each with the number of its launch."""
    runs = [(number, Run.load(folder)) for number, folder in parts]
    return {_name(runs[0][1], one.record): one for one in join(runs)}


def _name(run: Run, record: CellRecord) -> PointName:
    """Algorithm and bytes of a cell, as `contend.study.measured.cell.Cell.points` names it."""
    return (None, None) if run.record.probe == "sort" else (record.algorithm, record.bytes)


def _point(
    name: PointName, summary: CellSummary, end: CellEnd, steps: Mapping[str, float]
) -> Point:
    rate = summary.rate
    return Point(
        algorithm=name[0],
        bytes=name[1],
        samples=len(summary.used),
        late=summary.late,
        median_s=summary.median.value,
        low_s=summary.median.low,
        high_s=summary.median.high,
        p99_s=summary.p99_s,
        max_s=summary.max_s,
        rate_Bps=None if rate is None else rate.value,
        verified=end.verified,
        ended=end.reason,
        steps_s=dict(steps),
    )


def _cause(end: CellEnd) -> Cause:
    """Why a cell of a probe has no figures, by what the probe says."""
    if end.verified is False:
        return "data"
    if "not enough memory" in end.said:
        return "memory"
    if end.reason == "skipped":
        return "unsuited" if end.said else "budget"
    return "launch"


def _steps(run: Run) -> dict[int, dict[str, float]]:
    """Medians of what the probe timed beside, by cell and name; durations only."""
    names = [
        name for name in run.results.columns
        if name in run.samples.columns and name not in SCHEMA and name.endswith(_OWN_SUFFIX)
    ]  # fmt: skip
    if not names:
        return {}
    table = run.results.filter(~pl.col("warmup")).group_by("cell").agg(pl.col(names).median())
    return {
        row["cell"]: {
            name.removesuffix(_OWN_SUFFIX).replace("_", " "): float(row[name])
            for name in names
            if row[name] is not None and np.isfinite(row[name])
        }
        for row in table.iter_rows(named=True)
    }
