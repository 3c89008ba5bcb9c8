"""What a run's cells come to: one set of figures for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from contend.runs.modes import Modes, modes_of
from contend.runs.record import CellEnd, CellRecord, RunRecord
from contend.runs.schedule import Condition, bytes_sent, condition, in_a_row, schedule_names
from contend.runs.statistics import (
    FEWEST,
    Estimate,
    Values,
    combine_launches,
    quantile,
)


@dataclass(frozen=True)
class CellSummary:
    """Figures of one cell; times are of one operation, in seconds.

    Attributes:
        record: what was measured.
        schedule: name of its schedule.
        condition: what schedules are compared under.
        in_a_row: operations that a sample times, one after the other.
        sent: bytes that a rank sends in an operation, where that is known.
        launches: the results that count, for every launch in order; late ones are left out as long
            as six others are there.
        numbers: of those launches.
        left_out: the late ones that do not count.
        n: samples, warm-ups not among them.
        late: how many of them were late.
        median: with its interval, see `contend.runs.statistics.combine_launches`.
        p99_s: what 99 % of the results that count do not exceed.
        max_s: the largest of them.
        mean_s: their mean; sent / mean is the harmonic mean of the samples' rates.
        modes: two kinds of samples, see `contend.runs.modes.modes_of`; None when of one kind.
        verified: whether data were right wherever they were looked at; None: nowhere.
        reasons: why the cell ended in each launch that began it.
        said: what probes said about it, each once.
    """

    record: CellRecord
    schedule: str
    condition: Condition
    in_a_row: int
    sent: int | None
    launches: tuple[Values, ...]
    numbers: tuple[int, ...]
    left_out: Values
    n: int
    late: int
    median: Estimate
    p99_s: float
    max_s: float
    mean_s: float
    modes: Modes | None
    verified: bool | None
    reasons: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def used(self) -> Values:
        """All results that count."""
        return np.concatenate(self.launches)

    @property
    def sample_s(self) -> float:
        """Median duration of a sample, with all the operations that it times."""
        return self.in_a_row * self.median.value

    @property
    def late_count(self) -> bool:
        """Whether late samples had to count, since too few others were there."""
        return self.late > len(self.left_out)

    @property
    def rate(self) -> Estimate | None:
        """Bytes per second that a rank sends, at the median; its interval likewise."""
        if not self.sent or not self.median.value > 0:
            return None
        low, high = (
            self.sent / end if end else None for end in (self.median.high, self.median.low)
        )
        return Estimate(self.sent / self.median.value, low, high)

    @property
    def mean_rate(self) -> float | None:
        """Harmonic mean of the samples' rates: all bytes over all time."""
        return self.sent / self.mean_s if self.sent and self.mean_s > 0 else None


def summarise(record: RunRecord, results: pl.DataFrame) -> tuple[CellSummary, ...]:
    """Figures of every cell that has timed samples, in the run's order.

    Args:
        record: of the run.
        results: one row for every sample, see `contend.runs.results.results`.
    """
    names = schedule_names(record.cells)
    ended: dict[int, list[CellEnd]] = {}
    for launch in record.launches:
        for end in launch.measured.ends if launch.measured is not None else ():
            ended.setdefault(end.cell, []).append(end)
    timed = results.filter(~pl.col("warmup"))
    # Sorted by cell, each is a slice: nothing is filtered once for every cell.
    ordered = timed.sort("cell", "launch", maintain_order=True)
    cells, counts = np.unique(ordered["cell"].to_numpy(), return_counts=True)
    ends = np.cumsum(counts)
    made = []
    for number, start, stop in zip(cells, ends - counts, ends, strict=True):
        cell = record.cells[int(number)]
        rows = ordered[int(start) : int(stop)]
        how = ended.get(cell.cell, [])
        made.append(_summary(record.probe, cell, names[cell.cell], rows, how))
    return tuple(made)


def _summary(
    probe: str, cell: CellRecord, schedule: str, rows: pl.DataFrame, ends: Sequence[CellEnd]
) -> CellSummary:
    repeated = in_a_row(probe, cell)
    times = rows["result_s"].to_numpy() / repeated
    late = rows["late"].to_numpy()
    launch = rows["launch"].to_numpy()
    numbers = tuple(int(one) for one in np.unique(launch))
    counting = [_counting(times[launch == one], late[launch == one]) for one in numbers]
    launches = tuple(values for values, _ in counting)
    used = np.concatenate(launches)
    verified = {end.verified for end in ends} - {None}
    return CellSummary(
        record=cell,
        schedule=schedule,
        condition=condition(cell),
        in_a_row=repeated,
        sent=bytes_sent(probe, cell),
        launches=launches,
        numbers=numbers,
        left_out=np.concatenate([left for _, left in counting]),
        n=len(times),
        late=int(late.sum()),
        median=combine_launches(launches),
        p99_s=quantile(used, 0.99),
        max_s=float(used.max()),
        mean_s=float(used.mean()),
        modes=modes_of(launches),
        verified=None if not verified else False not in verified,
        reasons=tuple(end.reason for end in ends),
        said=tuple(dict.fromkeys(end.said for end in ends if end.said)),
    )


def _counting(times: Values, late: np.ndarray) -> tuple[Values, Values]:
    """Results that count, and the late ones that do not.

    Where ranks share processors every sample may be late: too few others let all count.
    """
    if np.count_nonzero(~late) >= FEWEST:
        return times[~late], times[late]
    return times, times[:0]
