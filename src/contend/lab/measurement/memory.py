"""Memory that the data of a probe needs, predicted from its options, and compared with a host's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from contend.base.errors import ArgumentError, UsageError
from contend.base.schema import PythonOnly, Size, told
from contend.base.units import counted, format_bytes, parse_numbers, parse_sizes

if TYPE_CHECKING:
    from contend.lab.measurement.place import Place, Shape

Memory = Callable[[int, int], int]
"""Bytes that a host needs for a number of ranks, of which so many are on it."""

BYTES_OF_DOUBLE = 8
ARRAYS = 2
"""Arrays that every process of a sort holds: unsorted and sorted."""

NEAR = Fraction(7, 10)
"""Share of a host's memory from which data is near it.

The operating system, the program and the MPI library's buffers need memory too. How much is not
known beforehand, so this is a margin and no prediction.
"""

# Schedules that pass blocks on, and so hold them a second time.
_PASSING_ON = ("all", "bruck", "hierarchical")
_MOST_IN_FLIGHT = 256 << 20
# MPI numbers processes, and file offsets and addresses are counted, in signed integers.
_MOST_PROCESSES = 2**31 - 1
_MOST_BYTES = 2**63 - 1
_LENGTH = re.compile(r"([0-9]{1,19}) ?(N?)")


def alltoall_memory(options: Mapping[str, str]) -> Memory:
    """A block for every rank is sent and one is received: 2 p bytes on each of p ranks.

    Twice that where blocks differ in size, as the largest are twice the size that is named, and
    twice that again for schedules that pass blocks on.
    """
    largest = _largest(options)
    uneven = options["counts"] != "even"
    copies = 4 if any(name in _PASSING_ON for name in options["algorithm"].split(",")) else 2
    return lambda ranks, here: here * copies * ranks * largest * (2 if uneven else 1)


def sort_memory(options: Mapping[str, str]) -> Memory:
    """The arrays before and after; see `MemoryPrediction`."""
    vectors = max(numbers_of(options, "vectors"))
    bytes_of_vector = BYTES_OF_DOUBLE * max(numbers_of(options, "length"))
    return lambda ranks, here: ARRAYS * here * -(-vectors // ranks) * bytes_of_vector


def pingpong_memory(options: Mapping[str, str]) -> Memory:
    """A message each way, or a window of them, but for large ones at most 256 MiB."""
    largest = _largest(options)
    window = max(numbers_of(options, "window"))
    held = max(largest, min(window * largest, _MOST_IN_FLIGHT))
    return lambda _, here: 2 * here * held


def bisect_memory(options: Mapping[str, str]) -> Memory:
    """A packet that is sent, and a ring of four that are received."""
    largest = _largest(options)
    return lambda _, here: 5 * here * largest


def hotspot_memory(options: Mapping[str, str]) -> Memory:
    """Two of a rival's messages, or a window of the victim's and one more."""
    load = max(sizes_of(options, "load_bytes"))
    largest = _largest(options)
    window = max(numbers_of(options, "window"))
    return lambda _, here: here * max(2 * load, (window + 1) * largest)


def _largest(options: Mapping[str, str]) -> int:
    return max(sizes_of(options, "bytes"))


def sizes_of(options: Mapping[str, str], name: str) -> tuple[int, ...]:
    """Bytes that an option names."""
    try:
        return parse_sizes(options[name])
    except UsageError as error:
        raise ArgumentError(name, error) from None


def numbers_of(options: Mapping[str, str], name: str) -> tuple[int, ...]:
    """Whole numbers that an option names."""
    try:
        return parse_numbers(options[name], least=0)
    except UsageError as error:
        raise ArgumentError(name, error) from None


class Fit(Enum):
    """What a host's memory is to the data of its ranks."""

    FITS = "yes"
    NEAR = "near"
    EXCEEDS = "no"

    @classmethod
    def of(cls, needed: int, memory: int) -> Fit:
        """Compares bytes that are needed with those that are there; see `NEAR`."""
        if needed > memory:
            return cls.EXCEEDS
        return cls.NEAR if needed >= NEAR * memory else cls.FITS


@dataclass(frozen=True)
class MemoryComparison:
    """What the ranks of a host need for their data, beside what the host has."""

    shape: Shape
    """Shape of all ranks."""
    together: int
    """Ranks that share the memory."""
    needed: int
    """Bytes of their data."""
    free: int
    """Bytes that are free."""

    @property
    def fit(self) -> Fit:
        """Whether it fits."""
        return Fit.of(self.needed, self.free)

    def refusal(self) -> str:
        """Why it does not fit."""
        return f"{self}: take smaller messages or fewer ranks per host"

    def nearness(self) -> str:
        """What to know of data that comes near the memory."""
        return f"{self}: the library's buffers may not fit beside them"

    def __str__(self) -> str:
        return (
            f"{self.shape}: the data of {counted(self.together, 'rank')} on a host is "
            f"{self.needed:,} bytes ({format_bytes(self.needed)}), and "
            f"{format_bytes(self.free)} are free there"
        )


def compare_memory(memory: Memory, shape: Shape, place: Place) -> MemoryComparison | None:
    """What a host's ranks need for their data, beside its memory; None where that is not known."""
    known = place.memory(shape)
    if known is None:
        return None
    together, free = known
    return MemoryComparison(shape, together, memory(shape.ranks, together), free)


@dataclass(frozen=True)
class VectorLength:
    """Doubles in an m-vector as a function of hosts: ``512``, or ``512N`` that grows with them."""

    factor: int
    """Doubles, at least 1."""
    per_host: bool
    """Whether they are multiplied by the number of hosts."""

    @staticmethod
    def parse(text: str) -> VectorLength:
        """Reads ``512``, ``512N`` or ``512 N``.

        Raises:
            UsageError: when it is none of these.
        """
        match = _LENGTH.fullmatch(text)
        if match is None or int(match[1]) == 0:
            raise UsageError(f"expected a vector length m such as 512 or 512N, got {text!r}")
        return VectorLength(int(match[1]), match[2] == "N")

    def at(self, hosts: int) -> int:
        """Doubles in an m-vector on so many hosts."""
        return self.factor * hosts if self.per_host else self.factor

    def __str__(self) -> str:
        return f"{self.factor}N" if self.per_host else str(self.factor)

    def as_told(self) -> str:
        """As programs get it."""
        return str(self)


@dataclass(frozen=True)
class MemoryPrediction:
    """Lengths and bytes of the arrays of a parallel sort; all exact.

    Each of p processes holds l_n = n/p of n m-vectors, and sends a block of l_n/p = n/p² of them to
    every process. Where p or p² does not divide n, lengths are fractions: the means of unequal
    arrays and blocks.

    Source: Mistry et al., Throughput Studies on an InfiniBand Interconnect via All-to-All
    Communications, HPC 2015, table 1.
    """

    vectors: PythonOnly[int]
    """Number n of m-vectors that are sorted."""
    hosts: int
    """Number N of hosts."""
    ranks_per_host: int
    """Number of ranks on every host."""
    length_in_doubles: int
    """Length m of a vector on that many hosts."""

    def __post_init__(self) -> None:
        """Refuses what no MPI program could run.

        Raises:
            UsageError: when something is below 1, or beyond MPI's processes or 64-bit bytes.
        """
        for name, value in (
            ("vectors", self.vectors),
            ("hosts", self.hosts),
            ("ranks per host", self.ranks_per_host),
            ("doubles in a vector", self.length_in_doubles),
        ):
            if value < 1:
                raise UsageError(f"{name}: expected at least 1, got {value}")
        if self.ranks > _MOST_PROCESSES:
            raise UsageError(
                f"expected at most {_MOST_PROCESSES:,} processes, got {self.ranks:,} "
                f"({self.ranks_per_host:,} on every host)"
            )
        if self.hosts * self.host_arrays_bytes > _MOST_BYTES:
            raise UsageError(
                f"expected arrays of less than 8 EiB, got {self.vectors:,} vectors of "
                f"{self.length_in_doubles:,} doubles over {self.ranks:,} processes"
            )

    @told
    def ranks(self) -> int:
        """Number p of ranks in all."""
        return self.hosts * self.ranks_per_host

    @property
    def local_length(self) -> Fraction:
        """l_n = n/p, m-vectors in a local array."""
        return Fraction(self.vectors, self.ranks)

    @property
    def block_length(self) -> Fraction:
        """l_n/p = n/p², m-vectors that a process sends to each."""
        return Fraction(self.vectors, self.ranks**2)

    @told
    def divides(self) -> bool:
        """Whether p² divides n, so that all blocks and all local arrays have the same length."""
        return self.block_length.denominator == 1

    @property
    def vector_bytes(self) -> int:
        """Bytes of an m-vector."""
        return BYTES_OF_DOUBLE * self.length_in_doubles

    @property
    def global_bytes(self) -> int:
        """Bytes of one array over all processes."""
        return self.vectors * self.vector_bytes

    @property
    def local_bytes(self) -> Fraction:
        """Bytes of one local array."""
        return self.local_length * self.vector_bytes

    @property
    def block_bytes(self) -> Fraction:
        """Bytes that a process sends to each."""
        return self.block_length * self.vector_bytes

    @told
    def host_arrays_bytes(self) -> Size:
        """Bytes of all arrays of a host, unsorted and sorted, each local length rounded up."""
        longest = -(-self.vectors // self.ranks)
        return ARRAYS * self.ranks_per_host * longest * self.vector_bytes

    def fit(self, host_memory: int) -> Fit:
        """Compares the arrays of a host with its memory in bytes; see `NEAR`."""
        return Fit.of(self.host_arrays_bytes, host_memory)
