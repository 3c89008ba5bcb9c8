"""Memory that a parallel sort of m-vectors needs, predicted from its numbers alone.

Source: Mistry et al., Throughput Studies on an InfiniBand Interconnect via All-to-All
Communications, HPC 2015, table 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from contend.errors import UsageError

BYTES_OF_DOUBLE = 8
ARRAYS = 2
"""Arrays that every process holds: unsorted and sorted."""

NEAR = Fraction(7, 10)
"""Share of a node's memory from which arrays are near it.

The operating system, the program and the MPI library's buffers need memory too. How much is not
known beforehand, so this is a margin and no prediction.
"""

# MPI numbers processes, and file offsets and addresses are counted, in signed integers.
_MOST_PROCESSES = 2**31 - 1
_MOST_BYTES = 2**63 - 1

_LENGTH = re.compile(r"([0-9]{1,19}) ?(N?)")


class Fit(Enum):
    """What a node's memory is to the arrays of its processes."""

    FITS = "yes"
    NEAR = "near"
    EXCEEDS = "no"


@dataclass(frozen=True)
class VectorLength:
    """Doubles in an m-vector as a function of the nodes: ``512``, or ``512N`` that grows with them.

    Attributes:
        factor: doubles, at least 1.
        per_node: whether they are multiplied by the number of nodes.
    """

    factor: int
    per_node: bool

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

    def at(self, nodes: int) -> int:
        """Doubles in an m-vector on so many nodes."""
        return self.factor * nodes if self.per_node else self.factor

    def __str__(self) -> str:
        return f"{self.factor}N" if self.per_node else str(self.factor)


@dataclass(frozen=True)
class MemoryPrediction:
    """Lengths and bytes of the arrays of a parallel sort; all exact.

    Each of p processes holds l_n = n/p of n m-vectors, and sends a block of l_n/p = n/p² of them to
    every process. Where p or p² does not divide n, lengths are fractions: the means of unequal
    arrays and blocks.

    Attributes:
        numbers: n, the m-vectors that are sorted.
        nodes: N.
        processes_per_node: processes on every node.
        doubles: m, doubles in each vector.
    """

    numbers: int
    nodes: int
    processes_per_node: int
    doubles: int

    def __post_init__(self) -> None:
        """Refuses what no MPI program could run.

        Raises:
            UsageError: when something is below 1, or beyond MPI's processes or 64-bit bytes.
        """
        for name, value in (
            ("numbers", self.numbers),
            ("nodes", self.nodes),
            ("processes per node", self.processes_per_node),
            ("doubles in a vector", self.doubles),
        ):
            if value < 1:
                raise UsageError(f"{name}: expected at least 1, got {value}")
        if self.processes > _MOST_PROCESSES:
            raise UsageError(
                f"expected at most {_MOST_PROCESSES:,} processes, got {self.processes:,} "
                f"({self.processes_per_node:,} on every node)"
            )
        if self.nodes * self.node_bytes > _MOST_BYTES:
            raise UsageError(
                f"expected arrays of less than 8 EiB, got {self.numbers:,} vectors of "
                f"{self.doubles:,} doubles over {self.processes:,} processes"
            )

    @property
    def processes(self) -> int:
        """p, over all nodes."""
        return self.nodes * self.processes_per_node

    @property
    def local_length(self) -> Fraction:
        """l_n = n/p, m-vectors in a local array."""
        return Fraction(self.numbers, self.processes)

    @property
    def block_length(self) -> Fraction:
        """l_n/p = n/p², m-vectors that a process sends to each."""
        return Fraction(self.numbers, self.processes**2)

    @property
    def divides(self) -> bool:
        """Whether all blocks, and so all local arrays, are of the same length."""
        return self.block_length.denominator == 1

    @property
    def vector_bytes(self) -> int:
        """Bytes of an m-vector."""
        return BYTES_OF_DOUBLE * self.doubles

    @property
    def global_bytes(self) -> int:
        """Bytes of one array over all processes."""
        return self.numbers * self.vector_bytes

    @property
    def local_bytes(self) -> Fraction:
        """Bytes of one local array."""
        return self.local_length * self.vector_bytes

    @property
    def block_bytes(self) -> Fraction:
        """Bytes that a process sends to each."""
        return self.block_length * self.vector_bytes

    @property
    def node_bytes(self) -> int:
        """Bytes of all arrays of a node, unsorted and sorted, each local length rounded up."""
        longest = -(-self.numbers // self.processes)
        return ARRAYS * self.processes_per_node * longest * self.vector_bytes

    def fit(self, node_memory: int) -> Fit:
        """Compares the arrays of a node with its memory in bytes; see `NEAR`."""
        if self.node_bytes > node_memory:
            return Fit.EXCEEDS
        return Fit.NEAR if self.node_bytes >= NEAR * node_memory else Fit.FITS
