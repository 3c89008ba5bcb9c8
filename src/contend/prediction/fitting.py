"""LogGP parameters from measurements: ping-pongs, streams and small all-to-alls on a crossbar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from operator import attrgetter

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ShortfallError
from contend.base.units import counted, format_bytes
from contend.fabric import Fabric
from contend.lab.runs import FEWEST, CellSummary, Estimate, Run, difference, median_interval
from contend.prediction.calibration import (
    COPY_PER_BYTE,
    TWO_KINDS,
    Calibration,
    Parameter,
    SizeClass,
    eager_limit,
)
from contend.routes import load
from contend.traffic.schedule import Cables, Course, Exchange, Schedule, alltoall, carry_out

# A message's header, that of its last packet, and an acknowledgement on the way back, which its
# like in the other direction meet: counted on emulated cables under Open MPI, 108 of a barrier's
# messages and 130 of those of 4 KiB.
_EXTRA = 110.0
# Seconds of a byte: no memory copies faster.
_FASTEST_MEMORY = 1e-12
# contend's probes on crowded processors look a hundred times without pause, then nap.
_PATIENCE = 5e-4
_LOOKS = (0.0, 1e-4, 2e-4, 4e-4, 6e-4, 8e-4, 1.2e-3, 1.6e-3)
_BUFFERS = (0.0, 1.25e5, 2.5e5, 5e5, 1e6, 2e6)
_ONE_AT_A_TIME = ("shift", "shift-barrier")
# Parameters are as good as the best within so much of their mean error.
_AS_GOOD = 0.01
_DRAWS, _MORE_DRAWS_FOR = 7, 6
_NAMED = 2
_VALUE = attrgetter("value")


@dataclass(frozen=True)
class Measurements:
    """The runs that a calibration is taken from."""

    between: Run
    """Ping-pongs and streams between two hosts."""
    within: Run | None = None
    """The same between two ranks of one host; None where there are none."""
    exchanges: Run | None = None
    """All-to-alls of a few ranks on a crossbar; None where there are none."""
    processors: int = 0
    """Number of processors that all ranks of the exchanges share; 0 where each has its own."""
    burst: float = 0.0
    """Bytes that a channel lets pass at once."""
    buffer: float | None = None
    """Bytes that wait for a channel at most, where that is known."""


def fit(measured: Measurements) -> Calibration:
    """Takes the parameters of a place from what was measured there.

    Overhead is the time of a message in a stream of the smallest ones, but no more than half of the
    shortest trip of a ping-pong, latency what that trip takes beyond two overheads, and the gap per
    byte the slope between the two largest sizes of a protocol. What a host takes over, and how
    often waiting ranks look, show in no ping-pong: they are the middle of the values under which
    the model comes nearest to the all-to-alls.

    Raises:
        ShortfallError: a size that it needs has no figure.
    """
    record = measured.between.record
    library = f"{record.library.name} {record.library.version}".strip()
    times = _times(measured.between)
    eager = eager_limit(record.library.name)
    between = _classes(
        times, eager, least=1.0 / record.wire_Bps if record.wire_Bps else _FASTEST_MEMORY
    )
    wire = record.wire_Bps or 1.0 / between[-1].gap_per_byte_s.value
    within = _within(measured.within, between, wire)
    remarks = [
        f"messages of up to {eager:,} bytes are assumed to be sent at once",
        *_kinds(measured),
    ]
    if measured.within is None:
        remarks.append(
            "messages within a host were not measured, so they are assumed to be ten times as fast "
            "as the wire"
        )
    calibration = Calibration(
        library=library,
        wire_Bps=wire,
        burst=measured.burst,
        buffer=measured.buffer,
        between=between,
        within=within,
        extra_bytes=_EXTRA,
        copy_per_byte_s=COPY_PER_BYTE,
        processors=measured.processors,
        patience_s=_PATIENCE if measured.processors else 0.0,
        remarks=tuple(remarks),
    )
    if measured.exchanges is None:
        return calibration
    scattered = msgspec.structs.replace(
        calibration, scatter_per_rank_s=_scatter(measured.exchanges)
    )
    return _fit_waits(scattered, measured.exchanges)


def _kinds(measured: Measurements) -> list[str]:
    """Cells whose median, which all parameters go by, is that of two kinds of samples."""
    runs = {
        "between hosts": measured.between,
        "within one": measured.within,
        "all-to-all": measured.exchanges,
    }
    named = []
    for place, run in runs.items():
        for cell in () if run is None else run.summaries:
            kinds = cell.two_kinds or cell.two_kinds_of_launches
            if kinds is not None:
                size = format_bytes(cell.record.bytes or 0)
                named.append(f"{cell.schedule} of {size} {place} ({kinds})")
    if not named:
        return []
    few = "; ".join(named[:_NAMED])
    others = f"; and {counted(len(named) - _NAMED, 'other')}" if len(named) > _NAMED else ""
    cells = counted(len(named), "cell")
    return [f"samples of {cells} of the calibration {TWO_KINDS}: {few}{others}"]


Times = Mapping[tuple[str, int], Estimate]


def _times(run: Run) -> Times:
    """Seconds of one message, one way, by algorithm and bytes.

    Raises:
        ShortfallError: a cell has too few samples for an interval.
    """
    for cell in run.summaries:
        if cell.median.interval is None:
            size = format_bytes(cell.record.bytes or 0)
            raise ShortfallError(
                f"{cell.schedule} at {size} has {counted(cell.n, 'sample')}, and an interval takes "
                f"{FEWEST}: calibrate on into the same folder with a larger budget"
            )
    return {(cell.record.algorithm, cell.record.bytes or 0): cell.median for cell in run.summaries}


def _sizes(times: Times, algorithm: str) -> list[int]:
    return sorted(size for name, size in times if name == algorithm)


def _classes(
    times: Times, eager: int, *, least: float, alike: bool = False
) -> tuple[SizeClass, ...]:
    """Both protocols; a byte takes `least` seconds even at the lower end of its interval.

    `alike` where one slope from a middling to the largest size does for both.
    """
    streamed = _sizes(times, "stream")
    trips = _sizes(times, "pingpong")
    if len(streamed) < 2 or not trips:
        raise ShortfallError("ping-pongs and streams of several sizes are needed to calibrate")
    trip = min((_parameter(times["pingpong", size]) for size in trips), key=_VALUE)
    half = Parameter(trip.value / 2, trip.low / 2, trip.high / 2)
    # A trip has two overheads in it, and on crowded processors a stream's ranks wait for turns.
    overhead = min(_parameter(times["stream", streamed[0]]), half, key=_VALUE)
    latency = Parameter(
        max(trip.value - 2 * overhead.value, 0.0),
        max(trip.low - 2 * overhead.high, 0.0),
        max(trip.high - 2 * overhead.low, 0.0),
    )
    small = [size for size in streamed if size <= eager]
    slopes = [(True, float(eager), small[-2:]), (False, None, streamed[-2:])]
    if alike:
        slopes = [(at_once, up_to, [small[-2], streamed[-1]]) for at_once, up_to, _ in slopes]
    return tuple(
        SizeClass(
            up_to=up_to,
            eager=at_once,
            latency_s=latency,
            overhead_s=overhead,
            gap_s=overhead,
            gap_per_byte_s=_slope(times, "stream", sizes, least),
        )
        for at_once, up_to, sizes in slopes
        if len(sizes) == 2
    )


def _within(run: Run | None, between: Sequence[SizeClass], wire: float) -> tuple[SizeClass, ...]:
    if run is None:
        gap = Parameter.exactly(0.1 / wire)
        return (msgspec.structs.replace(between[-1], gap_per_byte_s=gap),)
    # Within a host times are short and scatter: neighbouring sizes may seem to take as long.
    eager = eager_limit(run.record.library.name)
    return _classes(_times(run), eager, least=_FASTEST_MEMORY, alike=True)


def _parameter(estimate: Estimate) -> Parameter:
    low, high = estimate.interval or (estimate.value, estimate.value)
    return Parameter(*(max(number, 0.0) for number in (estimate.value, low, high)))


def _slope(times: Times, algorithm: str, sizes: Sequence[int], least: float) -> Parameter:
    """Seconds of a byte more, which may not be below `least`, unless it is so itself."""
    small, large = (times[algorithm, size] for size in sizes)
    more = _parameter(difference(large, small))
    if more.value <= 0:
        raise ShortfallError(
            f"a {algorithm} of {sizes[1]:,} bytes took no longer than one of {sizes[0]:,}"
        )
    apart = sizes[1] - sizes[0]
    value = more.value / apart
    return Parameter(value, min(value, max(more.low / apart, least)), more.high / apart)


def _scatter(run: Run) -> Parameter:
    """How far apart ranks begin an operation that all begin at one time, over their number.

    Of operations in which a rank sends one message before it waits.
    """
    span = (pl.col("start_s").max() - pl.col("start_s").min()) / pl.len()
    spans = (
        run.samples.filter(~pl.col("warmup") & pl.col("algorithm").is_in(_ONE_AT_A_TIME))
        .group_by("launch", "cell", "repetition")
        .agg(span.alias("span"))["span"]
    )
    if spans.is_empty():
        raise ShortfallError("samples of all-to-alls by shift are needed to calibrate")
    return _parameter(median_interval(spans.to_numpy()))


def _fit_waits(calibration: Calibration, run: Run) -> Calibration:
    """Finds how often ranks look and what hosts take over.

    Carries out what was measured with each of them.
    """
    looks = _LOOKS if calibration.processors else (0.0,)
    cases = [_Case.of(cell, calibration) for cell in run.summaries]
    if not cases:
        raise ShortfallError("no all-to-all has a figure")
    every = list(product(looks, _BUFFERS))
    # One draw tells which are worth more.
    every.sort(key=lambda waits: _error(with_waits(calibration, *waits), cases, draws=1))
    tried = {
        waits: _error(with_waits(calibration, *waits), cases, draws=_DRAWS)
        for waits in every[: -(-len(every) // _MORE_DRAWS_FOR)]
    }
    least = min(tried.values())
    good = [waits for waits, error in tried.items() if error <= least + _AS_GOOD]
    # Which of them is the best is chance; the middle is not.
    look, buffer = (
        Parameter(sorted(values)[len(values) // 2], min(values), max(values))
        for values in zip(*good, strict=True)
    )
    found = msgspec.structs.replace(calibration, look_every_s=look, send_buffer=buffer)
    off = math.expm1(_error(found, cases, draws=_DRAWS))
    remark = (
        f"send_buffer and look_every_s are fitted to measured all-to-alls; with them the model is "
        f"{100 * off:.1f} % off these (geometric mean)"
    )
    return msgspec.structs.replace(found, remarks=(*calibration.remarks, remark))


def with_waits(calibration: Calibration, look: float, buffer: float) -> Calibration:
    """A calibration under which ranks look so often, and hosts take over so much of a send."""
    return msgspec.structs.replace(
        calibration,
        look_every_s=Parameter.exactly(look),
        send_buffer=Parameter.exactly(buffer),
    )


@dataclass(frozen=True)
class _Case:
    """An all-to-all that was measured on a crossbar."""

    fabric: Fabric
    schedule: Schedule
    measured: float

    @classmethod
    def of(cls, cell: CellSummary, calibration: Calibration) -> _Case:
        exchange = Exchange(
            cell.record.ranks, cell.record.bytes or 0, copy_per_byte=calibration.copy_per_byte_s
        )
        return cls(
            load(f"crossbar:{exchange.ranks}", need_routes=True),
            alltoall(cell.record.algorithm, exchange),
            cell.median.value,
        )


def _error(calibration: Calibration, cases: Sequence[_Case], *, draws: int) -> float:
    """Mean logarithm by which predictions are off, either way."""
    off = []
    for case in cases:
        seconds = [
            course.seconds
            for course in courses(
                calibration,
                case.fabric,
                case.schedule,
                range(case.schedule.ranks),
                cables=calibration.cables(calibration.wire_Bps),
                draws=draws,
            )
        ]
        off.append(abs(math.log(float(np.median(seconds)) / case.measured)))
    return sum(off) / len(off)


def courses(
    calibration: Calibration,
    fabric: Fabric,
    schedule: Schedule,
    hosts: Sequence[int] | NDArray[np.integer],
    *,
    cables: Cables,
    draws: int,
) -> list[Course]:
    """How a schedule goes, for several draws of when its ranks begin."""
    ranks = len(hosts)
    costs = calibration.costs()
    return [
        carry_out(
            fabric,
            schedule,
            hosts,
            cables,
            costs,
            start=drawn_start(calibration, schedule, ranks, number),
        )
        for number in range(draws)
    ]


def drawn_start(
    calibration: Calibration, schedule: Schedule, ranks: int, number: int
) -> NDArray[np.float64]:
    """When every rank begins in the draw of a number, from 0: uniform over the scatter."""
    scatter = calibration.scatter_per_rank_s.value * ranks
    if 0 < calibration.processors < ranks:
        scatter *= schedule.sent_at_once
    after = _drawn_after(ranks, number)
    return np.asarray(after * (scatter / after.max() if after.max() else 0.0))


@cache
def _drawn_after(ranks: int, number: int) -> NDArray[np.float64]:
    """How long after the first every rank begins, of at most one."""
    drawn: NDArray[np.float64] = np.random.default_rng(number).uniform(0.0, 1.0, ranks)
    return np.asarray(drawn - drawn.min())
