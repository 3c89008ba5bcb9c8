"""What is known of one cell, times and bounds, and the thresholds that prove a limit.

Every limit but a failure is a *bound*: a least time, in seconds, that the cell cannot be faster
than. The page of decisions on explanations has the reason for each threshold; they stand here and
nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from contend.base.schema import PythonOnly, Seconds, told
from contend.base.units import counted, format_bytes, verb
from contend.lab.emulation import Drops
from contend.lab.measurement import NEAR
from contend.lab.runs import IMPOSSIBLE, Modes

REACHED = 2.0
"""A limit is hit where the measurement takes at most this many times its bound: half or more of the
time is what the limit costs anyhow."""
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
    """The least time that a limit allows."""

    limit: Limit
    """Limit that it is of."""
    seconds: Seconds
    """Seconds of one operation."""
    of: str
    """What it is computed from."""
    measured_s: PythonOnly[float | None] = None
    """Seconds that it is held against, where that is not the cell's median."""
    channels: tuple[str, ...] = ()
    """Names of the channels that it is computed from, fullest first (fabric)."""
    load: PythonOnly[int] = 0
    """Messages on the fullest of them (fabric)."""


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
    """Calls of a program that lost a time-out."""

    calls: int
    """Number of calls."""
    longest_s: float
    """Seconds of the longest."""
    lost_s: float
    """Seconds that a rank lost in them, in the mean over ranks."""
    place: str
    """Where most of the time was lost, for people."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What speaks for or against a limit of a cell, whatever kind of cell it is."""

    cell: str
    """What was measured; of a profile the run, its communication, or a place in it."""
    phrases: PythonOnly[tuple[str, ...]] = ()
    """Phrases in it that other cells may have too."""
    series: PythonOnly[str] = ""
    """What belongs together in a sentence, such as a schedule."""
    at: PythonOnly[str] = ""
    """Which of the series, with its preposition, such as ``at 64 KiB``."""
    condition: PythonOnly[tuple[object, ...]]
    """Everything but schedule and size; cells that share it are compared."""
    schedule: str
    """Its schedule or kind of messages; of a profile the same as the cell."""
    bytes: int | None
    """Bytes to one destination; null where that is not known, and of profiles."""
    ranks: int | None
    """Number of ranks; null where it is not known."""
    hosts: PythonOnly[int] = 0
    """Number of hosts; 0 where that is not known."""
    measured_s: Seconds | None = None
    """Median, or that of the faster of two kinds of samples; of a profile the mean over ranks; null
    where it failed."""
    mean_s: Seconds | None = None
    """Mean of both kinds, where samples are of two; else null."""
    bounds: PythonOnly[tuple[Bound, ...]] = ()
    """Bounds of port, fabric, overhead, late ranks."""
    crowded: PythonOnly[float | None] = None
    """Ranks on each processor, where ranks share processors."""
    drops: PythonOnly[int | None] = None
    """Packets that found queues full during the whole run; None where nobody counted."""
    drops_by_place: PythonOnly[Drops | None] = None
    """The same by where the queue was; None where that is not known."""
    memory: PythonOnly[Memory | None] = None
    """What the data need; None where that is not known."""
    failure: str = ""
    """Reason why there is no figure; "" where there is one, or nobody said."""

    @told
    def memory_bytes(self) -> int | None:
        """Bytes that the data of a host need; null where that is not known."""
        return None if self.memory is None else self.memory.needed

    @told
    def host_bytes(self) -> int | None:
        """Memory of a host; null where it is not known."""
        return None if self.memory is None else self.memory.available

    @property
    def failed(self) -> bool:
        """Whether there is no figure because it failed."""
        return False

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
        """Bounds that the measurement does not disprove; the largest of each limit."""
        largest = (self.bound(limit) for limit in Limit)
        return tuple(b for b in largest if b is not None and self.ratio(b) >= IMPOSSIBLE)

    @property
    def network_s(self) -> float:
        """The largest bound of port and fabric; 0 where there is none.

        One that is broken counts: bytes that buffers took, or that went another way, prove nothing
        of the smaller one either.
        """
        network = (self.bound(Limit.PORT), self.bound(Limit.FABRIC))
        return max((b.seconds for b in network if b is not None), default=0.0)


@dataclass(frozen=True, kw_only=True)
class MeasuredEvidence(Evidence):
    """A cell that stands beside others of its conditions: sizes, schedules."""

    low_s: float | None = None
    """Lower end of the interval; `measured_s` where none is known."""
    high_s: float | None = None
    """Upper end of it."""
    modes: Modes | None = None
    """The two kinds."""
    volume: float = 1.0
    """How many times the bytes its schedule may send, since it passes blocks on."""
    messages: int | None = None
    """Messages that a rank sends; None where that is not known."""
    fall: float | None = None
    """How many times lower the rate is than that of similar sizes, where it falls."""
    rival: FastestRival | None = None
    """The fastest other schedule."""
    per_byte: float | None = None
    """How many times longer a byte takes than where data are smaller."""


@dataclass(frozen=True, kw_only=True)
class PublishedEvidence(MeasuredEvidence):
    """A mean that somebody else measured."""

    deviation_s: float | None = None
    """Standard deviation."""


@dataclass(frozen=True, kw_only=True)
class HotSpotEvidence(MeasuredEvidence):
    """A pair beside rivals on its channel."""

    rise: float
    """How many times longer it takes than without rivals."""


@dataclass(frozen=True, kw_only=True)
class FailedEvidence(Evidence):
    """A cell without a figure."""

    out_of_memory: bool = False
    """Whether it is known that memory was lacking."""

    @property
    def failed(self) -> bool:
        """It did."""
        return True


@dataclass(frozen=True, kw_only=True)
class ProgramEvidence(Evidence):
    """A program's run, its communication, or a place in it."""

    stalled: Stalled | None = None
    """Calls that lost time-outs; None where there are none."""
    hung: str = ""
    """Since when the program hung; "" where it did not."""
    crashed: str = ""
    """How the program ended early; "" where it did not."""
    late: str = ""
    """The rank or host at which most lateness begins; "" where it is several."""
