"""Messages of calls, and which of them have both ends.

A line is what MPI keeps messages in order on: from a rank to another, on a communicator, with a
tag. What is sent first on a line is received first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from contend.prediction.calls import Call, CallPart, RankCalls
from contend.profiling.routines import (
    BEGUN_EXCHANGES,
    BEGUN_RECEIVES,
    BEGUN_SENDS,
    EXCHANGES,
    RECEIVES,
    SENDS,
    STARTS,
)

_SENDING = SENDS | BEGUN_SENDS | EXCHANGES | BEGUN_EXCHANGES
MESSAGES = _SENDING | RECEIVES | BEGUN_RECEIVES | STARTS
"""Routines that send or receive from one rank to another."""


class Line(NamedTuple):
    """From whom to whom, in MPI_COMM_WORLD, on which communicator, with which tag."""

    source: int
    target: int
    communicator: int
    tag: int


class Sent(NamedTuple):
    """A message that a call sends, and the number of the request that it makes, 0 for none."""

    line: Line
    bytes: int
    request: int


class Received(NamedTuple):
    """A message that a call receives; no line where none came, or nobody knows from whom."""

    line: Line | None
    request: int


def sends_of(call: Call, rank: int) -> list[Sent]:
    """What a call of a rank sends to somebody."""
    if call.routine in _SENDING:
        parts = [CallPart(call.peer, call.bytes, call.tag, call.request, 0)]
    else:
        parts = [part for part in _started(call) if part.sends]
    return [
        Sent(Line(rank, part.peer, call.communicator, part.tag), part.bytes, part.request)
        for part in parts
        if part.peer >= 0
    ]


def receives_of(call: Call, kept: RankCalls) -> list[Received]:
    """What a call of a rank receives; of a request its completion tells from whom."""

    def from_(peer: int, tag: int, request: int) -> Received:
        line = Line(peer, kept.rank, call.communicator, tag) if peer >= 0 else None
        return Received(line, request)

    def later(request: int) -> Received:
        done = kept.completions.get(request)
        return Received(None, request) if done is None else from_(done.peer, done.tag, request)

    if call.routine in RECEIVES:
        return [from_(call.peer, call.tag, 0)]
    if call.routine in EXCHANGES:
        return [from_(part.peer, part.tag, 0) for part in call.parts if part.receives]
    if call.routine in BEGUN_RECEIVES | BEGUN_EXCHANGES:
        return [later(call.request)]
    return [later(part.request) for part in _started(call) if part.receives]


def _started(call: Call) -> Sequence[CallPart]:
    """The requests that a call starts."""
    if call.routine not in STARTS:
        return ()
    if call.routine == "Start":
        return [CallPart(call.peer, call.bytes, call.tag, call.request, call.role)]
    return [part for part in call.parts if part.request]


def answered(ranks: Sequence[RankCalls]) -> Mapping[Line, int]:
    """How many messages of every line have both ends among the calls of all ranks."""
    sent: Counter[Line] = Counter()
    received: Counter[Line] = Counter()
    for kept in ranks:
        for call in kept.calls:
            sent.update(message.line for message in sends_of(call, kept.rank))
            received.update(
                message.line for message in receives_of(call, kept) if message.line is not None
            )
    return {line: min(count, received[line]) for line, count in sent.items()}
