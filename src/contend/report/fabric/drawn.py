"""What of a fabric is drawn: without idle switches, or by groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from contend.fabric import (
    Fabric,
    SwitchGroups,
    cables_per_pair,
    idle_switches,
    is_tree,
    switch_groups,
    switch_levels,
)

# A tree with more joined pairs, or more switches in a level, is drawn by groups where it has some;
# with many more also where it has none.
_MOST_PAIRS, _MOST_IN_LEVEL = 300, 40
_FAR_TOO_MANY_PAIRS, _FAR_TOO_MANY = 1500, 72


@dataclass(frozen=True, eq=False)
class ChannelLoad:
    """What the channels between switches carry, and how long they need for it.

    Attributes:
        load: of every channel between switches, shape [2 cables].
        heat: load over rate, likewise; see `contend.congestion.heat`.
        unit: what is counted, in the plural.
        port: label of the rate that heat goes by; "" where links are alike, and heat is the load.
        assumed: labels of the rates that links of unknown rate were taken for.
    """

    load: NDArray[np.float64]
    heat: NDArray[np.float64]
    unit: str
    port: str = ""
    assumed: Sequence[str] = ()

    def of_cables(self, kept: NDArray[np.bool_]) -> ChannelLoad:
        """That of some cables."""
        both = np.repeat(kept, 2)
        return replace(self, load=self.load[both], heat=self.heat[both])


@dataclass(frozen=True, eq=False)
class Drawn:
    """What of a fabric is drawn.

    Attributes:
        fabric: without what is left out, unless groups are drawn.
        load: over every channel between its switches.
        level: of every switch, shape [switches].
        idle: which switches nothing needs, shape [switches].
        groups: of switches, None where each is drawn alone.
        left_out: number of switches that are not drawn.
        kept: which switches of the whole fabric are there, shape [switches].
        cables: which cables are, shape [cables].
    """

    fabric: Fabric
    load: ChannelLoad | None
    level: NDArray[np.int64]
    idle: NDArray[np.bool_]
    groups: SwitchGroups | None
    left_out: int
    kept: NDArray[np.bool_]
    cables: NDArray[np.bool_]


def what_is_drawn(fabric: Fabric, load: ChannelLoad | None, *, whole: bool = False) -> Drawn:
    """Chooses between single switches and groups, and leaves out what nothing needs.

    Args:
        fabric: the fabric.
        load: over its channels.
        whole: nothing is left out.
    """
    level = switch_levels(fabric)
    idle = idle_switches(fabric)
    if load is not None:
        idle &= idle_switches(fabric, load.load.astype(bool).astype(np.uint64))
    low, high, _ = cables_per_pair(fabric)
    needed = ~idle[low] & ~idle[high]
    groups = _groups_of_large(fabric, level, idle, low[needed], high[needed])
    everything = np.ones(fabric.switches, dtype=np.bool_), np.ones(fabric.cables, dtype=np.bool_)
    if groups is not None:
        left_out = int(np.count_nonzero(groups.number < 0))
        return Drawn(fabric, load, level, idle, groups, left_out, *everything)
    if whole:
        return Drawn(fabric, load, np.maximum(level, 1), idle, None, 0, *everything)
    rest, load, kept, cables = without_idle(fabric, load, idle)
    return Drawn(
        rest,
        load,
        np.maximum(level[kept], 1),
        np.zeros(rest.switches, dtype=np.bool_),
        None,
        fabric.switches - rest.switches,
        kept,
        cables,
    )


def _groups_of_large(
    fabric: Fabric,
    level: NDArray[np.int64],
    idle: NDArray[np.bool_],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> SwitchGroups | None:
    """Groups of a tree that is too large to draw every cable."""
    if not len(low) or not is_tree(level, low, high):
        return None
    widest = int(np.bincount(level[~idle]).max())
    if len(low) <= _MOST_PAIRS and widest <= _MOST_IN_LEVEL:
        return None
    groups = switch_groups(fabric)
    if groups.rule == "levels" and len(low) <= _FAR_TOO_MANY_PAIRS and widest <= _FAR_TOO_MANY:
        return None
    return groups


def without_idle(
    fabric: Fabric, load: ChannelLoad | None, idle: NDArray[np.bool_]
) -> tuple[Fabric, ChannelLoad | None, NDArray[np.bool_], NDArray[np.bool_]]:
    """A fabric without its idle switches and their cables, its load, and which of both are kept."""
    kept: NDArray[np.bool_] = ~idle
    ends = np.stack([fabric.cable_from, fabric.cable_to])
    number = (np.cumsum(kept) - 1).astype(np.uint32)
    cables: NDArray[np.bool_] = np.all(kept[ends], axis=0)
    names = np.array(fabric.switch_name, dtype=object)
    drawn = fabric.replace(
        host_switch=number[fabric.host_switch],
        switch_name=tuple(names[kept]),
        switch_guid=fabric.switch_guid[kept],
        switch_system_guid=fabric.switch_system_guid[kept],
        switch_ports=fabric.switch_ports[kept],
        switch_lid=fabric.switch_lid[kept],
        cable_from=number[fabric.cable_from[cables]],
        cable_from_port=fabric.cable_from_port[cables],
        cable_to=number[fabric.cable_to[cables]],
        cable_to_port=fabric.cable_to_port[cables],
        cable_rate=fabric.cable_rate[cables],
        routes=None,
    )
    carried = None if load is None else load.of_cables(cables)
    return drawn, carried, kept, cables
