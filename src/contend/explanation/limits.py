"""Limits of a measurement, and the thresholds that prove them.

Every limit but a failure is a *bound*: a least time, in seconds, that the cell cannot be faster
than. The page of decisions on explanations has the reason for each threshold; they stand here and
nowhere else.
"""

from __future__ import annotations

from enum import StrEnum

from contend.measurement import NEAR

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
less is not judged by itself."""
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
    COMPUTATION = "computation"
    MEMORY = "memory"
    TIME_OUTS = "time-outs from full buffers"
    FABRIC = "the fabric"
    PORT = "the injection port"
    OVERHEAD = "latency or software overhead"
    IMBALANCE = "imbalance"
    FILES = "file input and output"
    PROCESSORS = "shared processors"
