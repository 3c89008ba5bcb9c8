"""Routes of messages that split: evenly over shortest ways, around by others, or as is best."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.fabric import Fabric, capacities, group_circle, switch_levels
from contend.routes.multipath.adaptive import AdaptiveTables, shortest_in_groups
from contend.routes.multipath.without_tables import (
    Finder,
    NextHops,
    RoutesWithoutTables,
    Shape,
    are_many,
    find_complete_tree,
    find_dragonfly,
    find_grid,
    first_shape,
    shortest_next_hops,
)
from contend.routes.routes import Round, Ways

# Leaves times channels between switches.
_MOST_CHANNELS = 1 << 24
# Pairs of a switch and one with hosts: their ways are searched for some minutes.
_MOST_SOLVED = 1 << 31
# Bytes for every two switches with hosts: the order of the ways, and what a round keeps.
_IN_ORDER, _OF_VALIANT, _OF_UGAL = 4, 24, 48


@dataclass(frozen=True)
class SprayedRoutes(RoutesWithoutTables):
    """Every packet over all shortest ways alike, as switches that spray or choose adaptively do.

    At every switch a message splits evenly over the cables that begin a shortest way to its
    target's switch. What they do about ways that are full already is left out: real adaptive
    routing may get more on a fabric with faults, and gets less where its switches learn of it late.
    """

    engine: str = field(default="spray", kw_only=True)
    by_groups: bool = field(default=False, kw_only=True)
    """Whether paths are short that cross few cables between groups of switches, as minimal routing
    on dragonflies has it: one at most. Of those that cross as few, the ones with fewest cables."""

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Spreads messages in bulk, leaf by leaf."""
        group = group_of_switch(fabric, by_groups=self.by_groups)
        shape = self._shape(fabric, hosts, group) if rest is None else None
        if shape is None:
            self.expect_room(fabric, hosts, rest, between_leaves=4)
        return _core.sprayed_resolver(fabric.core, hosts, shape or rest, group)

    def _shape(
        self, fabric: Fabric, hosts: NDArray[np.uint32], group: NDArray[np.uint32]
    ) -> Shape | None:
        """What has a formula, where that takes less than sets of channels; None elsewhere."""
        many = are_many(fabric, hosts)
        finders: list[Finder] = []
        if not self.by_groups and (many or _lead_over_many(fabric, hosts)):
            finders.append(find_grid)
        if many and not self.by_groups:
            finders.append(find_complete_tree)
        found = first_shape(fabric.core, finders)
        if found is not None or not many:
            return found
        dragonfly = find_dragonfly(fabric.core)
        fits = dragonfly is not None and _of_so_many(group, dragonfly.switches)
        return dragonfly if fits else None

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """Every switch chooses for each packet among all ports that begin a shortest way."""
        if self.by_groups:
            raise self.told_by_no_file()
        return shortest_in_groups(fabric, hashed=False)

    def packet_routes(
        self, fabric: Fabric, hosts: NDArray[np.uint32], resolver: _core.Resolver, messages: Round
    ) -> _core.PacketRoutes:
        """Switches draw."""
        group = group_of_switch(fabric, by_groups=self.by_groups)
        ends = (messages.source, messages.target)
        return _core.packet_routes_by_choice(fabric.core, hosts, *ends, group, False)

    def next_hops(self, fabric: Fabric, hosts: NDArray[np.uint32]) -> NextHops | None:
        """The channels that the packets of a message take alike; None where groups count."""
        return None if self.by_groups else shortest_next_hops(fabric, hosts)


def _ranks(fabric: Fabric) -> NDArray[np.uint32]:
    """Ranks of channels between switches that rise along most ways, shape [2 cables].

    Channels between groups rank above those within one. Where there are none, those up a tree rank
    by their level, and above all of these, the other way round, those down.
    """
    start = np.stack([fabric.cable_from, fabric.cable_to], axis=1).ravel()
    end = np.stack([fabric.cable_to, fabric.cable_from], axis=1).ravel()
    groups = group_circle(fabric)
    if groups is not None:
        between: NDArray[np.bool_] = groups[start] != groups[end]
        return between.astype(np.uint32)
    level = switch_levels(fabric)
    down = 2 * level.max(initial=0) - level[start]
    return np.where(level[end] < level[start], down, level[start]).astype(np.uint32)


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


@dataclass(frozen=True)
class ValiantRoutes(RoutesWithoutTables):
    """Valiant's algorithm: any traffic loads the network as two rounds of uniform traffic would.

    Every packet goes to an intermediate switch first, drawn from all switches with hosts, and from
    there to its target, over any shortest path on both halves. The switches of the source and of
    the target may be drawn too. Messages within a switch stay there.

    Source: L. Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11,
    1982; by groups: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly
    topology", ISCA 2008, section 4.1.
    """

    engine: str = field(default="valiant", kw_only=True)
    by_groups: bool = field(default=False, kw_only=True)
    """Whether packets turn in an intermediate group instead, drawn from all of them, at the switch
    where they enter it. Paths are short then that cross few cables between groups, as minimal
    routing on dragonflies has it."""

    @property
    def ways(self) -> Ways:
        """To all switches and back."""
        return super().ways | Ways.EVERYWHERE

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Spreads messages in bulk, leaf by leaf, by way of the switches that are left."""
        self.expect_room(fabric, hosts, rest, between_leaves=_IN_ORDER + _OF_VALIANT)
        group = group_of_switch(fabric, by_groups=self.by_groups)
        return _core.valiant_resolver(fabric.core, hosts, rest, group)

    def packet_routes(
        self, fabric: Fabric, hosts: NDArray[np.uint32], resolver: _core.Resolver, messages: Round
    ) -> _core.PacketRoutes:
        """A way drawn for every packet, on lanes that no circle closes on."""
        group = group_of_switch(fabric, by_groups=self.by_groups)
        adapts, ends = Ways.TOGETHER in self.ways, (messages.source, messages.target)
        return _core.packet_routes_by_detours(
            fabric.core, hosts, group, _ranks(fabric), adapts, *ends
        )

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """No entry says by way of which switch a packet goes."""
        raise self.told_by_no_file()


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
    def ways(self) -> Ways:
        """A packet goes around where others fill its shortest path."""
        return super().ways | Ways.TOGETHER

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Splits all messages of a round together."""
        self.expect_room(fabric, hosts, rest, between_leaves=_IN_ORDER + _OF_UGAL)
        group = group_of_switch(fabric, by_groups=self.by_groups)
        capacity = capacities(fabric)
        seconds = np.repeat(capacity.host.max(initial=0.0) / capacity.cable, 2)
        return _core.ugal_resolver(fabric.core, hosts, rest, group, seconds)


@dataclass(frozen=True)
class IdealRoutes(RoutesWithoutTables):
    """What adaptive switches reach at best: max-min fair shares over all shortest paths.

    Every message may split over its shortest paths in any proportion. The shares are those where
    none can be raised without lowering one that is no larger. Real switches decide by the queues
    that they see, and get less.
    """

    engine: str = field(default="adaptive", kw_only=True)

    @property
    def ways(self) -> Ways:
        """A message makes room for the others; the core solves that, see `IdealRounds`."""
        return super().ways | Ways.TOGETHER | Ways.SOLVED

    @property
    def each_alone(self) -> SprayedRoutes:
        """Evenly over the same paths."""
        return SprayedRoutes()

    def on_rest(
        self, fabric: Fabric, hosts: NDArray[np.uint32], rest: _core.Remains | None
    ) -> _core.Resolver:
        """Solves for all messages of a round together."""
        leaves = len(np.unique(fabric.host_switch[hosts]))
        if leaves * fabric.switches > _MOST_SOLVED:
            raise UsageError(
                f"adaptive takes at most {_MOST_SOLVED:,} switches times switches with hosts, and "
                f"{fabric.name} has {leaves * fabric.switches:,}: take fewer hosts, or ecmp"
            )
        self.expect_room(fabric, hosts, rest)
        return _core.ideal_resolver(fabric.core, hosts, rest)

    def packet_routes(
        self, fabric: Fabric, hosts: NDArray[np.uint32], resolver: _core.Resolver, messages: Round
    ) -> _core.PacketRoutes:
        """Switches send each packet where fewest wait."""
        none = np.zeros(0, dtype=np.uint32)
        ends = (messages.source, messages.target)
        return _core.packet_routes_by_choice(fabric.core, hosts, *ends, none, True)

    def in_groups(self, fabric: Fabric) -> AdaptiveTables:
        """Every switch chooses for each packet among all ports that begin a shortest way."""
        return shortest_in_groups(fabric, hashed=False)
