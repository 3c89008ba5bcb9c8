"""What earlier starts of a cell's launches have left to be measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from contend.lab.runs import NO_TIME, CellEnd, CellRecord, LaunchRecord, PointError, RunRecord

CUT = "cut"
"""How a cell ends that was under way when its launch ended."""


@dataclass(frozen=True)
class Left:
    """What is left of launches, of which every `variants`-th has the same ranks on as many hosts.

    Attributes:
        record: of the run, with all starts so far.
        variants: numbers of ranks, on numbers of hosts.
        retry: whether what failed is measured again.
        few: numbers of cells whose samples are too few for an interval: where a budget ended one,
            a larger budget goes on with it.
    """

    record: RunRecord
    variants: int
    retry: bool
    few: frozenset[int] = frozenset()

    def is_left(self, number: int) -> bool:
        """Whether something of a launch is still to be measured."""
        starts = self.starts(number)
        if self.retry:
            failed = any(self._concerns(error, number) for error in self.record.errors)
            unmeasured = _begun_cells(starts) - self._ended_cells(starts, again=True)
            return failed or bool(unmeasured) or not any(map(self._is_complete, starts))
        given_up = any(
            error.whole and self._concerns(error, number) for error in self.record.errors
        )
        complete = any(map(self._is_complete, starts))
        return not (given_up or complete or self.is_settled(number))

    def starts(self, number: int) -> list[LaunchRecord]:
        """All starts of a launch."""
        return [start for start in self.record.launches if start.whole == number]

    def settled(self, number: int) -> list[str]:
        """Points that a start of a launch leaves out, as lines for the probe."""
        starts = self.starts(number)
        cells = self.record.cells
        lines = [
            line_of(cells[cell]) for cell in sorted(self._ended_cells(starts, again=self.retry))
        ]
        lines += [
            line_of(error)
            for error in self.record.errors
            if self._concerns(error, number) and not error.whole
        ]
        return list(dict.fromkeys(lines))

    def is_settled(self, number: int) -> bool:
        """Whether a launch has nothing else, as far as launches like it tell."""
        settled, record = self.settled(number), self.record
        for launch in {start.whole for start in record.launches}:
            starts = self.starts(launch)
            if launch % self.variants == number % self.variants and any(
                map(self._is_complete, starts)
            ):
                points = {line_of(record.cells[cell]) for cell in _begun_cells(starts)}
                return bool(points) and points <= set(settled)
        return False

    def _is_complete(self, start: LaunchRecord) -> bool:
        """Whether every cell that a start was to measure has ended, one way or other."""
        if any(self._is_open(end) and end.reason == "budget" for end in start.ends):
            return False
        if start.status == "done":
            return True
        measured = start.measured
        if measured is None or not measured.probe.cells:
            return False
        errors = {line_of(error) for error in self.record.errors if error.launch == start.whole}
        cells = self.record.cells
        ended = sum(
            end.reason != CUT or line_of(cells[end.cell]) in errors for end in measured.ends
        )
        return ended >= measured.probe.cells

    def _ended_cells(self, starts: Sequence[LaunchRecord], *, again: bool) -> set[int]:
        """Cells that are not measured again: all that have ended, or those with nothing to mend.

        Those that no time was left for are always left for another time.
        """
        ends = [end for start in starts for end in start.ends]
        return {
            end.cell for end in ends if self._is_settled(end) or not (again or self._is_open(end))
        }

    def _is_settled(self, end: CellEnd) -> bool:
        """Whether a cell has a figure, or makes no sense."""
        unsuited = end.reason == "skipped" and end.said != NO_TIME
        sampled = end.is_sampled and end.verified is not False and not self._is_open(end)
        return unsuited or sampled

    def _is_open(self, end: CellEnd) -> bool:
        """Whether a cell had no time, or too little."""
        if end.reason == "budget":
            return end.cell in self.few
        return end.reason == CUT or (end.reason == "skipped" and end.said == NO_TIME)

    def _concerns(self, error: PointError, number: int) -> bool:
        """Whether an error is one of a launch's variant."""
        return error.launch is None or error.launch % self.variants == number % self.variants


def _begun_cells(starts: Sequence[LaunchRecord]) -> set[int]:
    return {end.cell for start in starts for end in start.ends}


def line_of(point: CellRecord | PointError) -> str:
    """A point by its labels, as a probe reads it to leave it out."""
    labels = {"algorithm": point.algorithm, "bytes": point.bytes, **point.labels}
    return " ".join(
        f"{name}={value}"
        for name, value in labels.items()
        if isinstance(value, int | str) and not re.search(r"[\s#]|^$", str(value))
    )
