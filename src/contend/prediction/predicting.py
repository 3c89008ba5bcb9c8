"""All-to-alls predicted: carried out over time, and beside it rounds counted by 1/π."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend.base.progress import step
from contend.base.schema import LeftOut, PythonOnly, Rate, Seconds, Share, Size, told
from contend.base.units import format_bytes
from contend.congestion import MessageCongestion, heat, message_congestion
from contend.lab.runs import CellSummary, port_limit
from contend.prediction.calibration import Calibration
from contend.prediction.conditions import PredictionConditions
from contend.prediction.fitting import courses
from contend.routes.addresses import expect_memory
from contend.traffic.schedule import (
    DIRECT,
    MEMBERS,
    ROUTED,
    WAITS,
    Action,
    Course,
    Exchange,
    Schedule,
    alltoall,
    choose,
    messages_of,
)

_MANY = 3
# Bytes that a message takes, from its schedule to its end.
_OF_A_MESSAGE = 460


@dataclass(frozen=True)
class Piling:
    """What may wait in front of a channel at once."""

    channel: str
    """Name of the channel."""
    messages: int
    """Number of messages that cross it in one round."""
    bytes: float
    """Bytes of all of them."""
    buffer: float
    """Bytes that it holds."""

    @property
    def overflows(self) -> bool:
        """Whether packets may be dropped so often that time-outs rule.

        Two messages share a buffer well enough: each hears of a drop by what follows. From three
        on, what they send before they hear of it does not fit.
        """
        return self.messages >= _MANY and self.bytes > self.buffer

    @property
    def badness(self) -> tuple[bool, float]:
        """What is worse comes after in this order."""
        return self.overflows, self.bytes


def worst_piling(
    messages: NDArray[np.integer] | NDArray[np.float64],
    size: NDArray[np.float64],
    where: PredictionConditions,
) -> Piling | None:
    """The channel of a switch where most may be dropped, or else most waits.

    Hosts do not drop their own.

    Args:
        messages: that meet on every channel, shape [channels].
        size: bytes of all of them, shape [channels].
        where: fabric and buffers.

    Returns:
        None where buffers are not known, or no two messages meet.
    """
    if where.buffer is None:
        return None
    fabric = where.fabric
    counted, waiting = np.array(messages, np.int64), np.array(size, np.float64)
    into_network = slice(2 * fabric.cables, 2 * fabric.cables + fabric.hosts)
    counted[into_network] = 0
    waiting[counted < 2] = 0
    overflows = (counted >= _MANY) & (waiting > where.buffer)
    among = np.flatnonzero(overflows) if overflows.any() else np.arange(len(counted))
    channel = int(among[np.argmax(waiting[among])])
    if counted[channel] < 2:
        return None
    return Piling(
        fabric.channel_name(channel), int(counted[channel]), float(waiting[channel]), where.buffer
    )


LIBRARY = "library"
DRAWS = 5
"""How often a cell is carried out, each time with other starts of its ranks."""


@dataclass(frozen=True, kw_only=True)
class PredictedExchange:
    """An all-to-all by one algorithm with one size."""

    algorithm: str
    """Algorithm as it was asked for."""
    carried_out: str
    """Algorithm that carries it out; another one if the library chooses."""
    bytes: Size
    """Bytes that each rank sends to each other."""
    ranks: int
    """Number of ranks."""


@dataclass(frozen=True, kw_only=True)
class Prediction(PredictedExchange):
    """What an all-to-all takes by one algorithm with one size."""

    predicted_s: Seconds
    """Seconds, the median over draws of when ranks begin."""
    interval_s: tuple[Seconds, Seconds]
    """Least and largest of them, with all costs at the favourable ends of their intervals and at
    the others."""
    counted_s: Seconds
    """Seconds of rounds one after the other, each as long as its fullest channel takes."""
    piling: Piling | None
    """Where most can pile up; null if buffers are not known, or nowhere."""
    crowded: bool
    """Whether messages go off at once on more ranks than processors, which makes `predicted_s`
    doubtful."""
    hottest: PythonOnly[int]
    """Number of the channel that needs most time for the bytes that cross it."""
    fullest_channel: str
    """Name of the hottest channel, which needs most time for the bytes that cross it."""
    fullest_share: Share
    """Part of the time in which it is busy."""
    limit: PythonOnly[float | None] = None
    """Bytes per second of a rank at which the ports of hosts are full; None on one host."""
    measured: PythonOnly[CellSummary | None] = None
    """What was measured of it."""

    @told
    def rate_Bps_per_rank(self) -> Rate:
        """Bytes per second that a rank sends."""
        return (self.ranks - 1) * self.bytes / self.predicted_s

    @told
    def collapses(self) -> bool:
        """Whether time-outs may occur, so that `predicted_s` is only a lower bound."""
        return self.piling is not None and self.piling.overflows

    @told
    def measured_s(self) -> LeftOut[Seconds]:
        """Seconds that were measured, their median."""
        return None if self.measured is None else self.measured.median.value

    @told
    def ratio(self) -> LeftOut[float]:
        """Quotient of `predicted_s` and `measured_s`."""
        return None if self.measured_s is None else self.predicted_s / self.measured_s


def carried_out(algorithm: str, exchange: Exchange, where: PredictionConditions) -> str:
    """The algorithm itself, or the one that the library chooses for an exchange."""
    if algorithm != LIBRARY:
        return algorithm
    return choose(where.calibration.library, "alltoall", exchange.ranks, exchange.size)


def schedule_of(
    algorithm: str, exchange: Exchange, where: PredictionConditions
) -> tuple[str, Exchange, Schedule]:
    """The algorithm that carries an all-to-all out, what it exchanges, and what its ranks do.

    Raises:
        UsageError: no such algorithm, not for so many ranks, or hosts without routes.
        MissingError: memory is short for the messages.
    """
    calibration = where.calibration
    name = carried_out(algorithm, exchange, where)
    exchange = replace(
        exchange,
        hosts=[int(host) for host in where.hosts],
        copy_per_byte=calibration.copy_per_byte_s,
        phases=where.phases if name in ROUTED else None,
    )
    messages = messages_of(name, exchange)
    expect_memory(
        _OF_A_MESSAGE * messages,
        f"{name} between {exchange.ranks:,} ranks has {messages:,} messages, which need",
        instead=lambda: "take fewer ranks, or contend predict collectives",
    )
    return name, exchange, alltoall(name, exchange)


def predict_alltoall(algorithm: str, exchange: Exchange, where: PredictionConditions) -> Prediction:
    """Predicts what ``contend measure alltoall`` measures of one algorithm and size.

    Args:
        algorithm: of `traffic.schedule.ALGORITHMS`, or ``library``.
        exchange: ranks, size and the algorithms' own options.
        where: fabric, hosts and costs.

    Raises:
        UsageError: no such algorithm, not for so many ranks, or hosts without routes.
        MissingError: memory is short for the messages.
    """
    calibration = where.calibration
    name, exchange, schedule = schedule_of(algorithm, exchange, where)

    def went(costs: Calibration, draws: int) -> list[Course]:
        cables = replace(where, calibration=costs).cables
        with step(f"{name}, {format_bytes(exchange.size)}"):
            return courses(costs, where.fabric, schedule, where.hosts, cables=cables, draws=draws)

    drawn = went(calibration, DRAWS)
    seconds = [course.seconds for course in drawn]
    # The first draw with all costs at either end of their intervals tells what these leave open.
    off = [1.0, *(went(costs, 1)[0].seconds / seconds[0] for costs in calibration.ends)]
    rounds = rounds_of(schedule, phased=name in DIRECT and name in MEMBERS)
    with step(f"rounds of {name}") as tell:
        counts = _count(rounds, where, tell)
    hottest = int(np.argmax(heat(drawn[0].channel_bytes, where.rates)))
    return Prediction(
        algorithm=algorithm,
        carried_out=name,
        bytes=exchange.size,
        ranks=exchange.ranks,
        predicted_s=float(np.median(seconds)),
        interval_s=(min(seconds) * min(off), max(seconds) * max(off)),
        counted_s=counts.seconds,
        piling=counts.piling,
        crowded=0 < calibration.processors < exchange.ranks and calibration.is_eager(exchange.size),
        hottest=hottest,
        fullest_channel=where.fabric.channel_name(hottest),
        fullest_share=float(drawn[0].channel_busy[hottest]) / seconds[0],
        limit=port_limit(exchange.ranks, int(np.bincount(where.hosts).max()), where.rate),
    )


_Round = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class _Counts:
    seconds: float
    piling: Piling | None


def _count(
    rounds: Sequence[_Round], where: PredictionConditions, tell: Callable[[float], None]
) -> _Counts:
    """Rounds one after the other, each message with 1/π of its route (Hoefler 2008, 3.1).

    Where channels differ in rate, with the least of rate over load.
    """
    hosts = np.asarray(where.hosts)
    largest = where.calibration.between[-1]
    stretch = largest.gap_per_byte_s.value * where.calibration.wire_Bps
    latency = largest.latency_s.value + 2 * largest.overhead_s.value
    seconds, worst = 0.0, None
    for number, (source, target, size) in enumerate(rounds):
        tell(number / len(rounds))
        congestion = message_congestion(where.fabric, hosts[source], hosts[target])
        slowdown = _slowdown(congestion, where, hosts[source], hosts[target])
        seconds += latency + stretch * float((slowdown * size).max()) / where.rate
        meeting = congestion.channel_messages.astype(np.int64)
        piling = worst_piling(meeting, meeting.astype(np.float64) * size.max(), where)
        if piling is not None and (worst is None or piling.badness > worst.badness):
            worst = piling
    return _Counts(seconds, worst)


def _slowdown(
    congestion: MessageCongestion,
    where: PredictionConditions,
    source: NDArray[np.integer],
    target: NDArray[np.integer],
) -> NDArray[np.floating] | NDArray[np.uint32]:
    """How much longer messages take than alone between two of the fastest ports."""
    if bool((where.rates == where.rate).all()):
        return congestion.congestion
    ports = where.rates[2 * where.fabric.cables :][: where.fabric.hosts] / where.rate
    alone = np.minimum(ports[source], ports[target])
    return np.where(congestion.congestion > 0, 1 / (congestion.bandwidth * alone), 0.0)


def rounds_of(schedule: Schedule, *, phased: bool) -> Sequence[_Round]:
    """Source rank, target rank and bytes of the messages that are sent in every round.

    The sends of a rank between two waits belong to one round; messages without bytes to none. Where
    ranks may sit a phase out, messages have their phase's tag, and those of a tag are a round.
    """
    sends = (schedule.action == Action.SEND) & (schedule.amount > 0)
    begin = schedule.begin.astype(np.int64)
    strand = np.repeat(np.arange(len(schedule.begin) - 1), np.diff(begin))
    at = np.flatnonzero(sends)
    number = schedule.tag[at].astype(np.int64) if phased else _turns(schedule, strand, sends)[at]
    order = np.argsort(number, kind="stable")
    ends = np.flatnonzero(np.diff(number[order])) + 1
    source = schedule.rank_of_strand[strand[at]].astype(np.int64)
    target = schedule.rank_of_strand[schedule.peer[at]].astype(np.int64)
    columns = (source, target, schedule.amount[at])
    rounds = zip(*(np.split(column[order], ends) for column in columns), strict=True)
    return list(rounds) if len(at) else []


def _turns(
    schedule: Schedule, strand: NDArray[np.int64], sends: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """How often a strand had sent and then waited before each of its operations."""
    waits = np.flatnonzero(np.isin(schedule.action, WAITS))
    sent = np.append(0, np.cumsum(sends))
    first = schedule.begin[:-1].astype(np.int64)
    # What had been sent at the wait before, or when the strand began.
    before = np.maximum(np.append(0, waits[:-1]), first[strand[waits]])
    turned = np.zeros(len(strand) + 1, dtype=np.int64)
    turned[waits + 1] = sent[waits] > sent[before]
    turns = np.cumsum(turned)[:-1]
    return turns - turns[first[strand]]
