"""What ranks do, in order: operations of strands, as columns that the core carries out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


class Action(IntEnum):
    """What an operation is; numbered as in the core."""

    COMPUTE = 0
    SEND = 1
    RECEIVE = 2
    WAIT = 3
    WAIT_FOR = 4
    WAIT_ALL = 5
    ELAPSE = 6


WAITS = (Action.WAIT, Action.WAIT_FOR, Action.WAIT_ALL)
"""What a rank does before it goes on."""


@dataclass
class Strand:
    """What one rank does, operation after operation.

    A rank that does several things side by side, each in an order of its own, has several strands.
    """

    rank: int
    """Rank whose processor it shares."""
    # Columns of numbers: an all-to-all has millions of operations.
    _action: array[int] = field(default_factory=lambda: array("B"))
    _peer: array[int] = field(default_factory=lambda: array("I"))
    _tag: array[int] = field(default_factory=lambda: array("i"))
    _amount: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self._action)

    def compute(self, seconds: float) -> None:
        """Keeps the rank's processor busy."""
        self._add(Action.COMPUTE, amount=seconds)

    def elapse(self, seconds: float) -> int:
        """Lets time pass that was recorded, whoever has the processors; returns its number."""
        return self._add(Action.ELAPSE, amount=seconds)

    def send(self, strand: int, size: float, tag: int = 0) -> int:
        """Begins to send bytes to a strand; returns what `wait` takes."""
        return self._add(Action.SEND, strand, tag, size)

    def receive(self, strand: int, tag: int = 0) -> int:
        """Is ready for a message from a strand; returns what `wait` takes."""
        return self._add(Action.RECEIVE, strand, tag)

    def wait(self, request: int) -> None:
        """Waits for a send or receive."""
        self._add(Action.WAIT, amount=request)

    def wait_for(self, count: int) -> None:
        """Waits until so many of all sends and receives begun until now have ended."""
        self._add(Action.WAIT_FOR, amount=count)

    def wait_all(self) -> None:
        """Waits for all sends and receives begun until now."""
        self._add(Action.WAIT_ALL)

    def exchange(self, target: int, size: float, source: int, tag: int = 0) -> None:
        """Sends to one strand and receives from another, and waits for both: MPI_Sendrecv."""
        requests = self.receive(source, tag), self.send(target, size, tag)
        for request in requests:
            self.wait(request)

    def _add(self, action: Action, peer: int = 0, tag: int = 0, amount: float = 0.0) -> int:
        self._action.append(action)
        self._peer.append(peer)
        self._tag.append(tag)
        self._amount.append(amount)
        return len(self._action) - 1

    @property
    def columns(self) -> tuple[array[int], array[int], array[int], array[float]]:
        """Action, peer, tag and amount of every operation, a column each."""
        return self._action, self._peer, self._tag, self._amount


@dataclass(frozen=True, eq=False)
class Schedule:
    """What all ranks do."""

    rank_of_strand: NDArray[np.uint32]
    """Rank of every strand, shape [strands], uint32."""
    begin: NDArray[np.uint64]
    """First operation of every strand, and the end; shape [strands + 1], uint64."""
    action: NDArray[np.uint8]
    """`Action` of every operation, shape [operations], uint8."""
    peer: NDArray[np.uint32]
    """Strand that a send goes to or a receive is from, shape [operations], uint32."""
    tag: NDArray[np.int32]
    """Tag of every message, shape [operations], int32."""
    amount: NDArray[np.float64]
    """Seconds of a computation or of time that elapses, bytes of a send; of a wait the number of
    the operation in its strand, or how many; shape [operations], float64."""

    @classmethod
    def of(cls, strands: Sequence[Strand]) -> Schedule:
        """The schedule of strands, which are numbered in this order."""
        columns = zip(*(strand.columns for strand in strands), strict=True)
        action, peer, tag, amount = map(np.concatenate, columns)
        return cls(
            rank_of_strand=np.array([strand.rank for strand in strands], dtype=np.uint32),
            begin=np.array([0, *accumulate(map(len, strands))], dtype=np.uint64),
            action=action,
            peer=peer,
            tag=tag,
            amount=amount,
        )

    @property
    def columns(
        self,
    ) -> tuple[
        NDArray[np.uint32],
        NDArray[np.uint64],
        NDArray[np.uint8],
        NDArray[np.uint32],
        NDArray[np.int32],
        NDArray[np.float64],
    ]:
        """What the core takes of it, in its order."""
        return (
            self.rank_of_strand,
            self.begin,
            self.action,
            self.peer,
            self.tag,
            self.amount,
        )

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return int(self.rank_of_strand.max()) + 1

    @cached_property
    def sent_at_once(self) -> int:
        """Messages that a strand sends before it first waits, the most of any."""
        waits = np.flatnonzero(np.isin(self.action, WAITS))
        first, end = self.begin[:-1].astype(np.int64), self.begin[1:].astype(np.int64)
        until = np.append(waits, len(self.action))[np.searchsorted(waits, first)]
        sends = np.append(0, np.cumsum(self.action == Action.SEND))
        return int((sends[np.minimum(until, end)] - sends[first]).max())

    @property
    def sent(self) -> float:
        """Bytes of all messages."""
        return float(self.amount[self.action == Action.SEND].sum())


@dataclass(frozen=True)
class Operation:
    """What a member gives and gets in a collective."""

    size: float = 0.0
    """Bytes: of the data, of each member's block (gather, scatter, allgather), or of all blocks
    together (reduce-scatter)."""
    root: int = 0
    """Place of the member that gives or gets all."""
    per_byte: float = 0.0
    """Seconds in which a byte is added to another."""
    to: Mapping[int, float] = field(default_factory=dict)
    """Bytes to each member that gets any, where members get different amounts."""
    sources: Sequence[int] = ()
    """Members from which any come, where members get different amounts."""


@dataclass
class Member:
    """A member of a group: it knows the others by their places in the group."""

    strand: Strand
    """Strand of this rank; what the group does is added to it."""
    rank: int
    """Place of this rank in the group."""
    strands: Sequence[int]
    """Strand of every member, by place."""
    tag: int = 0
    """Tag of all messages, which tells them apart from what else goes on between the strands."""
    alone: bool = False
    """Whether the strand waits for nothing else, so that one wait is for all."""
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
