"""Routes that a formula gives: tables are made only for who asks for them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import MissingError
from contend.fabric import Fabric, made_of
from contend.routes.addresses import table_size, targets_of
from contend.routes.routes import Routes
from contend.routes.tables import ForwardingTables
from contend.units import format_bytes

# What the core's graph of a fabric is made of, and how destinations are counted.
_GRAPH = (
    *("host_switch", "host_port", "host_lid", "host_lmc", "switch_ports"),
    *("cable_from", "cable_from_port", "cable_to", "cable_to_port"),
)


@dataclass(frozen=True, eq=False)
class ComputedRoutes(Routes):
    """Destination-mod-k on a tree of which nothing is missing.

    The channels that a message crosses follow from the numbers of its hosts, and are the same that
    tables would give. What needs tables gets them, made when they are first asked for.

    Attributes:
        made_for: the fabric that they were computed for, without routes.
        in_order_of_ports: see `contend._core.d_mod_k`.
    """

    made_for: Fabric = field(repr=False)
    in_order_of_ports: bool = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_of(self)

    @cached_property
    def tree(self) -> _core.CompleteTree | None:
        """What the fabric is; None where no formula gives its routes."""
        # The further addresses of a host have turns of their own.
        if self.made_for.host_lmc.any():
            return None
        return _core.find_complete_tree(self.made_for.core)

    @cached_property
    def tables(self) -> ForwardingTables:
        """What they are in tables.

        Raises:
            MissingError: memory is short for these.
        """
        fabric = self.made_for
        expect_room(fabric)
        ports = _core.d_mod_k(fabric.core, targets_of(fabric), self.in_order_of_ports)
        return ForwardingTables(ports, engine=self.engine)

    @property
    def ports(self) -> NDArray[np.uint16]:
        """Those of the tables, see `ForwardingTables.ports`."""
        return self.tables.ports

    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """By the formula on the fabric that it was found for, by tables on any other."""
        if self.tree is None or not _same_graph(fabric, self.made_for):
            return self.tables.resolver(fabric, hosts, spread=spread, messages=messages)
        return _core.make_tree_resolver(fabric.core, self.tree, hosts, self.in_order_of_ports)


def _same_graph(one: Fabric, other: Fabric) -> bool:
    """Whether both have the same cables and addresses."""
    columns = ((getattr(one, name), getattr(other, name)) for name in _GRAPH)
    return all(mine is its or np.array_equal(mine, its) for mine, its in columns)


def computed_routes(fabric: Fabric, *, in_order_of_ports: bool) -> ComputedRoutes | None:
    """Destination-mod-k by a formula; None where no formula gives it.

    Args:
        fabric: with addresses.
        in_order_of_ports: see `contend._core.d_mod_k`.
    """
    routes = ComputedRoutes(fabric, in_order_of_ports)
    return None if routes.tree is None else routes


def expect_room(fabric: Fabric, memory: int | None = None, *, instead: bool = False) -> None:
    """Refuses tables that are larger than this machine's memory.

    Args:
        fabric: that they are for.
        memory: bytes; None asks the machine.
        instead: say which engine needs none.

    Raises:
        MissingError: with what they need, and what there is.
    """
    size = 2 * fabric.switches * table_size(fabric)
    if memory is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if size <= memory:
        return
    known = instead and _core.find_complete_tree(fabric.core) is not None
    raise MissingError(
        f"forwarding tables of {fabric.name} need {format_bytes(size)}, and this machine has "
        f"{format_bytes(memory)} of memory"
        + ("; on such a tree the engine dmodk needs no tables" if known else "")
    )
