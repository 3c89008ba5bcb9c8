"""What one rank of a profiled program does, as a strand of a schedule."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
    receives_of,
    sends_of,
)
from contend.profiling.routines import EXCHANGES, PROBES, RECEIVES, SENDS, TESTS, WAITS
from contend.schedule import COLLECTIVES, MEMBERS, Exchange, Member, Operation, Strand, choose

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
    """Writes one rank's strand, call by call.

    Attributes:
        strand: what is written.
        rows: of its calls.
        as_recorded: seconds in calls that take what they took, by routine.
    """

    def __init__(self, kept: RankCalls, shared: Shared) -> None:
        self.strand = Strand(kept.rank)
        self.rows: list[Row] = []
        self.as_recorded: dict[str, float] = defaultdict(float)
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
        """What the member gives, with bytes as `contend.schedule.choose` counts them."""
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
