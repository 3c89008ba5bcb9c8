"""Memory that a cell needs on a host, before it runs."""

from __future__ import annotations

from contend.measurement.sort_memory import NEAR, MemoryPrediction
from contend.study.measured.cell import Cell
from contend.units import format_bytes

_BUFFERS = 2
"""What every rank of an all-to-all holds: what it sends, and what it receives."""


def prediction(cell: Cell) -> MemoryPrediction | None:
    """Lengths and bytes of a sort; None for other probes."""
    if cell.numbers is None or cell.vector is None:
        return None
    return MemoryPrediction(cell.numbers, cell.nodes, cell.ranks_per_node, cell.vector)


def node_bytes(cell: Cell, size: int | None = None) -> int:
    """Bytes of all arrays of a node.

    Args:
        cell: the launch.
        size: bytes of a message; None for the cell's largest.
    """
    if sort := prediction(cell):
        return sort.node_bytes
    largest = max(cell.sizes, default=0) if size is None else size
    partners = cell.ranks if cell.probe == "alltoall" else 1
    return _BUFFERS * cell.ranks_per_node * partners * largest


def refusal(needed: int, memory: int, where: str) -> str:
    """Why arrays do not fit, with the figures."""
    return (
        f"arrays of {format_bytes(needed)} ({needed:,} bytes) do not fit {where}, "
        f"which has {format_bytes(memory)}"
    )


def nearness(needed: int, memory: int, where: str) -> str:
    """What to know of arrays that fit but come near; "" where they do not."""
    if not NEAR * memory <= needed <= memory:
        return ""
    return (
        f"arrays of {format_bytes(needed)} come near {where}, which has {format_bytes(memory)}: "
        "the system, the program and MPI need memory too"
    )
