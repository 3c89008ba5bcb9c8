"""Routes that ideal adaptive switches choose: every message splits as is best beside all others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric
from contend.routes.multipath.adaptive import AdaptiveTables, shortest_in_groups
from contend.routes.multipath.sprayed import SprayedRoutes
from contend.routes.multipath.without_tables import RoutesWithoutTables

# Pairs of a switch and one with hosts: their ways are searched for some minutes.
_MOST_WAYS = 1 << 31


@dataclass(frozen=True)
class IdealRoutes(RoutesWithoutTables):
    """What adaptive switches reach at best: max-min fair shares over all shortest paths.

    Every message may split over its shortest paths in any proportion. The shares are those where
    none can be raised without lowering one that is no larger. Real switches decide by the queues
    that they see, and get less.
    """

    engine: str = field(default="adaptive", kw_only=True)

    @property
    def together(self) -> bool:
        """A message makes room for the others."""
        return True

    @property
    def solved(self) -> bool:
        """By the core, see `IdealRounds`."""
        return True

    @property
    def each_alone(self) -> SprayedRoutes:
        """Evenly over the same paths."""
        return SprayedRoutes()

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Solves for all messages of a round together."""
        leaves = len(np.unique(fabric.host_switch[hosts]))
        if leaves * fabric.switches > _MOST_WAYS:
            raise UsageError(
                f"adaptive takes at most {_MOST_WAYS:,} switches times switches with hosts, and "
                f"{fabric.name} has {leaves * fabric.switches:,}: take fewer hosts, or ecmp"
            )
        self.expect_room(fabric, hosts, rest)
        return _core.make_ideal_resolver(fabric.core, hosts, rest)

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """Every switch chooses for each packet among all ports that begin a shortest way."""
        return shortest_in_groups(fabric, hashed=False)
