"""The cells of a run: which belong together, and one set of figures for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from contend.base.schema import PythonOnly, Rate, Seconds, Spread, told
from contend.base.units import grouped
from contend.lab.runs.frames import CellEnd, Label
from contend.lab.runs.record import CellRecord, RunRecord
from contend.lab.runs.statistics import (
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

IMPOSSIBLE = 0.9
"""Who takes less than this share of the least time that ports and cables allow sent beyond the
wire: bytes went into buffers, or the wire was said wrong. What takes a little less than the least
is still the network's, as a cable's burst and clocks are not exact."""

NOT_MEASURED = Estimate(math.nan)
"""The median of a cell without samples."""

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
    """What schedules are compared under."""

    ranks: int
    """Number of ranks."""
    hosts: int
    """Number of hosts."""
    by_name: PythonOnly[tuple[tuple[str, Label], ...]] = ()
    """Further conditions, sorted by name."""

    @told
    def labels(self) -> dict[str, Label]:
        """Everything else that the probe says about them."""
        return dict(self.by_name)


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


@dataclass(frozen=True, eq=False, kw_only=True)
class CellSummary:
    """A cell: one schedule at one size under one condition.

    Times are of one operation: half a round trip of a ping-pong, a message of a stream, anything
    else as a whole. Values that need samples are null without them.
    """

    record: Spread[CellRecord]
    """What was measured."""
    schedule: str
    """Name in tables; tells cells of one algorithm apart."""
    condition: PythonOnly[Condition]
    """What schedules are compared under."""
    in_a_row: PythonOnly[int] = 1
    """Operations that a sample times, one after the other."""
    sent: PythonOnly[int | None] = None
    """Bytes that a rank sends in an operation, where that is known."""
    limit: PythonOnly[float | None] = None
    """Bytes per second that a rank can send at most, since its host's port is full then; None where
    that is not known."""
    carried: PythonOnly[float | None] = None
    """Like `limit`, by what cables between switches carry."""
    outran: PythonOnly[bool] = False
    """Whether messages that are timed within its samples were faster than that."""
    by_launch: PythonOnly[Mapping[int, Values]] = field(default_factory=dict)
    """Results that count, by number of the launch, in order; late ones are left out as long as six
    others are there. Starts that go on with a launch count as that one."""
    left_out: PythonOnly[Values] = field(default_factory=lambda: np.empty(0))
    """Late results that do not count."""
    n: int = 0
    """Number of timed samples; 0 if the cell was skipped or failed."""
    late: int = 0
    """Number of samples in which a rank started late."""
    median: PythonOnly[Estimate] = NOT_MEASURED
    """With its interval, see `lab.runs.statistics.combine_launches`."""
    p99_s: Seconds | None = None
    """Seconds that 99 % of the samples took at most."""
    max_s: Seconds | None = None
    """Longest sample in seconds."""
    mean_s: Seconds | None = None
    """Mean in seconds."""
    two_kinds: Modes | None = None
    """Both kinds of samples; null if they are of one kind."""
    ends: PythonOnly[Sequence[CellEnd]] = ()
    """How it ended in every start that began it."""

    @told
    def verified(self) -> bool | None:
        """Whether the received data were right; null if that was not checked."""
        known = {end.verified for end in self.ends}
        if False in known:
            return False
        return True if self.n and True in known else None

    @told
    def ended(self) -> list[str]:
        """Reasons why each launch stopped sampling."""
        return [end.reason for end in self.ends]

    @told
    def said(self) -> list[str]:
        """Texts of the probe about it, each once."""
        return list(dict.fromkeys(end.said for end in self.ends if end.said))

    @told
    def launches(self) -> int:
        """Number of launches that measured it."""
        return len(self.by_launch)

    @cached_property
    def results(self) -> Values:
        """All results that count."""
        return np.concatenate([*self.by_launch.values(), np.empty(0)])

    @told
    def used(self) -> int:
        """Number of samples that the figures rest on."""
        return len(self.results)

    @told
    def median_s(self) -> Seconds | None:
        """Median in seconds."""
        return self.median.value if self.n else None

    @told
    def ci95_s(self) -> tuple[float, float] | None:
        """Both ends of its 95 % interval; null if too little was measured for one."""
        return self.median.ci95

    @told
    def interval_s(self) -> tuple[float, float] | None:
        """Both ends of the interval that there is; null below six samples."""
        return self.median.interval

    @told
    def coverage(self) -> float | None:
        """Least probability with which the interval holds the true median; null without one."""
        return self.median.coverage

    @told
    def rate_Bps_per_rank(self) -> Rate | None:
        """Bytes that a rank sends (p - 1 blocks, or one message) over the median."""
        if self.n and self.sent == 0:
            return 0.0
        return None if self.rate is None else self.rate.value

    @told
    def mean_rate_Bps_per_rank(self) -> Rate | None:
        """All bytes that a rank sent over all time: the harmonic mean of the samples' rates."""
        return self.sent / self.mean_s if self.sent and self.mean_s else None

    @told
    def two_kinds_of_launches(self) -> Modes | None:
        """Launches that are wholly of one kind or the other; null if launches are alike.

        The median is of neither kind then. The share is that of the slow launches.
        """
        return launches_apart([*self.by_launch.values()])

    @told
    def beyond_wire(self) -> bool:
        """Whether ranks sent faster than ports and cables carry.

        Short messages do that go into buffers, or through a cable's burst, at once: what they took
        is no time of the network's.
        """
        shortest = min(self.median.value, self.mean_s) if self.mean_s is not None else 0.0
        return self.outran or 0 < shortest < IMPOSSIBLE * self.least_s

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


def summarise(record: RunRecord, results: pl.DataFrame) -> tuple[CellSummary, ...]:
    """Figures of every cell that has timed samples, in the run's order.

    Args:
        record: of the run.
        results: one row for every sample, as `lab.runs.Run.results`.
    """
    names = schedule_names(record.cells)
    every_end = (end for launch in record.launches for end in launch.ends)
    ends = grouped(every_end, lambda end: end.cell)
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


def without_samples(record: RunRecord, cell: CellRecord) -> CellSummary:
    """A cell that was skipped, or failed before its first sample."""
    return CellSummary(
        record=cell,
        schedule=cell.algorithm,
        condition=condition(cell),
        ends=record.ends_of(cell.cell),
    )


def _summary(
    record: RunRecord, cell: CellRecord, schedule: str, rows: pl.DataFrame, ends: Sequence[CellEnd]
) -> CellSummary:
    repeated = in_a_row(record.probe, cell)
    times = rows["result_s"].to_numpy() / repeated
    late = rows["late"].to_numpy()
    launch = rows["launch"].to_numpy()
    counting = {
        int(number): _counting(times[launch == number], late[launch == number])
        for number in np.unique(launch)
    }
    by_launch = {number: values for number, (values, _) in counting.items()}
    launches = [*by_launch.values()]
    used = np.concatenate(launches)
    return CellSummary(
        record=cell,
        schedule=schedule,
        condition=condition(cell),
        in_a_row=repeated,
        sent=bytes_sent(record.probe, cell),
        limit=rate_limit(record.probe, cell, record.wire_Bps),
        carried=record.carried_Bps.get(cell.cell),
        by_launch=by_launch,
        left_out=np.concatenate([left for _, left in counting.values()]),
        n=len(times),
        late=int(late.sum()),
        median=combine_launches(launches),
        p99_s=quantile(used, 0.99),
        max_s=float(used.max()),
        mean_s=float(used.mean()),
        two_kinds=modes_of(launches),
        ends=ends,
    )


def _counting(times: Values, late: np.ndarray) -> tuple[Values, Values]:
    """Results that count, and the late ones that do not.

    Where ranks share processors every sample may be late: too few others let all count.
    """
    if np.count_nonzero(~late) >= FEWEST:
        return times[~late], times[late]
    return times, times[:0]
