"""Folders of measured studies as the first version kept them: a file and a run for every launch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl
from msgspec.structs import replace

from contend.errors import InputError
from contend.runs import CellRecord, CellSummary, LaunchRecord, Run, summarise
from contend.study.measured_plan import GridCell, MeasuredPlan
from contend.study.results import Answer, MeasuredRecord, PointName, Terms

_CELLS = "cells"


def kept_measurements(plan: MeasuredPlan, folder: Path, terms: Terms) -> dict[GridCell, Answer]:
    """What the first version kept of a plan's cells, where it has all launches asked for alike.

    Args:
        plan: whose cells.
        folder: of the study.
        terms: how they are asked for now.

    Returns:
        Answers by the first launch of their cell.

    Raises:
        InputError: one of its files is damaged.
    """
    if not (folder / _CELLS).is_dir():
        return {}
    launches: dict[GridCell, list[MeasuredRecord]] = {}
    for cell in plan.cells():
        path = folder / _CELLS / f"{cell.file_name}.json"
        if path.is_file() and (record := _read(path)).cell == cell and record.terms == terms:
            launches.setdefault(replace(cell, launch=1), []).append(record)
    return {
        cell: Answer(tuple(records), _summaries(folder, records))
        for cell, records in launches.items()
        if len(records) == plan.launches
    }


def _read(path: Path) -> MeasuredRecord:
    try:
        record = msgspec.json.decode(path.read_bytes(), type=MeasuredRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), 0, "a cell of a measured study", str(error)) from None
    for name in record.runs:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise InputError(str(path), 0, "runs within the study's folder", name)
    return record


def _summaries(folder: Path, records: Sequence[MeasuredRecord]) -> dict[PointName, CellSummary]:
    """Figures of a cell over its launches, each of which had runs of its own."""
    parts = [
        (record.cell.launch, Run.load(folder / name))
        for record in records
        for name in record.runs
        if (folder / name).is_dir()
    ]
    alone = records[0].cell.probe == "sort"
    return {
        (None, None) if alone else (cell.record.algorithm, cell.record.bytes): cell
        for cell in _over_launches(parts)
    }


def _over_launches(parts: Sequence[tuple[int, Run]]) -> Iterator[CellSummary]:
    """Figures of all cells of runs of one launch each.

    Args:
        parts: runs with the number of their launch; a launch that was begun again has several
            runs, of different cells.
    """
    cells: list[CellRecord] = []
    numbers: dict[tuple[object, ...], int] = {}
    launches: list[LaunchRecord] = []
    tables = []
    for number, run in parts:
        own = {}
        for cell in run.record.cells:
            labels = sorted(cell.labels.items())
            key = (cell.algorithm, cell.bytes, cell.ranks, cell.hosts, *labels)
            index = numbers.setdefault(key, len(cells))
            if index == len(cells):
                cells.append(replace(cell, cell=index))
            own[cell.cell] = index
        launches += [_renumbered(launch, number, own) for launch in run.record.launches]
        tables.append(
            run.results.with_columns(
                pl.lit(number, pl.UInt16()).alias("launch"),
                pl.col("cell").replace_strict(own, return_dtype=pl.UInt32()),
            )
        )
    if tables:
        record = replace(parts[0][1].record, cells=tuple(cells), launches=tuple(launches))
        yield from summarise(record, pl.concat(tables, how="diagonal"))


def _renumbered(launch: LaunchRecord, number: int, own: dict[int, int]) -> LaunchRecord:
    measured = launch.measured
    if measured is not None:
        ends = tuple(replace(end, cell=own[end.cell]) for end in measured.ends)
        measured = replace(measured, ends=ends)
    return replace(launch, number=number, measured=measured)
