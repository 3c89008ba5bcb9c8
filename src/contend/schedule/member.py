"""One rank's part in what a group of ranks does together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from contend.schedule.schedule import Strand


@dataclass(frozen=True)
class Operation:
    """What a member gives and gets in a collective.

    Attributes:
        size: bytes: of the data, of each member's block (gather, scatter, allgather), or of all
            blocks together (reduce-scatter).
        root: place of the member that gives or gets all.
        per_byte: seconds in which a byte is added to another.
        to: bytes to each member that gets any, where members get different amounts.
        sources: members from which any come, likewise.
    """

    size: float = 0.0
    root: int = 0
    per_byte: float = 0.0
    to: Mapping[int, float] = field(default_factory=dict)
    sources: Sequence[int] = ()


@dataclass
class Member:
    """A member of a group: it knows the others by their places in the group.

    Attributes:
        strand: of this rank; what the group does is added to it.
        rank: this rank's place in the group.
        strands: strand of every member, by place.
        tag: of all messages, which tells them apart from what else goes on between the strands.
        alone: whether the strand waits for nothing else, so that one wait is for all.
    """

    strand: Strand
    rank: int
    strands: Sequence[int]
    tag: int = 0
    alone: bool = False
    _begun: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.strands)

    def send(self, to: int, size: float) -> int:
        """Begins to send bytes to a member; returns what `wait` takes."""
        return self._begin(self.strand.send(self.strands[to], size, self.tag))

    def receive(self, source: int) -> int:
        """Is ready for a message from a member; returns what `wait` takes."""
        return self._begin(self.strand.receive(self.strands[source], self.tag))

    def _begin(self, request: int) -> int:
        if not self.alone:
            self._begun.append(request)
        return request

    def wait(self, request: int) -> None:
        """Waits for a send or receive."""
        self.strand.wait(request)

    def wait_all(self) -> None:
        """Waits for all that this member has begun."""
        if self.alone:
            self.strand.wait_all()
            return
        for request in self._begun:
            self.strand.wait(request)
        self._begun.clear()

    def exchange(self, to: int, size: float, source: int) -> None:
        """Sends to one member and receives from another, and waits for both."""
        self.strand.exchange(self.strands[to], size, self.strands[source], self.tag)

    def compute(self, seconds: float) -> None:
        """Keeps the rank's processor busy."""
        if seconds:
            self.strand.compute(seconds)

    def add(self, size: float, operation: Operation) -> None:
        """Adds so many bytes that have come to what is here."""
        self.compute(size * operation.per_byte)


Collective = Callable[[Member, Operation], None]
"""Adds one member's part of a collective to its strand."""


def all_members(ranks: int, tag: int = 0) -> list[Member]:
    """Members of a group of all ranks, each with a strand that has nothing else to do."""
    return [Member(Strand(rank), rank, range(ranks), tag, alone=True) for rank in range(ranks)]
