"""What is known of one cell, times and bounds, and the thresholds that prove a limit.

Every limit but a failure is a *bound*: a least time, in seconds, that the cell cannot be faster
than. The page of decisions on explanations has the reason for each threshold; they stand here and
nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from contend.emulation import Drops
from contend.measurement import NEAR
from contend.runs import Modes
from contend.units import counted, format_bytes, verb

REACHED = 2.0
"""A limit is hit where the measurement takes at most this many times its bound: half or more of the
time is what the limit costs anyhow."""
IMPOSSIBLE = 0.9
"""Below this share of a bound the bound cannot hold: the wire was said wrong, or bytes went into
buffers. Such a bound proves nothing."""
AS_TIGHT = 0.9
"""Port and fabric are both named where the lesser bound is at least this share of the larger."""
TIME_OUT_S = 0.2
"""What TCP waits at least before it sends a lost packet again (Linux, and RFC 6298 with it)."""
A_TIME_OUT_S = 0.9 * TIME_OUT_S
"""Time that must be lost before a time-out is spoken of."""
STALLED = 1.5
"""With two kinds of samples their mean must be this many times the faster kind: time-outs cost a
third of the time or more."""
BEYOND_SCHEDULES = 4.0
"""Packets were dropped and the time is more than this many times all bounds: no schedule known to
contend wastes so much without time-outs."""
FALLEN = 2.0
"""Larger messages that go at less than one over this of the rate of messages up to ..."""
NEIGHBOURS = 4
"""... this many times smaller have collapsed."""
SPREAD = 0.5
"""Of published means: the standard deviation must be this share of what time-outs that strike at
random, enough of them for the mean, would give."""
NEAR_MEMORY = float(NEAR)
"""A failure counts as one of memory where the data take this share of it at least."""
FULL_MEMORY = 0.9
"""Data that take this share of a memory explain by themselves that it is full."""
LATE_S = 1e-5
"""Ranks that start within so many seconds of each other start together."""
SIZES_APART = 4
"""The line that tells the time of no bytes goes through two sizes that differ by this factor."""
SMALL_SHARE = 0.1
"""Of a program's run time: a program that is in MPI for less computes, and a place in it that takes
less is not judged by itself, but where ranks wait long."""
SMALL_BYTES = 1024
"""Of a program's messages: up to this size they take what messages of no size take, but for what a
known wire needs for their bytes."""
FASTEST = 0.1
"""The calls of a routine that take least: what the slowest of this share of them takes is what a
call takes when nobody is late."""
FEWEST_CALLS = 10
"""Of fewer calls the fastest are not told from the others."""
MESSAGE_S = 1e-3
"""A small message that takes longer even then waits for something else than latency."""


class Limit(StrEnum):
    """What stands in a measurement's way, in the order in which several are told."""

    HANG = "a hang"
    CRASH = "a crash"
    COMPUTATION = "computation"
    MEMORY = "memory"
    HOST_QUEUES = "time-outs from the hosts' own full queues"
    TIME_OUTS = "time-outs from full buffers"
    FABRIC = "the fabric"
    PORT = "the injection port"
    OVERHEAD = "latency or software overhead"
    IMBALANCE = "imbalance"
    FILES = "file input and output"
    PROCESSORS = "shared processors"


@dataclass(frozen=True)
class Bound:
    """The least time that a limit allows.

    Attributes:
        limit: which.
        seconds: of one operation.
        of: what it is computed from, for people.
        measured_s: seconds that it is held against, where that is not the cell's median.
        channels: names of the channels that it is computed from, fullest first (fabric).
        load: messages on the fullest of them (fabric).
    """

    limit: Limit
    seconds: float
    of: str
    measured_s: float | None = None
    channels: tuple[str, ...] = ()
    load: int = 0


@dataclass(frozen=True)
class Memory:
    """Bytes that the data of a host need, and those that it has."""

    needed: int
    available: int

    @property
    def share(self) -> float:
        """Part of the memory that the data need."""
        return self.needed / self.available

    def __str__(self) -> str:
        return (
            f"{format_bytes(self.needed)} of data on a host of {format_bytes(self.available)} "
            f"({100 * self.share:.0f} %)"
        )


@dataclass(frozen=True)
class FastestRival:
    """The fastest other schedule that did the same work under the same conditions."""

    schedule: str
    seconds: float


@dataclass(frozen=True)
class Stalled:
    """Calls of a program that lost a time-out.

    Attributes:
        calls: how many.
        longest_s: the longest of them.
        lost_s: seconds that a rank lost in them, in the mean over ranks.
        place: where most of the time was lost, for people.
    """

    calls: int
    longest_s: float
    lost_s: float
    place: str


@dataclass(frozen=True)
class Evidence:
    """Everything that speaks for or against a limit of one cell.

    Attributes:
        cell: what was measured, for people.
        told: phrases in it that other cells may have too.
        series: what belongs together in a sentence, such as a schedule.
        at: which of the series, with its preposition, such as ``at 64 KiB``.
        condition: everything but schedule and size; cells that share it are compared.
        schedule: name of the schedule or the kind of messages.
        bytes: to one destination; None where that is not known.
        ranks: how many; None where that is not known.
        measured_s: seconds of one operation: the median, or that of the faster of two kinds of
            samples; None where it failed.
        low_s: lower end of its interval; `measured_s` where none is known.
        high_s: upper end.
        mean_s: what an operation takes on average where samples are of two kinds.
        modes: the two kinds.
        deviation_s: standard deviation, of published means.
        published: whether somebody else measured it.
        bounds: of port, fabric, overhead, late ranks.
        volume: how many times the bytes its schedule may send, since it passes blocks on.
        messages: how many messages a rank sends; None where that is not known.
        crowded: ranks on each processor, where ranks share processors.
        hosts: how many; 0 where that is not known.
        drops: packets that found queues full during the whole run; None where nobody counted.
        drops_by_place: the same by where the queue was; None where that is not known.
        fall: how many times lower the rate is than that of similar sizes, where it falls.
        rival: the fastest other schedule.
        stalled: calls of a program that lost time-outs; None where there are none.
        hung: since when a program hung; "" where it did not.
        crashed: how a program ended early; "" where it did not.
        rise: how many times longer it takes than without rivals (hot spots).
        memory: what the data need; None where that is not known.
        per_byte: how many times longer a byte takes than where data are smaller.
        failure: why there is no figure; "" where there is one, or nobody said.
        failed: whether there is none.
        out_of_memory: whether it is known that memory was lacking.
    """

    cell: str
    condition: tuple[object, ...]
    schedule: str
    bytes: int | None
    ranks: int | None
    measured_s: float | None
    low_s: float | None = None
    high_s: float | None = None
    mean_s: float | None = None
    modes: Modes | None = None
    deviation_s: float | None = None
    published: bool = False
    bounds: tuple[Bound, ...] = ()
    volume: float = 1.0
    messages: int | None = None
    crowded: float | None = None
    hosts: int = 0
    drops: int | None = None
    drops_by_place: Drops | None = None
    fall: float | None = None
    rival: FastestRival | None = None
    stalled: Stalled | None = None
    hung: str = ""
    crashed: str = ""
    rise: float | None = None
    memory: Memory | None = None
    per_byte: float | None = None
    failure: str = ""
    failed: bool = False
    told: tuple[str, ...] = ()
    series: str = ""
    at: str = ""
    out_of_memory: bool = False

    @property
    def dropped(self) -> str:
        """How many packets were dropped, and where, as a clause; "" where none is known to be."""
        if not self.drops:
            return ""
        if self.drops_by_place is not None:
            return str(self.drops_by_place)
        return f"{counted(self.drops, 'packet')} {verb(self.drops, 'was')} dropped by full buffers"

    def bound(self, limit: Limit) -> Bound | None:
        """The largest bound of a limit; None where there is none."""
        bounds = [bound for bound in self.bounds if bound.limit is limit]
        return max(bounds, key=lambda bound: bound.seconds, default=None)

    def ratio(self, bound: Bound) -> float:
        """How many times a bound the measurement takes."""
        measured = self.measured_s if bound.measured_s is None else bound.measured_s
        return math.nan if measured is None else measured / bound.seconds

    @property
    def alone(self) -> bool:
        """Whether all ranks are on one host, so that no message crosses a network."""
        return self.hosts == 1

    @property
    def typical_s(self) -> float | None:
        """What an operation takes, both kinds of samples together."""
        return self.measured_s if self.mean_s is None else self.mean_s

    @property
    def possible(self) -> tuple[Bound, ...]:
        """Bounds that can hold: the measurement is not faster; the largest of each limit."""
        largest = (self.bound(limit) for limit in Limit)
        return tuple(b for b in largest if b is not None and self.ratio(b) >= IMPOSSIBLE)

    @property
    def network_s(self) -> float:
        """The largest bound of port and fabric; 0 where there is none."""
        network = (Limit.PORT, Limit.FABRIC)
        return max((b.seconds for b in self.possible if b.limit in network), default=0.0)
