"""A pattern: which rank sends to which, round by round; made from arrays, and composed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.units import counted

# Leaves room for 2^23 samples; what it rounds away is below one part in 2^40 a message.
_LARGEST_TOTAL = 2**40
_MOST_BYTES = 2**53
# Far above any machine: more is a typing error, and would be memory asked for.
MOST_RANKS = 1 << 28

Messages = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]
"""Sources, targets and bytes of messages, each of shape [messages]."""


@dataclass(frozen=True, eq=False, repr=False)
class Pattern:
    """Rounds of simultaneous messages between ranks 0 .. ranks - 1.

    ``first & second`` is both at once, the second on further ranks; ``8 * pattern`` is eight of it
    at once, each on every eighth rank; ``first.then(second)`` is the rounds of the one and then
    those of the other.
    """

    name: str
    """Specification that it was made from, such as ``bisect`` or ``shift:3``."""
    core: _core.Pattern
    """Generator of the core."""
    scale: float = 1.0
    """Factor by which figures are also reported, to take out what the pattern does to its own ends
    (``neighbour:k``: k, ``alltoall``: ranks - 1); 1 for all others."""

    @classmethod
    def from_destinations(cls, destinations: ArrayLike, *, name: str = "destinations") -> Pattern:
        """One message a rank and round.

        Args:
            destinations: the rank that every rank sends to, -1 or itself where it is silent, shape
                [ranks] or [rounds, ranks].
            name: what the pattern is called in results.

        Raises:
            UsageError: the array has another shape, or an entry is no rank.
        """
        table = _integers(destinations, "destinations")
        if table.ndim == 1:
            table = table.reshape(1, -1)
        if table.ndim != 2 or 0 in table.shape:
            raise UsageError(
                "destinations: expected an array of shape [ranks] or [rounds, ranks], "
                f"got shape {np.shape(destinations)}"
            )
        ranks = table.shape[1]
        if not -1 <= int(table.min()) <= int(table.max()) < ranks:
            raise UsageError(
                f"destinations: expected ranks 0 .. {ranks - 1}, or -1 where a rank is silent, "
                f"got {table.min()} .. {table.max()}"
            )
        rounds, source = np.nonzero((table >= 0) & (table != np.arange(ranks)))
        begin = np.searchsorted(rounds, np.arange(len(table) + 1))
        return cls(name, from_columns(ranks, begin, source, table[rounds, source], None))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, name: str = "matrix") -> Pattern:
        """One round in which each pair sends so many bytes.

        Args:
            matrix: bytes from rank to rank, shape [ranks, ranks]. Bytes weigh messages in the
                averages; where an entry is 0 there is no message.
            name: what the pattern is called in results.

        Raises:
            UsageError: the matrix is not square, has no message, or an entry is no size.
        """
        values = np.asarray(matrix)
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise UsageError(
                f"matrix: expected a square matrix [source, target], got shape {values.shape}"
            )
        source, target, size = messages_of_matrix(values)
        if len(source) == 0:
            raise UsageError("matrix: expected at least one message, got none")
        begin = np.array([0, len(source)])
        return cls(name, from_columns(len(values), begin, source, target, size))

    @classmethod
    def from_messages(
        cls,
        rounds: Sequence[tuple[ArrayLike, ArrayLike]],
        ranks: int,
        *,
        name: str = "messages",
    ) -> Pattern:
        """Any messages in any number of rounds.

        Args:
            rounds: sources and targets of every round, each of shape [messages].
            ranks: number of ranks.
            name: what the pattern is called in results.

        Raises:
            UsageError: there is no round, sources and targets differ in number, or an entry is no
                rank.
        """
        ends = [tuple(_integers(end, "rounds").reshape(-1) for end in pair) for pair in rounds]
        if not ends or any(len(pair) != 2 or len(pair[0]) != len(pair[1]) for pair in ends):
            raise UsageError("rounds: expected sources and as many targets for every round")
        source, target = (np.concatenate([pair[end] for pair in ends]) for end in (0, 1))
        begin = np.cumsum([0, *(len(pair[0]) for pair in ends)])
        if len(source) and min(source.min(), target.min()) < 0:
            raise UsageError(f"rounds: expected ranks 0 .. {ranks - 1}, got a negative one")
        return cls(name, from_columns(ranks, begin, source, target, None))

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.core.ranks

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return self.core.rounds

    @property
    def random(self) -> bool:
        """Whether the messages differ from sample to sample."""
        return self.core.random

    @property
    def several_at_once(self) -> bool:
        """Whether a rank has several messages in a round: all its work is one of many messages.

        Not where chance alone has several meet at a rank, as in ``uniform``.
        """
        return self.scale != 1 or (self.core.shares_ends and not self.core.random)

    def messages(
        self, number: int = 0, *, seed: int = 1, sample: int = 0
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Source and target ranks of round `number`, as sample `sample` of `seed` draws it.

        Returns:
            Two arrays of shape [messages].

        Raises:
            UsageError: when there is no such round.
        """
        if not 0 <= number < self.rounds:
            raise UsageError(f"expected round 0 .. {self.rounds - 1} of {self.name}, got {number}")
        source, target, _ = self.core.messages(number, seed, sample)
        return source, target

    def __and__(self, other: Pattern) -> Pattern:
        """Both at once: this one on its ranks, the other on as many ranks after them as it has.

        Raises:
            UsageError: one of them weighs its messages by bytes.
        """
        name = f"{self.name} & {other.name}"
        if self.core.weighted or other.core.weighted:
            raise UsageError(f"pattern {name}: expected patterns without bytes, got one with them")
        return Pattern(name, _core.make_parts(self.core, other.core))

    def __rmul__(self, copies: int) -> Pattern:
        """So many at once, copy k on ranks k, k + copies, ...; all draw the same messages.

        Where ranks are numbered server by server (placement ``servers``), each is on a rail.

        Raises:
            UsageError: there is none of them, or more ranks than numbers.
        """
        name = f"{copies} * {self.name}"
        if not 1 <= copies <= MOST_RANKS // self.ranks:
            most = f"1 to {MOST_RANKS // self.ranks:,} copies of {counted(self.ranks, 'rank')}"
            raise UsageError(f"pattern {name}: expected {most}")
        return Pattern(name, _core.make_copies(copies, self.core), self.scale)

    def then(self, other: Pattern) -> Pattern:
        """The rounds of this one, then the rounds of the other, on the same ranks.

        Raises:
            UsageError: they differ in ranks, or one of them is random or weighs its messages.
        """
        name = f"{self.name} then {other.name}"
        if self.ranks != other.ranks:
            raise UsageError(
                f"pattern {name}: expected as many ranks in both, got {self.ranks} and "
                f"{other.ranks}"
            )
        if any(part.random or part.core.weighted for part in (self, other)):
            raise UsageError(
                f"pattern {name}: expected patterns that are neither random nor weighted"
            )
        rounds = [part.messages(number) for part in (self, other) for number in range(part.rounds)]
        return Pattern.from_messages(rounds, self.ranks, name=name)

    def __repr__(self) -> str:
        drawn = ", drawn anew for every sample" if self.random else ""
        size = f"{counted(self.ranks, 'rank')}, {counted(self.rounds, 'round')}"
        return f"<Pattern {self.name}: {size}{drawn}>"


def from_columns(
    ranks: int,
    round_begin: NDArray[np.integer],
    source: NDArray[np.integer],
    target: NDArray[np.integer],
    size: NDArray[np.integer] | None,
) -> _core.Pattern:
    """The core's pattern of given messages, which stand in the order of their rounds.

    Args:
        ranks: number of ranks.
        round_begin: the first message of every round, and the number of messages, shape
            [rounds + 1].
        source: shape [messages].
        target: shape [messages].
        size: bytes of every message, which weigh it where they differ; None: all weigh alike.
    """
    alike = size is None or bool((size == size[:1]).all())
    weight = np.zeros(0, dtype=np.uint64)
    if size is not None and not alike:
        weight = _bounded(size.astype(np.int64)).astype(np.uint64)
    return _core.make_rounds(
        ranks,
        round_begin.astype(np.uint64),
        source.astype(np.uint32),
        target.astype(np.uint32),
        weight,
    )


def messages_of_matrix(matrix: NDArray[Any]) -> Messages:
    """The entries of a square matrix [source, target] of bytes that are not 0.

    Fractions of a byte, which averages have, are cut off, but what is sent counts as one byte at
    least.

    Raises:
        UsageError: an entry is negative, not finite, 2^53 or more, or no number.
    """
    if matrix.dtype.kind not in "iuf":
        raise UsageError(f"expected a matrix of numbers, got {matrix.dtype}")
    source, target = np.nonzero(matrix)
    with np.errstate(over="ignore"):
        values = matrix[source, target].astype(np.float64)
    if not ((values > 0) & (values < _MOST_BYTES)).all():
        raise UsageError("expected sizes from 0 to 2^53 bytes, got something else")
    return source, target, np.maximum(values, 1).astype(np.int64)


def _bounded(weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """Scales weights whose sum over messages and samples might not fit 64 bits."""
    total = float(weight.sum(dtype=np.float64))
    if total <= _LARGEST_TOTAL:
        return weight
    scaled: NDArray[np.float64] = np.rint(weight * (_LARGEST_TOTAL / total))
    return np.maximum(scaled, 1).astype(np.int64)


def _integers(values: ArrayLike, argument: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise UsageError(f"{argument}: expected whole numbers, got {array.dtype}")
    return array.astype(np.int64)
