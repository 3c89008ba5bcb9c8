"""The table of a run's samples: its columns, how launches come into it, and its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from contend.lab.runs.frames import CellEnd, CellFrame
from contend.lab.runs.launch_file import RawSamples
from contend.lab.runs.record import (
    LAST_LAUNCH,
    CellRecord,
    Host,
    LaunchRecord,
    MeasuredLaunch,
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

_OF_SAMPLE = ("launch", "cell", "algorithm", "bytes", "ranks", "hosts", "repetition")
_OF_START = ("cell", "repetition", "rank", "agreed_s", "start_s", "end_s")
"""What tells one start of a probe from another: no two show the same instants."""


def empty_table() -> pl.DataFrame:
    """A table of samples without rows."""
    return pl.DataFrame(schema=dict(SCHEMA))


def results(samples: pl.DataFrame) -> pl.DataFrame:
    """One row for every sample.

    Args:
        samples: rows by rank, as `lab.runs.Run.samples`.

    Returns:
        The columns that say which sample it is, ``warmup``, ``late``, ``verified``, ``agreed_s``,
        and ``result_s``: the latest end minus the earliest start; ``late_by_s``: how long after the
        agreed instant the last rank started; ``start_s``: the earliest start. A column of the
        probe's own that is a duration becomes its largest value over ranks; one that is an instant
        becomes the time from the earliest start to the latest such instant. In order of time.
    """
    first, last = pl.col("start_s").min(), pl.col("end_s").max()
    own = [name for name in samples.columns if name not in SCHEMA]
    return samples.group_by(*_OF_SAMPLE, maintain_order=True).agg(
        pl.col("warmup", "late", "verified", "agreed_s").first(),
        (last - first).alias("result_s"),
        (pl.col("start_s").max() - pl.col("agreed_s").first()).alias("late_by_s"),
        first.alias("start_s"),
        *(
            pl.col(name).max() if name.endswith("_s") else pl.col(name).max() - first
            for name in own
        ),
    )


def fold(
    record: RunRecord, samples: pl.DataFrame, raw: Mapping[int, RawSamples]
) -> tuple[RunRecord, pl.DataFrame]:
    """Adds what launches wrote.

    No sample that the table has is lost. A file that was folded in before, as when folding was
    interrupted, adds what it has more. Where a number was used for a second start of a probe, the
    samples of the first become a launch of their own. Cells are the same when their labels, ranks
    and number of hosts are.

    Args:
        record: of the run; launches that it does not know are added to it.
        samples: the run's table so far.
        raw: files by number of their launch.

    Returns:
        The record, its launches now with what was measured, and the table.
    """
    folding = _Folding(record, samples)
    if raw:
        folding.add_unknown_launches()
    for number, launch_file in sorted(raw.items()):
        folding.add(number, launch_file)
    return folding.finished(record)


class _Folding:
    """A run's cells, launches and their tables while files of launches come in."""

    def __init__(self, record: RunRecord, samples: pl.DataFrame) -> None:
        self._cells = list(record.cells)
        self._known = {_key(cell): cell.cell for cell in self._cells}
        self._launches = {launch.number: launch for launch in record.launches}
        parts = samples.partition_by("launch", maintain_order=True)
        self._tables: dict[int, pl.DataFrame] = {part["launch"][0]: part for part in parts}

    def add_unknown_launches(self) -> None:
        """Launches of the table that the record lacks: a fold was interrupted before its record."""
        for number, table in self._tables.items():
            unknown = LaunchRecord(number, table["ranks"][0], status="unknown")
            self._launches.setdefault(number, unknown)

    def add(self, number: int, raw: RawSamples) -> None:
        """Adds a launch's file."""
        hosts = _hosts(raw)
        numbers: dict[int, int] = {}
        for frame in raw.cells.values():
            cell = _cell_record(len(self._cells), frame, raw, len(hosts) or 1)
            numbers[frame.cell] = self._known.setdefault(_key(cell), cell.cell)
            if numbers[frame.cell] == cell.cell:
                self._cells.append(cell)
        table = _renumbered(raw, number, numbers, self._cells)
        unknown = LaunchRecord(number, raw.probe.ranks, status="unknown")
        launch = self._launches.get(number, unknown)
        before = self._tables.get(number)
        if before is not None and _of_one_start(launch, raw, before, table):
            if before.height > table.height:
                # The file has lost its end since; what is folded in stays.
                return
        elif before is not None:
            self._keep_first_start(launch, before)
        self._tables[number] = table
        measured = _measured(raw, hosts, numbers)
        self._launches[number] = msgspec.structs.replace(launch, measured=measured)

    def _keep_first_start(self, launch: LaunchRecord, table: pl.DataFrame) -> None:
        """Makes the samples of an earlier start under the same number a launch of their own."""
        number = next(n for n in range(LAST_LAUNCH + 1) if n not in self._launches)
        why = f"launch {launch.number} was started again; these are the samples of its first start"
        self._launches[number] = msgspec.structs.replace(
            launch, number=number, ranks=table["ranks"][0], status="interrupted", why=why
        )
        self._tables[number] = table.with_columns(launch=pl.lit(number, pl.UInt16()))

    def finished(self, record: RunRecord) -> tuple[RunRecord, pl.DataFrame]:
        """The record and the table with all that was added."""
        changed = msgspec.structs.replace(
            record,
            cells=tuple(self._cells),
            launches=tuple(self._launches[number] for number in sorted(self._launches)),
        )
        tables = [self._tables[number] for number in sorted(self._tables)]
        return changed, pl.concat([empty_table(), *tables], how="diagonal")


def _of_one_start(
    launch: LaunchRecord, raw: RawSamples, before: pl.DataFrame, after: pl.DataFrame
) -> bool:
    """Whether a launch's table and its file are of the same start: one begins as the other does."""
    if launch.measured is not None and launch.measured.probe != raw.probe:
        return False
    count = min(before.height, after.height)
    first, second = (table.head(count).select(_OF_START) for table in (before, after))
    return first.equals(second)


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


def _measured(raw: RawSamples, hosts: Sequence[Host], numbers: Mapping[int, int]) -> MeasuredLaunch:
    ends = (
        msgspec.structs.replace(raw.ends.get(own, CellEnd(own, "cut")), cell=number)
        for own, number in numbers.items()
    )
    return MeasuredLaunch(
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
