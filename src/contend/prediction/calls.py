"""What the ranks of a profiled program called: in order, with messages and collectives.

A line is what MPI keeps messages in order on: from a rank to another, on a communicator, with a
tag. What is sent first on a line is received first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import polars as pl

from contend.base.errors import InputError, UsageError
from contend.profiling import EventKind, ProgramProfile
from contend.profiling.routines import (
    BEGUN_EXCHANGES,
    BEGUN_RECEIVES,
    BEGUN_SENDS,
    COLLECTIVES,
    EXCHANGES,
    RECEIVES,
    SENDS,
    STARTS,
    plain,
)

# `role` of contend_event.
_RECEIVES = 1


class CallPart(NamedTuple):
    """Bytes that a call sends to one rank, or receives from it."""

    peer: int
    """Rank in MPI_COMM_WORLD; -1 for none."""
    bytes: int
    """Number of bytes."""
    tag: int
    """Tag of the message."""
    request: int
    """Number of the request that it makes; 0 for none."""
    role: int
    """Whether it is received (1), or of a collective (2)."""

    @property
    def sends(self) -> bool:
        """Whether it is sent to the peer."""
        return self.role == 0

    @property
    def receives(self) -> bool:
        """Whether it is received from the peer."""
        return self.role == _RECEIVES


class Completion(NamedTuple):
    """What a request came to."""

    peer: int
    """Rank that sent to a receive; -1 for nobody."""
    tag: int
    """Tag that it was sent with; -1 where nobody sent."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an MPI routine."""

    routine: str
    """Its name without ``MPI_``; "" where the record had no room for what was called."""
    communicator: int
    """Number of the communicator in the profile; -1 where the record had no room for it."""
    begun: float
    """Seconds from the first MPI_Init to its beginning."""
    ended: float
    """Seconds from then to its end."""
    bytes: int
    """Bytes that it gave or got."""
    peer: int
    """Rank that it sent to, received from, or the root; -1 for none."""
    tag: int
    """Tag of the message."""
    request: int
    """Number of the request that it made; 0 for none."""
    role: int
    """Of a started request, whether it receives (1), or is of a collective (2)."""
    parts: list[CallPart] = field(default_factory=list)
    """Parts by peer, where it sent different amounts."""
    done: list[int] = field(default_factory=list)
    """Numbers of the requests that it completed."""
    site: int = -1
    """Number of the place of the call in the program; -1 where nobody knows."""

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
    """Calls of a rank that were kept."""

    rank: int
    """Number in MPI_COMM_WORLD."""
    calls: Sequence[Call]
    """In order."""
    completions: Mapping[int, Completion]
    """What requests came to, by their numbers."""


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
            f"{profile.folder}: several threads of rank {rank} called MPI: contend replays "
            "only programs in which one thread does"
        )
    columns = ("kind", "routine", "communicator", "start_ns", "end_ns", "bytes", "peer", "tag")
    rows = zip(
        *(events[name].to_list() for name in (*columns, "request", "role", "site")), strict=True
    )
    calls: list[Call] = []
    completions: dict[int, Completion] = {}
    for kind, routine, communicator, start, end, size, peer, tag, request, role, site in rows:
        if kind == EventKind.CALL:
            name = plain(routine)
            times = (1e-9 * start, 1e-9 * end)
            calls.append(
                Call(name, communicator, *times, size, peer, tag, request, role, site=site)
            )
        elif kind == EventKind.PART and calls:
            calls[-1].parts.append(CallPart(peer, size, tag, request, role))
        elif kind == EventKind.COMPLETION and calls:
            calls[-1].done.append(request)
            completions[request] = Completion(peer, tag)
    return RankCalls(rank, calls, completions)


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


_WORLD = 0
_NOBODY = -1
LEAVES = "Finalize"
"""The routine in which a rank leaves MPI."""

SETTING_UP = frozenset(
    {
        "Comm_dup",
        "Comm_dup_with_info",
        "Comm_create",
        "Comm_split",
        "Comm_split_type",
        "Cart_create",
        "Cart_sub",
        "Graph_create",
        "Dist_graph_create",
        "Dist_graph_create_adjacent",
    }
)
"""Calls in which all members meet and what they send is not known."""
BEGUN = {f"I{name[0].lower()}{name[1:]}": name for name in COLLECTIVES}
"""Blocking routines by the names of those that are begun and waited for later."""
TOGETHER = COLLECTIVES | SETTING_UP | frozenset(BEGUN)


@dataclass(frozen=True)
class Meeting:
    """A collective of all members of a communicator."""

    calls: Mapping[int, Call]
    """Every member's call, by its rank in MPI_COMM_WORLD."""

    @cached_property
    def quickest_s(self) -> float:
        """What it took the member that spent least in it."""
        return min(call.seconds for call in self.calls.values())

    @cached_property
    def mean_bytes(self) -> float:
        """What a member gives."""
        return sum(call.bytes for call in self.calls.values()) / len(self.calls)

    @cached_property
    def sent(self) -> Mapping[int, Mapping[int, float]]:
        """Bytes from rank to other rank, where calls say who gets what."""
        sent: dict[int, dict[int, float]] = {rank: defaultdict(float) for rank in self.calls}
        for rank, call in self.calls.items():
            for part in call.parts:
                if part.peer in sent and part.peer != rank and part.bytes:
                    sent[rank][part.peer] += part.bytes
        return sent

    @cached_property
    def sources(self) -> Mapping[int, Sequence[int]]:
        """Who sends anything to a rank, by that rank."""
        sources: dict[int, list[int]] = {rank: [] for rank in self.calls}
        for rank, targets in self.sent.items():
            for target in targets:
                sources[target].append(rank)
        return sources


def groups_of(profile: ProgramProfile) -> Mapping[int, Sequence[int]]:
    """Ranks of the communicators whose members are all known and of one group, by number."""
    groups: dict[int, Sequence[int]] = {_WORLD: range(profile.size)}
    table = profile.members.sort("communicator", "member")
    for (communicator,), rows in table.group_by("communicator", maintain_order=True):
        groups[int(str(communicator))] = rows["rank"].to_list()
    inter = profile.communicators.filter(pl.col("kind").cast(pl.String) == "inter")
    for communicator in inter["communicator"].to_list():
        groups.pop(communicator, None)
    return {number: group for number, group in groups.items() if _NOBODY not in group}


def meetings_of(
    ranks: Sequence[RankCalls], groups: Mapping[int, Sequence[int]], folder: Path
) -> Mapping[int, Sequence[Meeting]]:
    """Collectives of every communicator that all members have told of, in their order.

    Raises:
        InputError: members met in different routines, or somebody who is no member.
    """
    own: dict[int, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for kept in ranks:
        for call in kept.calls:
            if call.routine in TOGETHER and call.communicator in groups:
                own[call.communicator][kept.rank].append(call)
    met: dict[int, list[Meeting]] = {}
    for communicator, by_rank in own.items():
        group = groups[communicator]
        what = f"communicator {communicator}"
        if not set(by_rank) <= set(group):
            raise InputError(str(folder), 0, f"collectives of members of {what}", "others")
        met[communicator] = []
        for number in range(min(len(by_rank[rank]) for rank in group)):
            calls = {rank: by_rank[rank][number] for rank in group}
            routines = {call.routine for call in calls.values()}
            if len(routines) > 1:
                expected = f"one routine as collective {number} of {what}"
                raise InputError(str(folder), 0, expected, " and ".join(sorted(routines)))
            met[communicator].append(Meeting(calls))
    return met
