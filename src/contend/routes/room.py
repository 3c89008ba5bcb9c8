"""Whether this machine has room for what routes keep."""

from __future__ import annotations

import os
from collections.abc import Callable

from contend.errors import MissingError
from contend.fabric import Fabric
from contend.routes.addresses import table_size
from contend.units import format_bytes


def expect_room(
    fabric: Fabric, memory: int | None = None, *, instead: Callable[[], str] = str
) -> None:
    """Refuses tables that are larger than this machine's memory.

    Args:
        fabric: that they are for.
        memory: bytes; None asks the machine.
        instead: says what needs none, or "".

    Raises:
        MissingError: with what they need, and what there is.
    """
    size = 2 * fabric.switches * table_size(fabric)
    expect_memory(size, f"forwarding tables of {fabric.name} need", memory, instead)


def machine_memory() -> int:
    """Bytes that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def expect_memory(
    size: int, what: str, memory: int | None = None, instead: Callable[[], str] = str
) -> None:
    """Refuses what is larger than this machine's memory.

    Args:
        size: bytes.
        what: needs them, in words before the number: "tables need".
        memory: bytes; None asks the machine.
        instead: says what needs less, or "".

    Raises:
        MissingError: with what is needed, and what there is.
    """
    if memory is None:
        memory = machine_memory()
    if size > memory:
        other = instead()
        raise MissingError(
            f"{what} {format_bytes(size)}, and this machine has {format_bytes(memory)} of memory"
            f"{other and '; '}{other}"
        )
