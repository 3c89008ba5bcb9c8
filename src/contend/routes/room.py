"""Whether this machine has room for what routes keep, and which engines keep nothing."""

from __future__ import annotations

import os
from collections.abc import Callable

from contend import _core
from contend.errors import MissingError
from contend.fabric import Fabric
from contend.routes.addresses import table_size
from contend.units import format_bytes


def tree_of_own_parents(core: _core.Fabric) -> _core.CompleteTree | None:
    """The complete tree that a fabric is, where no two planes share parents; None elsewhere.

    Routes of dmodk come down there as they go up, which makes them a formula.
    """
    tree = _core.find_complete_tree(core)
    return None if tree is None or tree.shared else tree


# What finds networks on which some engines follow messages by a formula.
_FORMULAS = (
    (tree_of_own_parents, "minhop, dmodk, ecmp and spray need none on such a tree"),
    (_core.find_complete_tree, "minhop, ecmp and spray need none on such a tree"),
    (_core.find_dragonfly, "ecmp and spray need none on such a dragonfly"),
    (_core.find_grid, "dor, ecmp and spray need none on such a grid"),
)


def needing_none(fabric: Fabric) -> str:
    """The engines that keep neither tables nor next hops of a fabric, in words; "" for none."""
    # The further addresses of hosts have no formula.
    known = () if fabric.host_lmc.any() else _FORMULAS
    return next((words for find, words in known if find(fabric.core) is not None), "")


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
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size > memory:
        other = instead()
        raise MissingError(
            f"{what} {format_bytes(size)}, and this machine has {format_bytes(memory)} of memory"
            f"{other and '; '}{other}"
        )
