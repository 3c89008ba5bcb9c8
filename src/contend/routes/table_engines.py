"""Engines whose routes are tables, or a formula on networks of which nothing is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes.addresses import targets_of
from contend.routes.computed.computed_routes import computed_routes
from contend.routes.computed.shapes import complete_tree, grid, needing_none, tree_of_own_parents
from contend.routes.multipath.hashed import are_many
from contend.routes.options import read_roots
from contend.routes.room import expect_room
from contend.routes.routes import Routes
from contend.routes.tables import ForwardingTables

# Turns of minhop that a formula keeps, in two bytes each; tables take several times as much.
_MOST_TURNS = 1 << 29


@dataclass(frozen=True)
class EngineJob:
    """What an engine is asked to route.

    Attributes:
        fabric: with addresses, without routes.
        options: of the engine, by name.
    """

    fabric: Fabric
    options: Mapping[str, str]

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
    return _core.make_balanced_tree_resolver(fabric.core, tree, targets_of(fabric), hosts)


def dor(job: EngineJob) -> Routes:
    """Dimension order."""
    fabric, by_tables = job.fabric, _dor_ports
    if are_many(fabric, np.arange(fabric.hosts, dtype=np.uint32)):
        computed = computed_routes(fabric, by_tables, _dor_resolver, grid)
        if computed is not None:
            return computed
    return job.tables(by_tables)


def _dor_ports(fabric: Fabric) -> NDArray[np.uint16]:
    return _core.dimension_order(fabric.core, targets_of(fabric))


def _dor_resolver(fabric: Fabric, grid: _core.Grid, hosts: NDArray[np.uint32]) -> _core.Resolver:
    return _core.make_dimension_order_resolver(fabric.core, grid, targets_of(fabric), hosts)


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
    tree = complete_tree(core)
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
    return _core.make_tree_resolver(fabric.core, tree, hosts, in_order_of_ports)
