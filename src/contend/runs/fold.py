"""Brings launches' own files of samples together: one table, cells numbered for the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from contend.runs.metadata import CellFrame
from contend.runs.read import RawSamples
from contend.runs.record import (
    CellEnd,
    CellRecord,
    Host,
    LaunchRecord,
    Measured,
    RunRecord,
)

SCHEMA: Mapping[str, pl.DataType] = {
    "launch": pl.UInt16(),
    "cell": pl.UInt32(),
    "algorithm": pl.String(),
    "bytes": pl.Int64(),
    "ranks": pl.UInt32(),
    "hosts": pl.UInt32(),
    "repetition": pl.UInt32(),
    "warmup": pl.Boolean(),
    "late": pl.Boolean(),
    "verified": pl.Boolean(),
    "rank": pl.UInt32(),
    "agreed_s": pl.Float64(),
    "start_s": pl.Float64(),
    "end_s": pl.Float64(),
}
"""Columns that every table of samples begins with; the probe's own follow."""


def fold(
    record: RunRecord, samples: pl.DataFrame, raw: Mapping[int, RawSamples]
) -> tuple[RunRecord, pl.DataFrame]:
    """Adds what launches wrote; a launch that is in the table already is replaced.

    Cells are the same when their labels, ranks and number of hosts are.

    Args:
        record: of the run; launches that it does not know are added to it.
        samples: the run's table so far.
        raw: files by number of their launch.

    Returns:
        The record, its launches now with what was measured, and the table.
    """
    cells = list(record.cells)
    known = {_key(cell): cell.cell for cell in cells}
    launches = {launch.number: launch for launch in record.launches}
    tables = [samples.filter(~pl.col("launch").is_in(list(raw)))]
    for number, one in sorted(raw.items()):
        numbers: dict[int, int] = {}
        hosts = _hosts(one)
        for cell in one.cells.values():
            made = _cell_record(len(cells), cell, one, len(hosts) or 1)
            numbers[cell.cell] = known.setdefault(_key(made), made.cell)
            if numbers[cell.cell] == made.cell:
                cells.append(made)
        launch = launches.get(number, LaunchRecord(number, one.probe.ranks, status="unknown"))
        measured = _measured(one, hosts, numbers)
        launches[number] = msgspec.structs.replace(launch, measured=measured)
        tables.append(_renumbered(one, number, numbers, cells))
    changed = msgspec.structs.replace(
        record,
        cells=tuple(cells),
        launches=tuple(launches[number] for number in sorted(launches)),
    )
    return changed, pl.concat(tables, how="diagonal").sort("launch", maintain_order=True)


def empty_table() -> pl.DataFrame:
    """A table of samples without rows."""
    return pl.DataFrame(schema=dict(SCHEMA))


def _key(cell: CellRecord) -> tuple[object, ...]:
    # 1, 1.0 and True are equal in Python but not the same label.
    labels = ((name, type(value), value) for name, value in sorted(cell.labels.items()))
    return cell.algorithm, cell.bytes, cell.ranks, cell.hosts, *labels


def _cell_record(number: int, cell: CellFrame, raw: RawSamples, hosts: int) -> CellRecord:
    labels = dict(cell.labels)
    algorithm, size = labels.pop("algorithm", raw.probe.probe), labels.pop("bytes", None)
    assert isinstance(algorithm, str)
    assert size is None or isinstance(size, int)
    return CellRecord(number, algorithm, size, raw.probe.ranks, hosts, labels)


def _hosts(raw: RawSamples) -> tuple[Host, ...]:
    if raw.ranks is None:
        return ()
    cpus: dict[str, int] = dict(zip(raw.ranks.host, raw.ranks.host_cpus, strict=False))
    counts = Counter(raw.ranks.host)
    return tuple(Host(name, ranks, cpus.get(name)) for name, ranks in counts.items())


def _measured(raw: RawSamples, hosts: Sequence[Host], numbers: Mapping[int, int]) -> Measured:
    ends = []
    for own, number in numbers.items():
        end = raw.ends.get(own)
        if end is None:
            ends.append(CellEnd(number, "cut"))
        else:
            ends.append(CellEnd(number, end.reason, end.verified, end.said))
    return Measured(
        probe=raw.probe,
        hosts=tuple(hosts),
        rank_hosts=() if raw.ranks is None else raw.ranks.host,
        rank_cpus=() if raw.ranks is None else raw.ranks.cpus,
        oversubscribed=raw.ranks is not None and raw.ranks.oversubscribed,
        clocks=raw.clocks,
        ends=tuple(ends),
        done=raw.done,
        torn_bytes=raw.torn,
    )


def _renumbered(
    raw: RawSamples, launch: int, numbers: Mapping[int, int], cells: Sequence[CellRecord]
) -> pl.DataFrame:
    """A launch's table with the run's numbers and what they stand for."""
    used = [cells[number] for number in numbers.values()]
    meaning = pl.DataFrame(
        {
            "cell": list(numbers),
            "number": [cell.cell for cell in used],
            "algorithm": [cell.algorithm for cell in used],
            "bytes": [cell.bytes for cell in used],
            "ranks": [cell.ranks for cell in used],
            "hosts": [cell.hosts for cell in used],
        },
        schema={
            "cell": pl.UInt32(),
            "number": pl.UInt32(),
            **{name: SCHEMA[name] for name in ("algorithm", "bytes", "ranks", "hosts")},
        },
    )
    joined = raw.frame.join(meaning, on="cell", how="left", maintain_order="left")
    own = [name for name in raw.frame.columns if name not in SCHEMA]
    return joined.with_columns(
        pl.lit(launch, pl.UInt16()).alias("launch"), pl.col("number").alias("cell")
    ).select(*SCHEMA, *own)
