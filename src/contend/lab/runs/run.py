"""A run: its folder, record and samples, what is found in them, and runs beside each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import polars as pl

from contend.base.errors import InputError, UsageError
from contend.base.schema import PythonOnly, Shown, Spread, members, plain, told
from contend.lab.runs.findings import Findings, find
from contend.lab.runs.frames import NotBegunError
from contend.lab.runs.launch_file import RawSamples, read_samples
from contend.lab.runs.parquet import read_table, write_table
from contend.lab.runs.record import (
    LAST_LAUNCH,
    CellRecord,
    RunRecord,
    Warned,
    read_record,
    write_record,
)
from contend.lab.runs.samples import SCHEMA, empty_table, fold, results
from contend.lab.runs.statistics import Estimate, ratio
from contend.lab.runs.summary import CellSummary, Condition, without_samples

_RECORD, _SAMPLES = "run.json", "samples.parquet"
_RAW = re.compile(r"launch-(\d{3}|[1-9]\d{3,4})\.samples")
# What a reader of a table looks for first; the others follow.
_FIRST = (
    *("cell", "algorithm", "schedule", "bytes", "ranks", "hosts", "n", "used", "late", "launches"),
    *("median_s", "ci95_low_s", "ci95_high_s", "low_s", "high_s"),
)
# What a column has no room for, by its parts.
_PARTS: Mapping[str, Callable[[CellSummary], object]] = {
    "ci95_low_s": lambda cell: (cell.ci95_s or (None, None))[0],
    "ci95_high_s": lambda cell: (cell.ci95_s or (None, None))[1],
    "low_s": lambda cell: cell.median.low,
    "high_s": lambda cell: cell.median.high,
    "slow_share": lambda cell: cell.two_kinds and cell.two_kinds.slow_share,
    "slow_s": lambda cell: cell.two_kinds and cell.two_kinds.slow_s,
    "reasons": lambda cell: ", ".join(dict.fromkeys(cell.ended)),
}


@dataclass(frozen=True)
class Run(Shown, told="run_document"):
    """What one measurement left: what it was and every sample of every rank."""

    folder: Path
    """Folder in which it is kept."""
    record: RunRecord
    """What was run, where and how."""
    samples: pl.DataFrame
    """One row for every rank that took part in a sample, by launch and time: the columns of
    `lab.runs.SCHEMA`, then the probe's own: instants, or durations where their name ends in
    ``_s``."""

    @classmethod
    def create(cls, folder: str | Path, record: RunRecord) -> Run:
        """Makes the folder of a run that begins.

        Raises:
            UsageError: the folder cannot be made, or another run is in it.
        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}") from None
        if (folder / _RECORD).exists():
            raise UsageError(f"{folder}: a run is here already")
        write_record(folder / _RECORD, record)
        return cls(folder, record, empty_table())

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Reads a run, also one that is under way or was cut short.

        Raises:
            UsageError: no run is there.
            InputError: one of its files is damaged or of a newer version.
        """
        folder = Path(folder)
        record = read_record(folder / _RECORD)
        raw, unreadable = _raw_files(folder)
        record, samples = fold(record, _read_samples(folder), raw)
        return _checked(cls(folder, _with_warnings(record, unreadable), samples))

    def raw_path(self, launch: int) -> Path:
        """The file that a launch's probe shall write."""
        return self.folder / f"launch-{launch:03}.samples"

    def next_launch(self) -> int:
        """A number that no launch of the run has had: every start of a probe takes a new one."""
        numbers = [launch.number for launch in self.record.launches]
        numbers += self.samples["launch"].unique().to_list()
        raw = (_raw_number(path) for path in self.folder.iterdir())
        numbers += [number for number in raw if number is not None]
        return max(numbers, default=-1) + 1

    def fold(self, record: RunRecord | None = None) -> Run:
        """Brings what launches wrote into ``samples.parquet`` and ``run.json``.

        Their own files go when everything is written; those that are damaged stay, with a warning.
        Either of the two is written whole or not at all, the samples first: interrupted, folding
        again does the rest. No sample that was folded in before is lost.

        Args:
            record: the run as it is known now; by default as it was.

        Raises:
            OSError: the disk is full.
        """
        raw, unreadable = _raw_files(self.folder)
        known = _merged(self.record if record is None else record, self.record)
        known = _with_warnings(known, unreadable)
        changed, samples = fold(known, _read_samples(self.folder), raw)
        write_table(self.folder / _SAMPLES, samples)
        write_record(self.folder / _RECORD, changed)
        for launch in raw:
            self.raw_path(launch).unlink(missing_ok=True)
        return Run(self.folder, changed, samples)

    @cached_property
    def results(self) -> pl.DataFrame:
        """One row for every sample, in the order of time; see `lab.runs.samples.results`."""
        return results(self.samples)

    @cached_property
    def findings(self) -> Findings:
        """Everything that is found in the run; see `lab.runs.Findings`."""
        return find(self.record, self.results)

    @property
    def summaries(self) -> tuple[CellSummary, ...]:
        """Figures of every cell that has timed samples; those of `findings`."""
        return self.findings.cells

    @cached_property
    def every_cell(self) -> tuple[CellSummary, ...]:
        """All cells in the order in which they first began, also those without samples."""
        known = {cell.record.cell: cell for cell in self.summaries}
        return tuple(
            known.get(cell.cell) or without_samples(self.record, cell) for cell in self.record.cells
        )

    def cells(self) -> pl.DataFrame:
        """One row for every cell that has timed samples, its intervals in columns of their own.

        ``low_s`` and ``high_s`` are the median's interval, which holds it with ``coverage`` at
        least; ``ci95_low_s`` and ``ci95_high_s`` repeat it where that is 95 %. ``slow_share`` and
        ``slow_s`` are of the slower of two kinds of samples, where there are two. The cells' other
        labels follow as text; one that is called like a column gets ``label_`` before its name.
        """
        cells = self.summaries
        told = list(map(plain, cells))
        columns: dict[str, list[object]] = {"cell": [cell.record.cell for cell in cells]}
        for member in (*members(CellRecord), *members(CellSummary)):
            if member.alternatives <= {bool, int, float, str}:
                columns[member.key] = [of_cell[member.key] for of_cell in told]
        columns |= {name: list(map(of, cells)) for name, of in _PARTS.items()}
        columns = {name: columns[name] for name in dict.fromkeys((*_FIRST, *columns))}
        figures = frozenset(columns)
        for name in dict.fromkeys(name for cell in cells for name in cell.record.labels):
            values = (cell.record.labels.get(name) for cell in cells)
            column = f"label_{name}" if name in figures else name
            columns[column] = [None if value is None else str(value) for value in values]
        return pl.DataFrame(columns)

    @property
    def name(self) -> str:
        """What the run is called where several are compared."""
        return self.folder.resolve().name


def find_runs(path: Path) -> list[Path]:
    """The folders of runs at a place: the folder itself, or those up to three levels within it.

    Raises:
        UsageError: there is none.
    """
    folders = _run_folders(path)
    if not folders:
        raise UsageError(f"{path}: no run is here (expected a folder with {_RECORD})")
    return folders


def has_runs(path: Path) -> bool:
    """Whether `find_runs` finds any."""
    return bool(_run_folders(path))


def _run_folders(path: Path) -> list[Path]:
    if (path / _RECORD).is_file():
        return [path]
    within = (path.glob(f"{'*/' * depth}{_RECORD}") for depth in (1, 2, 3))
    return sorted(record.parent for records in within for record in records)


def _raw_files(folder: Path) -> tuple[dict[int, RawSamples], list[Warned]]:
    """The launches whose own files are there, by number, and what is wrong with others."""
    raw: dict[int, RawSamples] = {}
    unreadable = []
    for path in sorted(folder.iterdir()):
        number = _raw_number(path)
        if number is None:
            continue
        try:
            raw[number] = read_samples(path)
        except NotBegunError:
            continue
        except InputError as error:
            unreadable.append(Warned("unreadable", f"{error}; the file is left as it is"))
    return raw, unreadable


def _raw_number(path: Path) -> int | None:
    """The launch whose own file this is; None for other files."""
    match = _RAW.fullmatch(path.name)
    number = None if match is None else int(match[1])
    return None if number is None or number > LAST_LAUNCH else number


def _read_samples(folder: Path) -> pl.DataFrame:
    path = folder / _SAMPLES
    return read_table(path, SCHEMA) if path.exists() else empty_table()


def _with_warnings(record: RunRecord, more: Sequence[Warned]) -> RunRecord:
    """The record with warnings that it does not have yet."""
    new = [warning for warning in more if warning not in record.warnings]
    return msgspec.structs.replace(record, warnings=(*record.warnings, *new))


def _merged(known: RunRecord, before: RunRecord) -> RunRecord:
    """A record with what was folded in before: numbers of cells, and what launches measured."""
    launches = {launch.number: launch for launch in before.launches}
    for launch in known.launches:
        earlier = launches.get(launch.number)
        measured = launch.measured or (None if earlier is None else earlier.measured)
        launches[launch.number] = msgspec.structs.replace(launch, measured=measured)
    return msgspec.structs.replace(
        known,
        cells=before.cells,
        launches=tuple(launches[number] for number in sorted(launches)),
    )


def _checked(run: Run) -> Run:
    """The run, if its table speaks of cells and launches that its record knows."""
    table, record = run.samples, run.record
    required = [name for name in SCHEMA if name != "bytes"]
    if table.select(pl.any_horizontal(pl.col(required).is_null()).any()).item():
        raise InputError(str(run.folder / _SAMPLES), 0, "values in all columns", "gaps")
    launches = [launch.number for launch in record.launches]
    known = pl.col("launch").is_in(launches) & (pl.col("cell") < len(record.cells))
    if not table.select(known.all()).item():
        raise InputError(
            str(run.folder / _SAMPLES), 0, f"launches and cells of {_RECORD}", "others"
        )
    return run


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A cell that two runs measured."""

    condition: Spread[Condition]
    """What it was measured under."""
    schedule: str
    """Its name."""
    bytes: int | None
    """Bytes to each other rank."""
    ratio: Estimate
    """Median of the other run over that of the base."""
    base: PythonOnly[CellSummary]
    """The cell in the run that others are compared with."""
    other: PythonOnly[CellSummary]
    """The cell in another run."""

    @told
    def differs(self) -> bool | None:
        """Whether the interval of the ratio leaves 1 out; null without an interval."""
        if self.ratio.low is None or self.ratio.high is None:
            return None
        return not self.ratio.low <= 1 <= self.ratio.high


def compare(base: Run, other: Run) -> tuple[Pair, ...]:
    """All cells that both measured, alike in algorithm, size, ranks, hosts and all labels."""
    known = {_key(cell.record): cell for cell in base.summaries}
    return tuple(
        Pair(
            condition=before.condition,
            schedule=before.schedule,
            bytes=before.record.bytes,
            ratio=ratio(cell.median, before.median),
            base=before,
            other=cell,
        )
        for cell in other.summaries
        if (before := known.get(_key(cell.record))) is not None
    )


@dataclass(frozen=True, kw_only=True)
class ComparedRun:
    """A run beside the first."""

    base: str
    """Name of the first run."""
    other: str
    """Name of this run."""
    cells: tuple[Pair, ...]
    """Cells that both measured, at least one."""


def compared(runs: Sequence[Run]) -> list[ComparedRun]:
    """Every run but the first that has a cell in common with the first."""
    names = run_names(runs)
    every = [
        ComparedRun(base=names[0], other=name, cells=compare(runs[0], run))
        for name, run in zip(names[1:], runs[1:], strict=True)
    ]
    return [other for other in every if other.cells]


def run_names(runs: Sequence[Run]) -> list[str]:
    """What tells the runs apart: library, labels, machine or day, in this order; or the folder."""
    for describe in (_library, _labels, _machine, _day):
        names = [describe(run.record) for run in runs]
        if len(set(names)) == len(runs) and all(names):
            return names
    names = [
        ", ".join(
            filter(None, (describe(run.record) for describe in (_library, _labels, _machine, _day)))
        )
        for run in runs
    ]
    if len(set(names)) == len(runs):
        return names
    folders = [run.name for run in runs]
    return folders if len(set(folders)) == len(runs) else [str(run.folder) for run in runs]


def _key(cell: CellRecord) -> Hashable:
    labels = tuple((name, str(value)) for name, value in sorted(cell.labels.items()))
    return cell.algorithm, cell.bytes, cell.ranks, cell.hosts, labels


def _library(record: RunRecord) -> str:
    return record.library.title


def _labels(record: RunRecord) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(record.labels.items()))


def _machine(record: RunRecord) -> str:
    return str(record.machine.get("host", ""))


def _day(record: RunRecord) -> str:
    return record.created[:10]
