"""What every rank of a profiled program called, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from contend.errors import UsageError
from contend.profiling import CALL, COMPLETION, PART, ProgramProfile
from contend.profiling.routines import plain

# `role` of contend_event.
_RECEIVES = 1


class CallPart(NamedTuple):
    """Bytes that a call sends to one rank, or receives from it.

    Attributes:
        peer: rank in MPI_COMM_WORLD; -1 for none.
        bytes: how many.
        tag: of the message.
        request: number of the request that it makes; 0 for none.
        role: whether it is received (1), or of a collective (2).
    """

    peer: int
    bytes: int
    tag: int
    request: int
    role: int

    @property
    def sends(self) -> bool:
        """Whether it is sent to the peer."""
        return self.role == 0

    @property
    def receives(self) -> bool:
        """Whether it is received from the peer."""
        return self.role == _RECEIVES


class Completion(NamedTuple):
    """What a request came to.

    Attributes:
        peer: of a receive, who sent; -1 for nobody.
        tag: likewise.
    """

    peer: int
    tag: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an MPI routine.

    Attributes:
        routine: its name without ``MPI_``; "" where the record had no room for what was called.
        communicator: number in the profile; -1 likewise.
        begun: seconds from the first MPI_Init.
        ended: likewise.
        bytes: that it gave or got.
        peer: rank that it sent to, received from, or the root; -1 for none.
        tag: of the message.
        request: number of the request that it made; 0 for none.
        role: of a started request, whether it receives (1), or is of a collective (2).
        parts: to whom it sent how much, where that differs.
        done: numbers of the requests that it completed.
        site: number of the place of the call in the program; -1 where nobody knows.
    """

    routine: str
    communicator: int
    begun: float
    ended: float
    bytes: int
    peer: int
    tag: int
    request: int
    role: int
    parts: list[CallPart] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    site: int = -1

    @property
    def seconds(self) -> float:
        """From entry to exit."""
        return self.ended - self.begun

    @property
    def begins_mpi(self) -> bool:
        """Whether MPI begins with it."""
        return self.routine.startswith("Init")


@dataclass(frozen=True)
class RankCalls:
    """Calls of a rank that were kept.

    Attributes:
        rank: in MPI_COMM_WORLD.
        calls: in order.
        completions: by number of the request.
    """

    rank: int
    calls: Sequence[Call]
    completions: Mapping[int, Completion]


def read_calls(profile: ProgramProfile, rank: int) -> RankCalls:
    """What a rank called.

    Raises:
        UsageError: several of its threads called MPI: in which order, nobody knows.
        InputError: the events are damaged.
    """
    events = profile.events(rank).with_columns(
        pl.col("routine").cast(pl.String).fill_null(""),
        pl.col("communicator").cast(pl.Int64).fill_null(-1),
        pl.col("site").cast(pl.Int64).fill_null(-1),
    )
    if len(events) and events["thread"].max() != events["thread"].min():
        raise UsageError(
            f"{profile.folder}: several threads of rank {rank} called MPI: a program is carried "
            "out again only if one thread does"
        )
    columns = ("kind", "routine", "communicator", "start_ns", "end_ns", "bytes", "peer", "tag")
    rows = zip(
        *(events[name].to_list() for name in (*columns, "request", "role", "site")), strict=True
    )
    calls: list[Call] = []
    completions: dict[int, Completion] = {}
    for kind, routine, communicator, start, end, size, peer, tag, request, role, site in rows:
        if kind == CALL:
            name = plain(routine)
            times = (1e-9 * start, 1e-9 * end)
            calls.append(
                Call(name, communicator, *times, size, peer, tag, request, role, site=site)
            )
        elif kind == PART and calls:
            calls[-1].parts.append(CallPart(peer, size, tag, request, role))
        elif kind == COMPLETION and calls:
            calls[-1].done.append(request)
            completions[request] = Completion(peer, tag)
    return RankCalls(rank, calls, completions)
