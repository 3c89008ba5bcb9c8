"""Routes that a formula gives: tables are made only for who asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.fabric import Fabric, made_of
from contend.progress import step
from contend.routes.computed.shapes import complete_tree
from contend.routes.multipath.adaptive import AdaptiveTables
from contend.routes.room import expect_room
from contend.routes.routes import Routes
from contend.routes.tables import ForwardingTables

# What the core's graph of a fabric is made of, and how destinations are counted.
_GRAPH = (
    *("host_switch", "host_port", "host_lid", "host_lmc", "switch_ports"),
    *("cable_from", "cable_from_port", "cable_to", "cable_to_port"),
)


@dataclass(frozen=True, eq=False)
class ComputedRoutes(Routes):
    """Routes of an engine that has a formula on a tree or grid of which nothing is missing.

    The channels that a message crosses follow from the numbers of its hosts, and are the same that
    the engine's tables would give. What needs tables gets them, made when they are first asked for.

    Attributes:
        made_for: the fabric that they were computed for, without routes.
        by_tables: the engine, which makes the ports of `ForwardingTables`.
        by_formula: makes the resolver between hosts on what was found.
        find: finds what the fabric is.
    """

    made_for: Fabric = field(repr=False)
    by_tables: Callable[[Fabric], NDArray[np.uint16]] = field(repr=False)
    by_formula: Callable[[Fabric, Any, NDArray[np.uint32]], _core.Resolver] = field(repr=False)
    find: Callable[[_core.Fabric], Any] = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_of(self)

    @cached_property
    def shape(self) -> Any:
        """What the fabric is; None where no formula gives its routes."""
        # The further addresses of a host have turns of their own.
        if self.made_for.host_lmc.any():
            return None
        return self.find(self.made_for.core)

    @cached_property
    def tables(self) -> ForwardingTables:
        """What they are in tables.

        Raises:
            MissingError: memory is short for these.
        """
        instead = "contend simulate needs none, unless --plot asks for a page (.html)"
        expect_room(self.made_for, instead=lambda: instead)
        with step(f"tables of {self.made_for.name} by {self.engine}"):
            return ForwardingTables(self.by_tables(self.made_for), engine=self.engine)

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """What the tables say, in which no entry has a group."""
        return self.tables.in_groups(fabric)

    @property
    def ports(self) -> NDArray[np.uint16]:
        """Those of the tables, see `ForwardingTables.ports`."""
        return self.tables.ports

    def resolver(
        self, fabric: Fabric, hosts: NDArray[np.uint32], *, spread: bool, messages: float
    ) -> _core.Resolver:
        """By the formula on the fabric that it was found for, by tables on any other."""
        if self.shape is None or not _same_graph(fabric, self.made_for):
            return self.tables.resolver(fabric, hosts, spread=spread, messages=messages)
        return self.by_formula(self.made_for, self.shape, hosts)


def _same_graph(one: Fabric, other: Fabric) -> bool:
    """Whether both have the same cables and addresses."""
    columns = ((getattr(one, name), getattr(other, name)) for name in _GRAPH)
    return all(mine is its or np.array_equal(mine, its) for mine, its in columns)


def computed_routes(
    fabric: Fabric,
    by_tables: Callable[[Fabric], NDArray[np.uint16]],
    by_formula: Callable[[Fabric, Any, NDArray[np.uint32]], _core.Resolver],
    find: Callable[[_core.Fabric], Any] = complete_tree,
) -> ComputedRoutes | None:
    """The routes of an engine by its formula; None where that does not give them.

    Args:
        fabric: with addresses.
        by_tables: see `ComputedRoutes`.
        by_formula: likewise.
        find: likewise.
    """
    routes = ComputedRoutes(fabric, by_tables, by_formula, find)
    return None if routes.shape is None else routes
