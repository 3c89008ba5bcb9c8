"""Points of a cell from the run that measured them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from contend.samples import Run
from contend.samples.fold import SCHEMA
from contend.samples.record import CellEnd, CellRecord
from contend.samples.statistics import median_interval, quantile
from contend.study.measured.attempts import PointName
from contend.study.measured.cell import Cell
from contend.study.measured.record import Failure, Point
from contend.study.measured.results import PointSamples, Samples

_WITHOUT_SCHEDULES = ("sort", "pingpong")


def points_of(run: Run, cell: Cell) -> tuple[dict[PointName, Point], PointName | None]:
    """Points that a run has figures of or that failed by themselves, and the one it was cut in."""
    ends = {end.cell: end for launch in run.record.launches for end in _ends(launch)}
    table = run.results
    found: dict[PointName, Point] = {}
    cut: PointName | None = None
    for record in run.record.cells:
        name = _name(run, record)
        end = ends.get(record.cell)
        if end is None or end.reason == "cut":
            cut = name
            continue
        if (failure := _failure(end)) is not None:
            found[name] = Point(*name, failure=failure, ended=end.reason, verified=end.verified)
            continue
        found[name] = _point(name, table.filter(pl.col("cell") == record.cell), end, cell.ranks)
    return found, cut


def samples_of(folder: Path) -> PointSamples:
    """Samples of every point of a run."""
    run = Run.load(folder)
    table = run.results
    return {
        _name(run, record): _samples(table.filter(pl.col("cell") == record.cell))
        for record in run.record.cells
    }
