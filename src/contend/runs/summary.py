"""The cells of a run: which belong together, and one set of figures for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from contend.runs.frames import Label
from contend.runs.record import CellEnd, CellRecord, RunRecord
from contend.runs.statistics import (
    FEWEST,
    Estimate,
    Modes,
    Values,
    combine_launches,
    launches_apart,
    modes_of,
    quantile,
)

COMPARED = ("alltoall", "sort")
"""Probes whose algorithms do the same work, so that one of them can win."""
ROUND_TRIPS = ("pingpong", "bounce")
"""Algorithms of ping-pong that send a message there and back."""

# Probes in which a message goes between two ranks that share their ports with no others.
_PAIRS = ("pingpong", "bisect", "hotspot")
# Labels that choose among forms of one algorithm; all others are conditions that any has to meet.
_PARAMETERS = ("batch", "in_flight", "radix", "ranks_per_node")
# Labels that go along with the size of messages.
_SIZES = ("n", "m", "arrays_bytes")
# Labels that say how a sample was made and change nothing about what it stands for.
_MANNER = ("inner", "window")


@dataclass(frozen=True)
class Condition:
    """What schedules are compared under.

    Attributes:
        ranks: number of ranks.
        hosts: number of hosts.
        labels: further conditions, sorted by name.
    """

    ranks: int
    hosts: int
    labels: tuple[tuple[str, Label], ...] = ()


def condition(cell: CellRecord, *, with_sizes: bool = False) -> Condition:
    """The condition of a cell, optionally with labels that go along with its size."""
    left_out = (*_PARAMETERS, *_MANNER, *(() if with_sizes else _SIZES))
    labels = tuple((n, v) for n, v in sorted(cell.labels.items()) if n not in left_out)
    return Condition(cell.ranks, cell.hosts, labels)


def schedule_names(cells: Iterable[CellRecord]) -> dict[int, str]:
    """Name of every cell's schedule, by the cell's number.

    It is the algorithm's; where a run has an algorithm with several values of a parameter, they
    follow: ``inflight, in flight 8``.
    """
    listed = list(cells)
    values: dict[tuple[str, str], set[Label]] = {}
    for cell in listed:
        for name in _PARAMETERS:
            if name in cell.labels:
                values.setdefault((cell.algorithm, name), set()).add(cell.labels[name])
    names = {}
    for cell in listed:
        chosen = [
            f"{name.replace('_', ' ')} {cell.labels[name]}"
            for name in _PARAMETERS
            if len(values.get((cell.algorithm, name), ())) > 1 and name in cell.labels
        ]
        names[cell.cell] = ", ".join([cell.algorithm, *chosen])
    return names


def in_a_row(probe: str, cell: CellRecord) -> int:
    """How many messages one after the other a sample times; its result is divided by them.

    A ping-pong's sample is ``inner`` times there and back, a stream's ``inner`` windows of
    ``window`` messages. Everything else times one operation.
    """
    if probe != "pingpong":
        return 1
    inner, window = (_count(cell.labels.get(name)) for name in ("inner", "window"))
    return 2 * inner if cell.algorithm in ROUND_TRIPS else inner * window


def bytes_sent(probe: str, cell: CellRecord) -> int | None:
    """Bytes that a rank sends in one operation; None when the probe's do not say it.

    That is (p - 1) times the bytes per destination in an all-to-all and in a sort's exchange, one
    message in a ping-pong, and one of several packets in a pattern.
    """
    if cell.bytes is None:
        return None
    if probe in COMPARED:
        return (cell.ranks - 1) * cell.bytes
    if probe == "bisect":
        return cell.bytes * _count(cell.labels.get("packets"))
    return cell.bytes if probe == "pingpong" else None


def rate_limit(probe: str, cell: CellRecord, wire: float | None) -> float | None:
    """Bytes per second that a rank can send at most by what hosts' ports carry.

    In an all-to-all ranks share their host's port, see `port_limit`. A message between two ranks
    has it for itself at best.

    Args:
        probe: what was measured.
        cell: under which conditions.
        wire: bytes per second of a host's port, each way.

    Returns:
        None where it is not known, or no message leaves a host.
    """
    if wire is None or cell.hosts < 2:
        return None
    if probe in _PAIRS:
        return wire
    return port_limit(cell.ranks, -(-cell.ranks // cell.hosts), wire) if probe in COMPARED else None


def port_limit(ranks: int, ranks_per_host: int, wire: float) -> float | None:
    """Bytes per second of a rank in an all-to-all at which the ports of hosts are full.

    A rank's rate counts all p - 1 messages; of those only p - k leave a host of k ranks, which
    share its port: wire · (p - 1) / (k (p - k)). None where no message leaves a host.
    """
    if ranks_per_host >= ranks:
        return None
    return wire * (ranks - 1) / (ranks_per_host * (ranks - ranks_per_host))


def _count(label: Label) -> int:
    return label if type(label) is int and label > 0 else 1


@dataclass(frozen=True)
class CellSummary:
    """Figures of one cell; times are of one operation, in seconds.

    Attributes:
        record: what was measured.
        schedule: name of its schedule.
        condition: what schedules are compared under.
        in_a_row: operations that a sample times, one after the other.
        sent: bytes that a rank sends in an operation, where that is known.
        limit: bytes per second that a rank can send at most, since its host's port is full then;
            None where that is not known.
        launches: the results that count, for every launch in order; late ones are left out as long
            as six others are there.
        numbers: of those launches; starts that go on with a launch count as that one.
        left_out: the late ones that do not count.
        n: samples, warm-ups not among them.
        late: how many of them were late.
        median: with its interval, see `contend.runs.statistics.combine_launches`.
        p99_s: what 99 % of the results that count do not exceed.
        max_s: the largest of them.
        mean_s: their mean; sent / mean is the harmonic mean of the samples' rates.
        modes: two kinds of samples, see `contend.runs.statistics.modes_of`; None when of one kind.
        verified: whether data were right wherever they were looked at; None: nowhere.
        reasons: why the cell ended in each launch that began it.
        said: what probes said about it, each once.
        carried: like `limit`, by what cables between switches carry.
    """

    record: CellRecord
    schedule: str
    condition: Condition
    in_a_row: int
    sent: int | None
    limit: float | None
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
    carried: float | None = None

    @property
    def used(self) -> Values:
        """All results that count."""
        return np.concatenate(self.launches)

    @property
    def apart(self) -> Modes | None:
        """Two kinds of launches, see `contend.runs.statistics.launches_apart`."""
        return launches_apart(self.launches)

    @property
    def by_launch(self) -> dict[int, Values]:
        """The results that count, by the launch's number."""
        return dict(zip(self.numbers, self.launches, strict=True))

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
        return Estimate(self.sent / self.median.value, low, high, self.median.promised)

    @property
    def least_s(self) -> float:
        """What an operation takes at least by what ports and cables carry; 0 where nobody knows."""
        known = [most for most in (self.limit, self.carried) if most is not None]
        return (self.sent or 0) / min(known) if known else 0.0

    @property
    def beyond_wire(self) -> bool:
        """Whether ranks sent faster than hosts' ports and cables between switches carry.

        What so short messages took is no time of the network's: they went into buffers at once,
        such as the burst that a token bucket lets pass after a pause.
        """
        return 0 < min(self.median.value, self.mean_s) < self.least_s

    @property
    def mean_rate(self) -> float | None:
        """Harmonic mean of the samples' rates: all bytes over all time."""
        return self.sent / self.mean_s if self.sent and self.mean_s > 0 else None


def summarise(record: RunRecord, results: pl.DataFrame) -> tuple[CellSummary, ...]:
    """Figures of every cell that has timed samples, in the run's order.

    Args:
        record: of the run.
        results: one row for every sample, as `contend.runs.Run.results`.
    """
    names = schedule_names(record.cells)
    ends: dict[int, list[CellEnd]] = {}
    for launch in record.launches:
        for end in launch.ends:
            ends.setdefault(end.cell, []).append(end)
    timed = results.filter(~pl.col("warmup"))
    begun_again = {
        launch.number: launch.whole for launch in record.launches if launch.of is not None
    }
    if begun_again:
        timed = timed.with_columns(pl.col("launch").replace(begun_again))
    # Sorted by cell, each is a slice: nothing is filtered once for every cell.
    ordered = timed.sort("cell", "launch", maintain_order=True)
    numbers, counts = np.unique(ordered["cell"].to_numpy(), return_counts=True)
    stops = np.cumsum(counts)
    summaries = []
    for number, start, stop in zip(numbers, stops - counts, stops, strict=True):
        cell = record.cells[int(number)]
        rows = ordered[int(start) : int(stop)]
        summaries.append(_summary(record, cell, names[cell.cell], rows, ends.get(cell.cell, [])))
    return tuple(summaries)


def _summary(
    record: RunRecord, cell: CellRecord, schedule: str, rows: pl.DataFrame, ends: Sequence[CellEnd]
) -> CellSummary:
    repeated = in_a_row(record.probe, cell)
    times = rows["result_s"].to_numpy() / repeated
    late = rows["late"].to_numpy()
    launch = rows["launch"].to_numpy()
    numbers = tuple(int(number) for number in np.unique(launch))
    counting = [_counting(times[launch == number], late[launch == number]) for number in numbers]
    launches = tuple(values for values, _ in counting)
    used = np.concatenate(launches)
    verified = {end.verified for end in ends} - {None}
    return CellSummary(
        record=cell,
        schedule=schedule,
        condition=condition(cell),
        in_a_row=repeated,
        sent=bytes_sent(record.probe, cell),
        limit=rate_limit(record.probe, cell, record.wire_Bps),
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
        carried=record.carried_Bps.get(cell.cell),
    )


def _counting(times: Values, late: np.ndarray) -> tuple[Values, Values]:
    """Results that count, and the late ones that do not.

    Where ranks share processors every sample may be late: too few others let all count.
    """
    if np.count_nonzero(~late) >= FEWEST:
        return times[~late], times[late]
    return times, times[:0]


_COLUMNS: dict[str, pl.DataType] = {
    "cell": pl.UInt32(),
    "algorithm": pl.String(),
    "schedule": pl.String(),
    "bytes": pl.Int64(),
    "ranks": pl.UInt32(),
    "hosts": pl.UInt32(),
    "n": pl.UInt32(),
    "used": pl.UInt32(),
    "late": pl.UInt32(),
    "launches": pl.UInt32(),
    "median_s": pl.Float64(),
    "ci95_low_s": pl.Float64(),
    "ci95_high_s": pl.Float64(),
    "low_s": pl.Float64(),
    "high_s": pl.Float64(),
    "coverage": pl.Float64(),
    "p99_s": pl.Float64(),
    "max_s": pl.Float64(),
    "mean_s": pl.Float64(),
    "rate_Bps_per_rank": pl.Float64(),
    "mean_rate_Bps_per_rank": pl.Float64(),
    "slow_share": pl.Float64(),
    "slow_s": pl.Float64(),
    "beyond_wire": pl.Boolean(),
    "verified": pl.Boolean(),
    "reasons": pl.String(),
}
# Columns that a cell's record, or a cell, has under the same name.
_OF_RECORD = ("cell", "algorithm", "bytes", "ranks", "hosts")
_OF_CELL = ("schedule", "n", "late", "p99_s", "max_s", "mean_s", "beyond_wire", "verified")


def cell_table(cells: Sequence[CellSummary]) -> pl.DataFrame:
    """One row for every cell.

    Times are of one operation, in seconds; rates are bytes per second that a rank sends, at the
    median and (``mean_rate``) as the harmonic mean over samples. ``used`` counts the samples that
    the figures rest on. ``low_s`` and ``high_s`` are the median's interval, which holds it with
    ``coverage`` at least; ``ci95_low_s`` and ``ci95_high_s`` repeat it where that is 95 %.
    ``slow_share`` and ``slow_s`` are of the slower of two kinds of samples, where there are two.
    ``beyond_wire`` is true where ranks sent faster than ports and cables carry.
    The cells' other labels follow as text; one that is called like a column gets ``label_`` before
    its name.
    """
    rows = [_row(cell) for cell in cells]
    labels = dict.fromkeys(name for cell in cells for name in cell.record.labels)
    for name in labels:
        column = f"label_{name}" if name in _COLUMNS else name
        for row, cell in zip(rows, cells, strict=True):
            value = cell.record.labels.get(name)
            row[column] = None if value is None else str(value)
    names = [f"label_{name}" if name in _COLUMNS else name for name in labels]
    return pl.DataFrame(rows, schema={**_COLUMNS, **dict.fromkeys(names, pl.String())})


def _row(cell: CellSummary) -> dict[str, Any]:
    rate, modes, median = cell.rate, cell.modes, cell.median
    ci95_low, ci95_high = median.ci95 or (None, None)
    return {
        **{name: getattr(cell.record, name) for name in _OF_RECORD},
        **{name: getattr(cell, name) for name in _OF_CELL},
        "used": len(cell.used),
        "launches": len(cell.launches),
        "median_s": median.value,
        "ci95_low_s": ci95_low,
        "ci95_high_s": ci95_high,
        "low_s": median.low,
        "high_s": median.high,
        "coverage": median.coverage,
        "rate_Bps_per_rank": None if rate is None else rate.value,
        "mean_rate_Bps_per_rank": cell.mean_rate,
        "slow_share": None if modes is None else modes.slow_share,
        "slow_s": None if modes is None else modes.slow_s,
        "reasons": ", ".join(dict.fromkeys(cell.reasons)),
    }
