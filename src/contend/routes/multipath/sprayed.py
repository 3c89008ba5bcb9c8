"""Routes of packets that are sprayed: each takes any shortest way, so messages split evenly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric, group_circle
from contend.routes.multipath.adaptive import AdaptiveTables, shortest_in_groups
from contend.routes.multipath.hashed import NextHops, are_many, shortest_next_hops
from contend.routes.multipath.without_tables import RoutesWithoutTables

# Leaves times channels between switches.
_MOST_CHANNELS = 1 << 24


@dataclass(frozen=True)
class SprayedRoutes(RoutesWithoutTables):
    """Every packet over all shortest ways alike, as switches that spray or choose adaptively do.

    At every switch a message splits evenly over the cables that begin a shortest way to its
    target's switch. What they do about ways that are full already is left out: real adaptive
    routing may get more on a fabric with faults, and gets less where its switches learn of it late.

    Attributes:
        by_groups: whether paths are short that cross few cables between groups of switches, as
            minimal routing on dragonflies has it: one at most. Of those that cross as few, the ones
            with fewest cables.
    """

    engine: str = field(default="spray", kw_only=True)
    by_groups: bool = field(default=False, kw_only=True)

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Spreads messages in bulk, leaf by leaf."""
        group = group_of_switch(fabric, by_groups=self.by_groups)
        computed = self._computed(fabric, hosts, group) if rest is None else None
        if computed is not None:
            return computed
        self.expect_room(fabric, hosts, rest, between_leaves=4)
        return _core.make_sprayed_resolver(fabric.core, hosts, group, rest)

    def _computed(
        self, fabric: Fabric, hosts: NDArray[np.uint32], group: NDArray[np.uint32]
    ) -> _core.Resolver | None:
        """By a formula, where that takes less than sets of channels; None elsewhere."""
        core = fabric.core
        many = are_many(fabric, hosts)
        if not self.by_groups and (many or _lead_over_many(fabric, hosts)):
            grid = _core.find_grid(core)
            if grid is not None:
                return _core.make_sprayed_grid_resolver(core, grid, hosts)
        if not many:
            return None
        tree = None if self.by_groups else _core.find_complete_tree(core)
        if tree is not None:
            return _core.make_sprayed_tree_resolver(core, tree, hosts)
        dragonfly = _core.find_dragonfly(core)
        if dragonfly is not None and _of_so_many(group, dragonfly.switches):
            return _core.make_sprayed_dragonfly_resolver(core, dragonfly, hosts, self.by_groups)
        return None

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """Every switch chooses for each packet among all ports that begin a shortest way."""
        if self.by_groups:
            raise UsageError(
                f"no file says that routes are those of {self.engine}: give route=ecmp or spray"
            )
        return shortest_in_groups(fabric, hashed=False)

    def next_hops(self, fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops | None:
        """The channels that the packets of a message take alike; None where groups count."""
        return None if self.by_groups else shortest_next_hops(fabric, hosts)


def _lead_over_many(fabric: Fabric, hosts: NDArray[np.uint32]) -> bool:
    """Whether switches have so many channels that on grids sets of these take long to find."""
    leaves = len(np.unique(fabric.host_switch[hosts]))
    return leaves * 2 * fabric.cables > _MOST_CHANNELS


def _of_so_many(group: NDArray[np.uint32], switches: int) -> bool:
    """Whether groups are so many switches each, in their order; where none count, too."""
    firsts = group[::switches]
    distinct = len(np.unique(firsts)) == len(firsts)
    return distinct and np.array_equal(group, np.repeat(firsts, switches))


def group_of_switch(fabric: Fabric, *, by_groups: bool) -> NDArray[np.uint32]:
    """Group of every switch, shape [switches]; empty where none count.

    Raises:
        UsageError: they count, and the fabric has none.
    """
    if not by_groups:
        return np.zeros(0, dtype=np.uint32)
    groups = group_circle(fabric)
    if groups is None:
        raise UsageError(
            f"by=groups: {fabric.name} has no groups of switches, as a dragonfly has, that names "
            "or cables tell"
        )
    return groups.astype(np.uint32)
