"""Engines whose routes are tables, or a formula on networks of which nothing is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.progress import step
from contend.fabric import Fabric, made_of
from contend.routes.addresses import expect_room, targets_of
from contend.routes.multipath.adaptive import AdaptiveTables
from contend.routes.multipath.without_tables import (
    are_many,
    find_complete_tree,
    find_grid,
    needing_none,
    tree_of_own_parents,
)
from contend.routes.options import read_roots
from contend.routes.routes import Routes
from contend.routes.tables import ForwardingTables

# What the core's graph of a fabric is made of, and how destinations are counted.
_GRAPH = (
    *("host_switch", "host_port", "host_lid", "host_lmc", "switch_ports"),
    *("cable_from", "cable_from_port", "cable_to", "cable_to_port"),
)
# Turns of minhop that a formula keeps, in two bytes each; tables take several times as much.
_MOST_TURNS = 1 << 29


@dataclass(frozen=True, eq=False)
class ComputedRoutes(Routes):
    """Routes of an engine that has a formula on a tree or grid of which nothing is missing.

    The channels that a message crosses follow from the numbers of its hosts, and are the same that
    the engine's tables would give. What needs tables gets them, made when they are first asked for.
    """

    made_for: Fabric = field(repr=False)
    """Fabric that they were computed for, without routes."""
    by_tables: Callable[[Fabric], NDArray[np.uint16]] = field(repr=False)
    """Engine that makes the ports of `ForwardingTables`."""
    by_formula: Callable[[Fabric, Any, NDArray[np.uint32]], _core.Resolver] = field(repr=False)
    """What makes the resolver between hosts on what was found."""
    find: Callable[[_core.Fabric], Any] = field(repr=False)
    """What finds what the fabric is."""

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
    find: Callable[[_core.Fabric], Any] = find_complete_tree,
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


@dataclass(frozen=True)
class EngineJob:
    """What an engine is asked to route."""

    fabric: Fabric
    """Fabric with addresses, without routes."""
    options: Mapping[str, str]
    """Options of the engine, by name."""

    @property
    def targets(self) -> _core.Targets:
        """What tables are made for, where there is room for them."""
        expect_room(self.fabric, instead=partial(needing_none, self.fabric))
        return targets_of(self.fabric)

    def tables(self, by_tables: Callable[[Fabric], NDArray[np.uint16]]) -> ForwardingTables:
        """What an engine makes, where there is room for it."""
        expect_room(self.fabric, instead=partial(needing_none, self.fabric))
        return ForwardingTables(by_tables(self.fabric))


def minhop(job: EngineJob) -> Routes:
    """Shortest paths, balanced over ports."""
    return _balanced(job, _minhop_ports)


def _minhop_ports(fabric: Fabric) -> NDArray[np.uint16]:
    return _core.minhop(fabric.core, targets_of(fabric))


def _balanced(job: EngineJob, by_tables: Callable[[Fabric], NDArray[np.uint16]]) -> Routes:
    """Shortest paths in turns, by a formula on complete trees and by tables elsewhere."""
    computed = computed_routes(job.fabric, by_tables, _balanced_resolver)
    tree = computed and computed.shape
    if computed and tree and _core.turn_entries(tree) <= _MOST_TURNS:
        return computed
    return job.tables(by_tables)


def _balanced_resolver(
    fabric: Fabric, tree: _core.CompleteTree, hosts: NDArray[np.uint32]
) -> _core.Resolver:
    return _core.balanced_tree_resolver(fabric.core, hosts, tree, targets_of(fabric))


def dor(job: EngineJob) -> Routes:
    """Dimension order."""
    fabric, by_tables = job.fabric, _dor_ports
    if are_many(fabric, np.arange(fabric.hosts, dtype=np.uint32)):
        computed = computed_routes(fabric, by_tables, _dor_resolver, find_grid)
        if computed is not None:
            return computed
    return job.tables(by_tables)


def _dor_ports(fabric: Fabric) -> NDArray[np.uint16]:
    return _core.dimension_order(fabric.core, targets_of(fabric))


def _dor_resolver(fabric: Fabric, grid: _core.Grid, hosts: NDArray[np.uint32]) -> _core.Resolver:
    return _core.dimension_order_resolver(fabric.core, hosts, grid, targets_of(fabric))


def updn(job: EngineJob) -> Routes:
    """Up and down from roots, balanced over ports."""
    core = job.fabric.core
    if "roots" in job.options:
        roots = read_roots(Path(job.options["roots"]), job.fabric)
    else:
        roots = _core.find_roots(core)
    if len(roots) == 0:
        raise UsageError(
            f"updn finds no root in {job.fabric.name}: a root has more than 90 % of all hosts at "
            "one distance; name roots with updn,roots=FILE"
        )
    by_tables = partial(_updn_ports, roots=roots)
    tree = find_complete_tree(core)
    if tree is not None and _are_highest(tree, roots, job.fabric.switches):
        return _balanced(job, by_tables)
    return job.tables(by_tables)


def _are_highest(tree: _core.CompleteTree, roots: NDArray[np.uint32], switches: int) -> bool:
    """Whether they are all switches from some level up: every shortest path then keeps the rule.

    Ranks grow downwards, and between roots both ways lead up.
    """
    lowest = min(roots.tolist())
    return lowest in tree.level_first() and len(set(roots.tolist())) == switches - lowest


def _updn_ports(fabric: Fabric, *, roots: NDArray[np.uint32]) -> NDArray[np.uint16]:
    return _core.up_down(fabric.core, targets_of(fabric), roots)


def dmodk(job: EngineJob) -> Routes:
    """Destination-mod-k, parallel cables after parents."""
    return _destination_mod_k(job, in_order_of_ports=False)


def fig1(job: EngineJob) -> Routes:
    """The same, parallel cables in the order of ports."""
    return _destination_mod_k(job, in_order_of_ports=True)


def _destination_mod_k(job: EngineJob, *, in_order_of_ports: bool) -> Routes:
    fabric = job.fabric
    by_tables = partial(_mod_k_ports, in_order_of_ports=in_order_of_ports)
    by_formula = partial(_mod_k_resolver, in_order_of_ports=in_order_of_ports)
    if computed := computed_routes(fabric, by_tables, by_formula, tree_of_own_parents):
        return computed
    if fault := _core.tree_fault(fabric.core):
        near, far, level = fault
        raise UsageError(
            f'dmodk needs a tree, but in {fabric.name} switches "{fabric.switch_label[near]}" and '
            f'"{fabric.switch_label[far]}" are cabled to each other and both on level {level + 1}'
        )
    return job.tables(by_tables)


def _mod_k_ports(fabric: Fabric, *, in_order_of_ports: bool) -> NDArray[np.uint16]:
    return _core.d_mod_k(fabric.core, targets_of(fabric), in_order_of_ports)


def _mod_k_resolver(
    fabric: Fabric,
    tree: _core.CompleteTree,
    hosts: NDArray[np.uint32],
    *,
    in_order_of_ports: bool,
) -> _core.Resolver:
    return _core.tree_resolver(fabric.core, hosts, tree, in_order_of_ports)
