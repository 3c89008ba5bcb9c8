"""A profiled program as a schedule: the same messages in the same order, between the same pauses.

What a rank did between two calls of MPI takes the time that it took when it was recorded, with all
that held it up then. Calls become messages: those of a collective by the algorithm that the library
takes for it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.errors import InputError, ShortfallError
from contend.prediction.calls import Call, Part, RankCalls, read_calls
from contend.profiling import Profile
from contend.schedule import (
    COLLECTIVES,
    LIBRARIES,
    MEMBERS,
    Exchange,
    Member,
    Operation,
    Schedule,
    Strand,
    choose,
)

SENDS = frozenset({"Send", "Ssend", "Rsend", "Bsend"})
BEGUN_SENDS = frozenset({"Isend", "Issend", "Irsend", "Ibsend"})
RECEIVES = frozenset({"Recv", "Mrecv"})
BEGUN_RECEIVES = frozenset({"Irecv", "Imrecv"})
EXCHANGES = frozenset({"Sendrecv", "Sendrecv_replace"})
BEGUN_EXCHANGES = frozenset({"Isendrecv", "Isendrecv_replace"})
PROBES = frozenset({"Probe", "Iprobe", "Mprobe", "Improbe"})
WAITS = frozenset(
    {"Wait", "Waitany", "Waitall", "Waitsome", "Test", "Testany", "Testall", "Testsome"}
)
STARTS = frozenset({"Start", "Startall"})
_BEGINNING = frozenset({"Init", "Init_thread"})

COLLECTIVE = frozenset(
    {
        "Barrier",
        "Bcast",
        "Gather",
        "Gatherv",
        "Scatter",
        "Scatterv",
        "Allgather",
        "Allgatherv",
        "Alltoall",
        "Alltoallv",
        "Alltoallw",
        "Reduce",
        "Allreduce",
        "Reduce_scatter",
        "Reduce_scatter_block",
        "Scan",
        "Exscan",
        "Neighbor_allgather",
        "Neighbor_allgatherv",
        "Neighbor_alltoall",
        "Neighbor_alltoallv",
        "Neighbor_alltoallw",
    }
)
# Calls in which all members of the communicator meet. What else they do is not known: each takes
# what it took the quickest member.
_MEETING = frozenset(
    {
        "Finalize",
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
# Routines that are carried out as others are, with amounts of their own.
_KIND = {
    "allgatherv": "allgather",
    "alltoallw": "alltoallv",
    "exscan": "scan",
    "gatherv": "gather",
    "reduce_scatter_block": "reduce_scatter",
    "scatterv": "scatter",
}
_BEGUN = {f"I{name[0].lower()}{name[1:]}": name for name in COLLECTIVE}
_TOGETHER = COLLECTIVE | _MEETING | frozenset(_BEGUN)
_HANDLED = (
    SENDS
    | BEGUN_SENDS
    | RECEIVES
    | BEGUN_RECEIVES
    | EXCHANGES
    | BEGUN_EXCHANGES
    | PROBES
    | WAITS
    | STARTS
    | _BEGINNING
    | _TOGETHER
)
_NEGLIGIBLE_S = 1e-4
_NOBODY = -1
_WORLD = 0

# A message's line: those of one line are received in the order in which they are sent.
_Line = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Program:
    """What a profiled program does, to be carried out.

    Attributes:
        schedule: one strand for each rank.
        start: seconds at which every rank leaves MPI_Init, shape [ranks].
        calls: a row for every call: ``rank``, ``routine``, ``communicator``, ``bytes``,
            ``seconds`` as recorded, ``pause`` before it, and ``operation``, the number of the
            operation in which that pause elapses.
        until: seconds of the run up to which events of all ranks were kept.
        as_recorded: seconds of MPI, all ranks together, in calls that take what they took.
        remarks: what a reader must know.
    """

    schedule: Schedule
    start: NDArray[np.float64]
    calls: pl.DataFrame
    until: float
    as_recorded: float
    remarks: tuple[str, ...]


def program_of(profile: Profile, copy_per_byte: float = 0.0) -> Program:
    """The schedule of a profiled program.

    Args:
        profile: with events of all its ranks.
        copy_per_byte: seconds in which a rank copies a byte, or adds it to another.

    Raises:
        ShortfallError: a rank left no events.
        UsageError: several threads of a rank called MPI.
        InputError: the events contradict each other.
    """
    ranks = profile.ranks.sort("rank")
    if len(ranks) < profile.size:
        raise ShortfallError(
            f"{profile.folder}: {profile.size - len(ranks)} of {profile.size} ranks left no "
            "record: what all do together cannot be carried out again"
        )
    return _Builder(profile, ranks, copy_per_byte).build()


@dataclass
class _Occurrence:
    """A collective of all members of a communicator: each member's call."""

    calls: dict[int, Call] = field(default_factory=dict)

    @property
    def quickest(self) -> float:
        return min(call.seconds for call in self.calls.values())


class _Builder:
    """Writes the strands of all ranks."""

    def __init__(self, profile: Profile, ranks: pl.DataFrame, copy_per_byte: float) -> None:
        self._profile = profile
        self._copy_per_byte = copy_per_byte
        self._library = profile.record.library
        self._remarks: list[str] = []
        if not self._library.startswith(LIBRARIES):
            self._remarks.append(
                f"which algorithms {self._library or 'the library'} takes is not known: those of "
                "MPICH are taken"
            )
            self._library = "MPICH"
        self._started = ranks["started_s"].to_numpy()
        self._ended = ranks["ended_s"].to_numpy()
        self._ranks = [read_calls(profile, rank) for rank in range(profile.size)]
        self.until = self._cut()
        self._groups = self._members()
        self._occurrences = self._meet()
        self._probed: Counter[_Line] = Counter()
        self._room = self._answered()
        self._tags: dict[tuple[int, int | None], int] = {}
        self._strands = [Strand(rank) for rank in range(profile.size)]
        self._as_recorded: dict[str, float] = defaultdict(float)
        self._rows: list[tuple[int, str, int, int, float, float, int]] = []

    def build(self) -> Program:
        for rank in range(self._profile.size):
            _Writer(self, rank).write()
        lengths = np.cumsum([0, *map(len, self._strands)])
        names = ("rank", "routine", "communicator", "bytes", "seconds", "pause", "operation")
        calls = pl.DataFrame(self._rows, schema=names, orient="row").with_columns(
            operation=pl.col("operation")
            + pl.Series(lengths[:-1]).gather(pl.Series([row[0] for row in self._rows]))
        )
        whole = sum(self._as_recorded.values())
        if whole > 0.01 * float(calls["seconds"].sum()):
            longest = sorted(self._as_recorded, key=lambda name: -self._as_recorded[name])[:3]
            names_of = ", ".join(f"MPI_{name}" for name in longest)
            self._remarks.append(f"calls of {names_of} are given the time that they took")
        return Program(
            schedule=Schedule.of(self._strands),
            start=self._started,
            calls=calls,
            until=self.until,
            as_recorded=whole,
            remarks=tuple(self._remarks),
        )

    # ---- what all writers share

    def calls_of(self, rank: int) -> RankCalls:
        return self._ranks[rank]

    def started(self, rank: int) -> float:
        return float(self._started[rank])

    def strand_of(self, rank: int) -> Strand:
        return self._strands[rank]

    def group(self, communicator: int) -> Sequence[int]:
        return self._groups[communicator]

    def occurrence(self, communicator: int, number: int) -> _Occurrence | None:
        """A collective by its number on the communicator; None where not all members have it."""
        occurrences = self._occurrences.get(communicator, [])
        return occurrences[number] if number < len(occurrences) else None

    def tag(self, communicator: int, tag: int | None) -> int:
        """What tells messages apart: a number for each tag, and for the collectives (None)."""
        return self._tags.setdefault((communicator, tag), len(self._tags))

    def has_room(self, line: _Line, number: int) -> bool:
        """Whether both ends of the message of that number on its line are there."""
        return number < self._room.get(line, 0)

    def algorithm(self, routine: str, members: int, size: float) -> str:
        return choose(self._library, routine.lower(), members, size)

    @property
    def copy_per_byte(self) -> float:
        return self._copy_per_byte

    def took(self, routine: str, seconds: float) -> None:
        """Notes that a call is given the time that it took."""
        self._as_recorded[routine] += seconds

    def row(self, rank: int, call: Call, pause: float, operation: int) -> None:
        what = (rank, call.routine, call.communicator, call.bytes)
        self._rows.append((*what, call.seconds, pause, operation))

    # ---- what has to be known beforehand

    def _cut(self) -> float:
        """Until when events of all ranks were kept."""
        until = math.inf
        for rank, kept in enumerate(self._ranks):
            if not kept.calls:
                raise ShortfallError(f"{self._profile.folder}: no events of rank {rank} were kept")
            last = kept.calls[-1]
            if last.routine not in ("Finalize", "Abort") and last.ended < self._ended[rank]:
                until = min(until, last.ended)
        return until

    def kept(self, call: Call) -> bool:
        return call.ended <= self.until

    def _members(self) -> Mapping[int, Sequence[int]]:
        groups: dict[int, Sequence[int]] = {_WORLD: range(self._profile.size)}
        table = self._profile.members.sort("communicator", "member")
        for (communicator,), rows in table.group_by("communicator", maintain_order=True):
            groups[int(str(communicator))] = rows["rank"].to_list()
        inter = self._profile.communicators.filter(pl.col("kind").cast(pl.String) == "inter")
        for communicator in inter["communicator"].to_list():
            groups.pop(communicator, None)
        return {number: group for number, group in groups.items() if _NOBODY not in group}

    def _meet(self) -> Mapping[int, list[_Occurrence]]:
        """Collectives of every communicator that all members have, in their order."""
        own: dict[int, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
        for rank, kept in enumerate(self._ranks):
            for call in kept.calls:
                communicator = self.communicator_of(call)
                if call.routine in _TOGETHER and communicator in self._groups:
                    own[communicator][rank].append(call)
        met: dict[int, list[_Occurrence]] = {}
        for communicator, by_rank in own.items():
            group = self._groups[communicator]
            if not set(by_rank) <= set(group):
                raise InputError(
                    str(self._profile.folder),
                    0,
                    f"collectives of members of communicator {communicator}",
                    "others",
                )
            met[communicator] = []
            for number in range(min(len(by_rank.get(rank, ())) for rank in group)):
                calls = {rank: by_rank[rank][number] for rank in group}
                if len({call.routine for call in calls.values()}) > 1:
                    raise InputError(
                        str(self._profile.folder),
                        0,
                        f"one routine as collective {number} of communicator {communicator}",
                        " and ".join(sorted({call.routine for call in calls.values()})),
                    )
                if not all(self.kept(call) for call in calls.values()):
                    break
                met[communicator].append(_Occurrence(calls))
        return met

    @staticmethod
    def communicator_of(call: Call) -> int:
        return _WORLD if call.routine == "Finalize" else call.communicator

    def _answered(self) -> Mapping[_Line, int]:
        """How many messages of every line have both ends."""
        sent: Counter[_Line] = Counter()
        received: Counter[_Line] = Counter()
        for rank, kept in enumerate(self._ranks):
            for call in kept.calls:
                if self.kept(call):
                    sent.update(line for line, _, _ in sends_of(call, rank))
                    received.update(
                        line for line, _ in receives_of(call, rank, kept) if line is not None
                    )
        return {line: min(count, received[line]) for line, count in sent.items()}


def sends_of(call: Call, rank: int) -> list[tuple[_Line, int, int]]:
    """Line, bytes and request of every message that a call sends."""

    def line(peer: int, tag: int) -> _Line:
        return rank, peer, call.communicator, tag

    if call.routine in SENDS | BEGUN_SENDS | EXCHANGES | BEGUN_EXCHANGES:
        return _to_somebody([(line(call.peer, call.tag), call.bytes, call.request)])
    if call.routine in STARTS:
        return _to_somebody(
            [(line(p.peer, p.tag), p.bytes, p.request) for p in _started(call) if p.sends]
        )
    return []


def _to_somebody(sends: list[tuple[_Line, int, int]]) -> list[tuple[_Line, int, int]]:
    return [send for send in sends if send[0][1] >= 0]


def receives_of(call: Call, rank: int, kept: RankCalls) -> list[tuple[_Line | None, int]]:
    """Line and request of every message that a call receives; no line where none came."""

    def line(peer: int, tag: int) -> _Line | None:
        return (peer, rank, call.communicator, tag) if peer >= 0 else None

    def later(request: int) -> tuple[_Line | None, int]:
        done = kept.completions.get(request)
        return (None if done is None else line(done.peer, done.tag)), request

    if call.routine in RECEIVES:
        return [(line(call.peer, call.tag), 0)]
    if call.routine in BEGUN_RECEIVES | BEGUN_EXCHANGES:
        return [later(call.request)]
    if call.routine in EXCHANGES:
        return [(line(part.peer, part.tag), 0) for part in call.parts if part.receives]
    if call.routine in STARTS:
        return [later(part.request) for part in _started(call) if part.receives]
    return []


def _started(call: Call) -> Sequence[Part]:
    """The requests that a call starts."""
    if call.routine == "Start":
        return [Part(call.peer, call.bytes, call.tag, call.request, call.role)]
    return [part for part in call.parts if part.request]


class _Writer:
    """Writes one rank's strand."""

    def __init__(self, program: _Builder, rank: int) -> None:
        self._program = program
        self._rank = rank
        self._strand = program.strand_of(rank)
        self._kept = program.calls_of(rank)
        self._requests: dict[int, list[int]] = {}
        self._numbers: Counter[int] = Counter()
        self._sent: Counter[_Line] = Counter()
        self._received: Counter[_Line] = Counter()
        self._probed: Counter[_Line] = Counter()

    def write(self) -> None:
        now = self._program.started(self._rank)
        for call in self._kept.calls:
            if call.routine in _BEGINNING:
                continue
            if not self._program.kept(call):
                break
            pause = max(call.begun - now, 0.0)
            operation = self._strand.elapse(pause)
            self._program.row(self._rank, call, pause, operation)
            self._write(call)
            now = max(call.ended, now)
        rest = self._program.until if math.isfinite(self._program.until) else now
        self._strand.elapse(max(rest - now, 0.0))

    def _write(self, call: Call) -> None:
        if call.routine in PROBES:
            self._probe(call)
        elif call.routine in WAITS:
            for request in call.done:
                for operation in self._requests.pop(request, ()):
                    self._strand.wait(operation)
        elif call.routine in _TOGETHER:
            self._collective(call)
        elif call.routine in _HANDLED:
            self._messages(call)
        else:
            self._take_as_long(call)

    def _take_as_long(self, call: Call) -> None:
        self._strand.elapse(call.seconds)
        if call.seconds > _NEGLIGIBLE_S:
            self._program.took(call.routine, call.seconds)

    def _messages(self, call: Call) -> None:
        """Receives before sends, as in an exchange; waits where the routine blocks."""
        blocking = call.routine in SENDS | RECEIVES | EXCHANGES
        begun: list[tuple[int, int]] = []
        for line, request in receives_of(call, self._rank, self._kept):
            if line is not None and self._probed[line]:
                # It was received when it was found.
                self._probed[line] -= 1
                continue
            operation = self._receive(line)
            if operation is not None:
                begun.append((request, operation))
        for line, size, request in sends_of(call, self._rank):
            operation = self._send(line, size)
            if operation is not None and call.routine != "Bsend":
                begun.append((request, operation))
        for request, operation in begun:
            if blocking:
                self._strand.wait(operation)
            else:
                self._requests.setdefault(request, []).append(operation)

    def _probe(self, call: Call) -> None:
        line = (call.peer, self._rank, call.communicator, call.tag)
        if call.peer < 0:
            return
        operation = self._receive(line)
        if operation is not None:
            self._probed[line] += 1
            self._strand.wait(operation)

    def _receive(self, line: _Line | None) -> int | None:
        if line is None:
            return None
        number = self._received[line]
        self._received[line] += 1
        if not self._program.has_room(line, number):
            return None
        return self._strand.receive(line[0], self._program.tag(line[2], line[3]))

    def _send(self, line: _Line, size: int) -> int | None:
        number = self._sent[line]
        self._sent[line] += 1
        if not self._program.has_room(line, number):
            return None
        return self._strand.send(line[1], size, self._program.tag(line[2], line[3]))

    # ---- collectives

    def _collective(self, call: Call) -> None:
        communicator = self._program.communicator_of(call)
        number = self._numbers[communicator]
        self._numbers[communicator] += 1
        occurrence = self._program.occurrence(communicator, number)
        if occurrence is None:
            self._take_as_long(call)
            return
        group = self._program.group(communicator)
        if len(group) < 2:
            return
        member = Member(
            self._strand, group.index(self._rank), group, self._program.tag(communicator, None)
        )
        if call.routine in _MEETING:
            COLLECTIVES["barrier"]["dissemination"](member, Operation())
            self._strand.elapse(occurrence.quickest)
            self._program.took(call.routine, occurrence.quickest)
        elif call.routine in _BEGUN:
            self._begin(member, call, occurrence)
        else:
            self._carry_out(member, call, occurrence)

    def _operation(self, member: Member, call: Call, occurrence: _Occurrence) -> Operation:
        """What the member gives, with bytes as `contend.schedule.choose` counts them."""
        group = member.strands
        root = group.index(call.peer) if call.peer in group else 0
        given = [occurrence.calls[rank].bytes for rank in group]
        routine = call.routine.lower()
        size = float(call.bytes)
        if "alltoall" in routine:
            size /= member.size
        elif routine.startswith("scatter"):
            others = [given[place] for place in range(member.size) if place != root]
            size = sum(others) / len(others)
        elif routine.startswith(("gather", "allgather")):
            size = sum(given) / member.size
        to, sources = _amounts(group, self._rank, occurrence)
        return Operation(size, root, self._program.copy_per_byte, to, sources)

    def _carry_out(self, member: Member, call: Call, occurrence: _Occurrence) -> None:
        routine = call.routine.lower()
        operation = self._operation(member, call, occurrence)
        if routine.startswith("neighbor"):
            COLLECTIVES["alltoallv"]["linear"](member, operation)
            return
        algorithm = self._program.algorithm(routine, member.size, operation.size)
        if routine == "alltoall":
            exchange = Exchange(
                member.size, int(operation.size), copy_per_byte=self._program.copy_per_byte
            )
            MEMBERS[algorithm](member, exchange)
            return
        names = {
            "alltoallw": "alltoallv",
            "exscan": "scan",
            "reduce_scatter_block": "reduce_scatter",
        }
        name = names.get(routine, routine.removesuffix("v") if routine != "alltoallv" else routine)
        COLLECTIVES[name][algorithm](member, operation)

    def _begin(self, member: Member, call: Call, occurrence: _Occurrence) -> None:
        """All messages at once, to be waited for later: what has rounds loses their order."""
        routine = _BEGUN[call.routine].lower()
        operation = self._operation(member, replace(call, routine=_BEGUN[call.routine]), occurrence)
        to, sources = dict(operation.to), list(operation.sources)
        others = [place for place in range(member.size) if place != member.rank]
        if routine == "alltoall":
            to, sources = dict.fromkeys(others, operation.size), others
        elif routine == "allgather" or routine == "allgatherv":
            to, sources = dict.fromkeys(others, float(call.bytes)), others
        elif routine in ("bcast", "scatter", "scatterv"):
            root = member.rank == operation.root
            to = dict.fromkeys(others, operation.size) if root else {}
            sources = [] if root else [operation.root]
        elif routine in ("gather", "gatherv", "reduce"):
            root = member.rank == operation.root
            to = {} if root else {operation.root: operation.size}
            sources = others if root else []
        elif not routine.startswith(("alltoall", "neighbor")):
            # Barriers and reductions for all: what one of their rounds after the other sends.
            steps = [1 << bit for bit in range((member.size - 1).bit_length())]
            size = 0.0 if routine == "barrier" else operation.size
            to = {(member.rank + step) % member.size: size for step in steps}
            sources = [(member.rank - step) % member.size for step in steps]
        begun = [member.receive(source) for source in sources]
        begun += [member.send(place, size) for place, size in to.items()]
        self._requests.setdefault(call.request, []).extend(begun)


def _amounts(
    group: Sequence[int], rank: int, occurrence: _Occurrence
) -> tuple[dict[int, float], list[int]]:
    """Bytes to every other member, and who sends any, where calls say so."""
    places = {member: place for place, member in enumerate(group)}
    to: dict[int, float] = defaultdict(float)
    for part in occurrence.calls[rank].parts:
        if part.peer in places and part.peer != rank:
            to[places[part.peer]] += part.bytes
    sources = [
        place
        for place, source in enumerate(group)
        if source != rank
        and any(part.peer == rank and part.bytes for part in occurrence.calls[source].parts)
    ]
    return dict(to), sources
