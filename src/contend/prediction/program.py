"""A profiled program as a schedule: the same messages in the same order, between the same pauses.

What a rank did between two calls of MPI takes the time that it took when it was recorded, with all
that held it up then. Calls become messages: those of a collective by the algorithm that the library
takes for it. The run time is from when all ranks have left MPI_Init until the last one calls
MPI_Finalize: how long a library takes to start and to end is not the program's, nor how far apart
its launcher lets ranks begin, which differs from one launch to the next.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from contend.base.errors import ShortfallError
from contend.prediction.calls import (
    BEGUN,
    LEAVES,
    MESSAGES,
    SETTING_UP,
    TOGETHER,
    Call,
    Line,
    Meeting,
    RankCalls,
    answered,
    groups_of,
    meetings_of,
    read_calls,
    receives_of,
    sends_of,
)
from contend.profiling import ProgramProfile
from contend.profiling.routines import EXCHANGES, PROBES, RECEIVES, SENDS, TESTS, WAITS
from contend.traffic.schedule import (
    COLLECTIVES,
    LIBRARIES,
    MEMBERS,
    Course,
    Exchange,
    Member,
    Operation,
    Schedule,
    Strand,
    choose,
)

_BLOCKING = SENDS | RECEIVES | EXCHANGES
_ENDS_AT_ONCE = "Bsend"
# What takes less is not worth a remark.
_NEGLIGIBLE_S = 1e-4


@dataclass
class Shared:
    """What the strands of all ranks go by."""

    room: Mapping[Line, int]
    """Number of messages of every line that have both ends."""
    groups: Mapping[int, Sequence[int]]
    """Ranks of every communicator."""
    meetings: Mapping[int, Sequence[Meeting]]
    """Collectives of every communicator."""
    library: str
    """Library whose algorithms are taken."""
    copy_per_byte: float
    """Seconds in which a rank copies a byte, or adds it to another."""
    _tags: dict[tuple[int, int | None], int] = field(default_factory=dict)
    _places: dict[int, Mapping[int, int]] = field(default_factory=dict)

    def places(self, communicator: int) -> Mapping[int, int]:
        """The place of every rank in a communicator."""
        if communicator not in self._places:
            group = self.groups[communicator]
            self._places[communicator] = {rank: place for place, rank in enumerate(group)}
        return self._places[communicator]

    def tag(self, communicator: int, tag: int | None) -> int:
        """What tells messages apart: a number for each tag, and for the collectives (None)."""
        return self._tags.setdefault((communicator, tag), len(self._tags))


class Row(NamedTuple):
    """A call as a row of `Program.calls`; its operation is counted within the strand."""

    rank: int
    routine: str
    communicator: int
    bytes: int
    seconds: float
    pause: float
    operation: int
    site: int


class RankStrand:
    """Writes one rank's strand, call by call."""

    def __init__(self, kept: RankCalls, shared: Shared) -> None:
        self.strand = Strand(kept.rank)
        """What is written."""
        self.rows: list[Row] = []
        """Rows of its calls."""
        self.as_recorded: dict[str, float] = defaultdict(float)
        """Seconds in calls that take what they took, by routine."""
        self._kept = kept
        self._shared = shared
        self._requests: dict[int, list[int]] = {}
        self._met: Counter[int] = Counter()
        self._sent: Counter[Line] = Counter()
        self._received: Counter[Line] = Counter()
        self._probed: Counter[Line] = Counter()

    def write(self, started: float, until: float) -> None:
        """Writes all calls, from an instant to another; to the last call where that is infinite."""
        now = started
        for call in self._kept.calls:
            pause = max(call.begun - now, 0.0)
            operation = self.strand.elapse(pause)
            what = (self._kept.rank, call.routine, call.communicator, call.bytes)
            self.rows.append(Row(*what, call.seconds, pause, operation, call.site))
            self._write(call)
            now = max(call.ended, now)
        if math.isfinite(until):
            self.strand.elapse(max(until - now, 0.0))

    def _write(self, call: Call) -> None:
        if call.routine in PROBES:
            self._probe(call)
        elif call.routine in WAITS | TESTS:
            for request in call.done:
                for operation in self._requests.pop(request, ()):
                    self.strand.wait(operation)
        elif call.routine in MESSAGES:
            self._messages(call)
        elif call.routine in TOGETHER:
            self._meet(call)
        elif call.routine != LEAVES:
            self._take(call, call.seconds)

    def _take(self, call: Call, seconds: float) -> None:
        """Lets a call take so long, whatever the network is like."""
        self.strand.elapse(seconds)
        if seconds > _NEGLIGIBLE_S:
            self.as_recorded[call.routine] += seconds

    # ---- messages from one rank to another

    def _messages(self, call: Call) -> None:
        """Receives before sends, as in an exchange; waits where the routine blocks."""
        begun: list[tuple[int, int | None]] = []
        for line, request in receives_of(call, self._kept):
            if line is not None and self._probed[line]:
                # It was received when it was found.
                self._probed[line] -= 1
            else:
                begun.append((request, self._receive(line)))
        for line, size, request in sends_of(call, self._kept.rank):
            begun.append((request, self._send(line, size)))
        if call.routine == _ENDS_AT_ONCE:
            return
        for request, operation in begun:
            if operation is None:
                continue
            if call.routine in _BLOCKING:
                self.strand.wait(operation)
            else:
                self._requests.setdefault(request, []).append(operation)

    def _probe(self, call: Call) -> None:
        """Receives what was found, and waits for it."""
        line = Line(call.peer, self._kept.rank, call.communicator, call.tag)
        operation = self._receive(line) if call.peer >= 0 else None
        if operation is not None:
            self._probed[line] += 1
            self.strand.wait(operation)

    def _receive(self, line: Line | None) -> int | None:
        if line is None or not self._has_room(line, self._received):
            return None
        return self.strand.receive(line.source, self._shared.tag(line.communicator, line.tag))

    def _send(self, line: Line, size: int) -> int | None:
        if not self._has_room(line, self._sent):
            return None
        return self.strand.send(line.target, size, self._shared.tag(line.communicator, line.tag))

    def _has_room(self, line: Line, so_far: Counter[Line]) -> bool:
        """Whether the next message of a line has both ends."""
        so_far[line] += 1
        return so_far[line] <= self._shared.room.get(line, 0)

    # ---- collectives

    def _meet(self, call: Call) -> None:
        communicator = call.communicator
        meetings = self._shared.meetings.get(communicator, ())
        number = self._met[communicator]
        self._met[communicator] += 1
        if number >= len(meetings):
            self._take(call, call.seconds)
            return
        meeting, group = meetings[number], self._shared.groups[communicator]
        if len(group) < 2:
            return
        place = self._shared.places(communicator)[self._kept.rank]
        member = Member(self.strand, place, group, self._shared.tag(communicator, None))
        if call.routine in SETTING_UP:
            COLLECTIVES["barrier"]["dissemination"](member, Operation())
            self._take(call, meeting.quickest_s)
        elif call.routine in BEGUN:
            self._begin(member, call, meeting)
        else:
            self._carry_out(member, call, meeting)

    def _operation(self, routine: str, member: Member, call: Call, meeting: Meeting) -> Operation:
        """What the member gives, with bytes as `traffic.schedule.choose` counts them."""
        places, rank = self._shared.places(call.communicator), self._kept.rank
        size = float(call.bytes)
        if "alltoall" in routine:
            size /= member.size
        elif routine == "scatter":
            # The root's bytes are those of all blocks, the others' those of their own.
            size = min(one.bytes for one in meeting.calls.values())
        elif routine in ("gather", "allgather", "allgatherv"):
            size = meeting.mean_bytes
        return Operation(
            size,
            places.get(call.peer, 0),
            self._shared.copy_per_byte,
            {places[target]: amount for target, amount in meeting.sent[rank].items()},
            [places[source] for source in meeting.sources[rank]],
        )

    def _carry_out(self, member: Member, call: Call, meeting: Meeting) -> None:
        routine = call.routine.lower()
        operation = self._operation(routine, member, call, meeting)
        if routine.startswith("neighbor"):
            COLLECTIVES["alltoallv"]["linear"](member, operation)
            return
        algorithm = choose(self._shared.library, routine, member.size, operation.size)
        if routine == "alltoall":
            copy = self._shared.copy_per_byte
            exchange = Exchange(member.size, int(operation.size), copy_per_byte=copy)
            MEMBERS[algorithm](member, exchange)
        else:
            COLLECTIVES[routine][algorithm](member, operation)

    def _begin(self, member: Member, call: Call, meeting: Meeting) -> None:
        """All messages at once, to be waited for later: what has rounds loses their order."""
        routine = BEGUN[call.routine].lower()
        operation = self._operation(routine, member, call, meeting)
        to, sources = _at_once(routine, member, operation)
        begun = [member.receive(source) for source in sources]
        begun += [member.send(place, size) for place, size in to.items()]
        self._requests.setdefault(call.request, []).extend(begun)


def _at_once(
    routine: str, member: Member, operation: Operation
) -> tuple[Mapping[int, float], Sequence[int]]:
    """Bytes to other members, and members from which some come, in a collective without rounds."""
    others = [place for place in range(member.size) if place != member.rank]
    is_root = member.rank == operation.root
    if routine in ("alltoallv", "alltoallw") or routine.startswith("neighbor"):
        return operation.to, operation.sources
    if routine in ("alltoall", "allgather", "allgatherv"):
        return dict.fromkeys(others, operation.size), others
    if routine in ("bcast", "scatter", "scatterv"):
        to = {place: operation.to.get(place, operation.size) for place in others}
        return (to, []) if is_root else ({}, [operation.root])
    if routine in ("gather", "gatherv", "reduce"):
        return ({}, others) if is_root else ({operation.root: operation.size}, [])
    # Barriers and reductions for all: what one of their rounds after the other sends.
    steps = [1 << bit for bit in range((member.size - 1).bit_length())]
    size = 0.0 if routine == "barrier" else operation.size
    to = {(member.rank + step) % member.size: size for step in steps}
    return to, [(member.rank - step) % member.size for step in steps]


_LAST = (LEAVES, "Abort")
_UNKNOWN_LIBRARY = "MPICH"
# Part of the time in calls from which on it is said that some take what they took.
_MENTIONED = 0.01


@dataclass(frozen=True, eq=False)
class ProfiledProgram:
    """What a profiled program does, to be carried out."""

    schedule: Schedule
    """Schedule with a strand for each rank."""
    start: NDArray[np.float64]
    """Seconds at which every rank leaves MPI_Init, from the first one's, shape [ranks]."""
    calls: pl.DataFrame
    """A row for every call: ``rank``, ``routine``, ``communicator``, ``bytes``, ``seconds`` as
    recorded, ``pause`` before it, ``operation``, the number of the operation in which that pause
    elapses, and ``site``, the number of its place in the program."""
    until: float
    """Seconds, from when all ranks had left MPI_Init, up to which events of all ranks were kept;
    infinite where all were."""
    as_recorded: float
    """Seconds of MPI, all ranks together, in calls that take what they took."""
    remarks: tuple[str, ...]
    """Remarks that a reader must know."""

    def run_s(self, course: Course) -> float:
        """How long it takes when it is carried out, from when all ranks have left MPI_Init."""
        return course.seconds - float(self.start.max())


def program_of(profile: ProgramProfile, copy_per_byte: float = 0.0) -> ProfiledProgram:
    """The schedule of a profiled program.

    Args:
        profile: with events of all its ranks.
        copy_per_byte: seconds in which a rank copies a byte, or adds it to another.

    Raises:
        ShortfallError: a rank left no record or no events.
        UsageError: several threads of a rank called MPI.
        InputError: the events contradict each other.
    """
    ranks = profile.ranks.sort("rank")
    if len(ranks) < profile.size:
        raise ShortfallError(
            f"{profile.folder}: {profile.size - len(ranks)} of {profile.size} ranks left no "
            "record, so the program cannot be replayed"
        )
    started = ranks["started_s"].to_numpy()
    kept = [read_calls(profile, rank) for rank in range(profile.size)]
    until = _kept_until(profile, kept, ranks["ended_s"].to_list())
    if until <= started.max():
        raise ShortfallError(f"{profile.folder}: records were full before all ranks had begun")
    kept = [_cut(calls, until) for calls in kept]
    library, remarks = _library(profile.record.library)
    groups = groups_of(profile)
    meetings = meetings_of(kept, groups, profile.folder)
    shared = Shared(answered(kept), groups, meetings, library, copy_per_byte)
    strands = [RankStrand(calls, shared) for calls in kept]
    for strand, start in zip(strands, started.tolist(), strict=True):
        strand.write(start, until)
    calls = _calls(strands)
    as_recorded: Counter[str] = Counter()
    for strand in strands:
        as_recorded.update(strand.as_recorded)
    if as_recorded.total() > _MENTIONED * float(calls["seconds"].sum()):
        names = ", ".join(f"MPI_{name}" for name, _ in as_recorded.most_common(3))
        remarks.append(f"calls of {names} keep the time that they took in the recording")
    return ProfiledProgram(
        schedule=Schedule.of([strand.strand for strand in strands]),
        start=started - started.min(),
        calls=calls,
        until=until - float(started.max()),
        as_recorded=float(as_recorded.total()),
        remarks=tuple(remarks),
    )


def _kept_until(
    profile: ProgramProfile, ranks: Sequence[RankCalls], ended: Sequence[float]
) -> float:
    """Until when events of all ranks were kept."""
    until = math.inf
    for kept, end in zip(ranks, ended, strict=True):
        if not kept.calls:
            raise ShortfallError(f"{profile.folder}: no events of rank {kept.rank} were kept")
        last = kept.calls[-1]
        if last.routine not in _LAST and last.ended < end:
            until = min(until, last.ended)
    return until


def _cut(kept: RankCalls, until: float) -> RankCalls:
    """Calls that have ended by an instant, from the end of MPI_Init on."""
    calls = [call for call in kept.calls if call.ended <= until and not call.begins_mpi]
    return replace(kept, calls=calls)


def _library(name: str) -> tuple[str, list[str]]:
    """Whose algorithms are taken, and what is to be said of that."""
    if name.startswith(LIBRARIES):
        return name, []
    return _UNKNOWN_LIBRARY, [
        f"the algorithms of {name or 'the library'} are not known, so those of "
        f"{_UNKNOWN_LIBRARY} are assumed"
    ]


def _calls(strands: Sequence[RankStrand]) -> pl.DataFrame:
    """The rows of all strands, with operations counted through the schedule."""
    parts, before = [], 0
    for strand in strands:
        columns = zip(*strand.rows, strict=True) if strand.rows else [()] * len(Row._fields)
        part = pl.DataFrame(dict(zip(Row._fields, map(list, columns), strict=True)), _SCHEMA)
        parts.append(part.with_columns(pl.col("operation") + before))
        before += len(strand.strand)
    return pl.concat(parts)


_SCHEMA = pl.Schema(
    {
        "rank": pl.UInt32(),
        "routine": pl.String(),
        "communicator": pl.Int64(),
        "bytes": pl.UInt64(),
        "seconds": pl.Float64(),
        "pause": pl.Float64(),
        "operation": pl.Int64(),
        "site": pl.Int64(),
    }
)
