"""Routes beyond the shortest: packets by way of a switch or group that is drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.errors import UsageError
from contend.fabric import Fabric, capacities
from contend.routes.multipath.adaptive import AdaptiveTables
from contend.routes.multipath.sprayed import group_of_switch
from contend.routes.multipath.without_tables import RoutesWithoutTables

# Bytes for every two switches with hosts: the order of the ways, and what a round keeps.
_IN_ORDER, _OF_VALIANT, _OF_UGAL = 4, 20, 44


@dataclass(frozen=True)
class ValiantRoutes(RoutesWithoutTables):
    """Valiant's algorithm: any traffic loads the network as two rounds of uniform traffic would.

    Every packet goes to an intermediate switch first, drawn from all switches with hosts, and from
    there to its target, over any shortest path on both halves. The switches of the source and of
    the target may be drawn too. Messages within a switch stay there.

    Source: L. Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11,
    1982; by groups: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly
    topology", ISCA 2008, section 4.1.

    Attributes:
        by_groups: whether packets turn in an intermediate group instead, drawn from all of them,
            at the switch where they enter it. Paths are short then that cross few cables between
            groups, as minimal routing on dragonflies has it.
    """

    engine: str = field(default="valiant", kw_only=True)
    by_groups: bool = field(default=False, kw_only=True)

    @property
    def everywhere(self) -> bool:
        """On its way to all switches and back."""
        return True

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Spreads messages in bulk, leaf by leaf, by way of the switches that are left."""
        self.expect_room(fabric, hosts, rest, between_leaves=_IN_ORDER + _OF_VALIANT)
        group = group_of_switch(fabric, by_groups=self.by_groups)
        return _core.make_valiant_resolver(fabric.core, hosts, group, rest)

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """No entry says by way of which switch a packet goes."""
        raise UsageError(
            f"no file says that routes are those of {self.engine}: give route=ecmp or spray"
        )


@dataclass(frozen=True)
class UgalRoutes(ValiantRoutes):
    """Universal globally-adaptive load balancing (UGAL): straight, or around as Valiant, by load.

    Each packet takes a shortest path or a detour, whichever takes less by the queues and the hops
    on the way. Every source knows all queues, as in UGAL-G. Counting has no queues, so the
    31st power of a channel's load, in messages, stands for its queue, and messages split so that
    none would gain by sending more packets straight or around. That leaves the fullest channel
    about as full as the best of such splits would.

    Source: A. Singh, "Load-balanced routing in interconnection networks", Stanford University,
    2005; on dragonflies Kim, Dally, Scott, Abts, ISCA 2008, section 4.2.
    """

    engine: str = field(default="ugal", kw_only=True)

    @property
    def together(self) -> bool:
        """A packet goes around where others fill its shortest path."""
        return True

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Splits all messages of a round together."""
        self.expect_room(fabric, hosts, rest, between_leaves=_IN_ORDER + _OF_UGAL)
        group = group_of_switch(fabric, by_groups=self.by_groups)
        capacity = capacities(fabric)
        seconds = np.repeat(capacity.host.max(initial=0.0) / capacity.cable, 2)
        return _core.make_ugal_resolver(fabric.core, hosts, group, seconds, rest)
