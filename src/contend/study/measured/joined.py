"""Runs of one launch each, read as one run of many launches."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import polars as pl

from contend.runs import CellRecord, CellSummary, LaunchRecord, Run, summarise


def join(parts: Sequence[tuple[int, Run]]) -> tuple[CellSummary, ...]:
    """Figures of all cells over several launches.

    Args:
        parts: runs with the number of their launch; a launch that was begun again has several
            runs, of different cells.
    """
    cells: list[CellRecord] = []
    places: dict[tuple[object, ...], int] = {}
    launches: list[LaunchRecord] = []
    tables = []
    for number, run in parts:
        own = {}
        for cell in run.record.cells:
            place = places.setdefault(_key(cell), len(cells))
            if place == len(cells):
                cells.append(msgspec.structs.replace(cell, cell=place))
            own[cell.cell] = place
        launches += [_renumbered(launch, number, own) for launch in run.record.launches]
        tables.append(
            run.results.with_columns(
                pl.lit(number, pl.UInt16()).alias("launch"),
                pl.col("cell").replace_strict(own, return_dtype=pl.UInt32()),
            )
        )
    if not tables:
        return ()
    record = msgspec.structs.replace(
        parts[0][1].record, cells=tuple(cells), launches=tuple(launches)
    )
    return summarise(record, pl.concat(tables, how="diagonal"))


def _key(cell: CellRecord) -> tuple[object, ...]:
    return cell.algorithm, cell.bytes, cell.ranks, cell.hosts, *sorted(cell.labels.items())


def _renumbered(launch: LaunchRecord, number: int, own: dict[int, int]) -> LaunchRecord:
    measured = launch.measured
    if measured is not None:
        ends = tuple(msgspec.structs.replace(end, cell=own[end.cell]) for end in measured.ends)
        measured = msgspec.structs.replace(measured, ends=ends)
    return msgspec.structs.replace(launch, number=number, measured=measured)
