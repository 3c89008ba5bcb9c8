"""Runs beside each other: what tells them apart, and the cells that they have in common."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from contend.base.schema import PythonOnly, Spread, told
from contend.lab.runs.record import CellRecord, RunRecord
from contend.lab.runs.run import Run
from contend.lab.runs.statistics import Estimate, ratio
from contend.lab.runs.summary import CellSummary, Condition


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

    @property
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
