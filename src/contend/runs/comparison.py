"""Two runs side by side: cells that both measured, and how their medians relate."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from contend.runs.record import CellRecord, RunRecord
from contend.runs.run import Run
from contend.runs.statistics import Estimate, ratio
from contend.runs.summary import CellSummary


@dataclass(frozen=True)
class Pair:
    """A cell of two runs.

    Attributes:
        base: in the run that others are compared with.
        other: in another.
        factor: median time of the other over that of the base.
    """

    base: CellSummary
    other: CellSummary
    factor: Estimate

    @property
    def differs(self) -> bool | None:
        """Whether the interval of the ratio leaves 1 out; None without an interval."""
        if self.factor.low is None or self.factor.high is None:
            return None
        return not self.factor.low <= 1 <= self.factor.high


def compare(base: Run, other: Run) -> tuple[Pair, ...]:
    """All cells that both measured, alike in algorithm, size, ranks, hosts and all labels."""
    known = {_key(cell.record): cell for cell in base.summaries}
    return tuple(
        Pair(known[_key(cell.record)], cell, ratio(cell.median, known[_key(cell.record)].median))
        for cell in other.summaries
        if _key(cell.record) in known
    )


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
    return f"{record.library.name} {record.library.version}".strip()


def _labels(record: RunRecord) -> str:
    return ", ".join(f"{name}: {value}" for name, value in sorted(record.labels.items()))


def _machine(record: RunRecord) -> str:
    return str(record.machine.get("host", ""))


def _day(record: RunRecord) -> str:
    return record.created[:10]
