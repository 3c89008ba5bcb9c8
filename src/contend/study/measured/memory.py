"""Words for data that does not fit the memory of a host, or comes near it."""

from __future__ import annotations

from contend.measurement import NEAR
from contend.units import format_bytes


def refusal(needed: int, memory: int, host: str) -> str:
    """Why data does not fit, with the figures."""
    return (
        f"data of {format_bytes(needed)} ({needed:,} bytes) does not fit {host}, "
        f"which has {format_bytes(memory)}"
    )


def nearness(needed: int, memory: int, host: str) -> str:
    """What to know of data that fits but comes near; "" where it does not."""
    if not NEAR * memory <= needed <= memory:
        return ""
    return (
        f"data of {format_bytes(needed)} comes near {host}, which has {format_bytes(memory)}: "
        "the system, the program and MPI need memory too"
    )
