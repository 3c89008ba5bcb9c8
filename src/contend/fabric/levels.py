"""Where switches stand: levels, their oversubscription, and parts that no cable joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from contend.base.units import counted
from contend.fabric.fabric import Fabric

if TYPE_CHECKING:
    from contend.fabric.composition import Capacities

# Hosts of a leaf, as a share of what leaves have in the median, that cables are not bought for.
_FEW = 1 / 3
# A fabric with more than this share of its joined pairs within a level is no tree.
_MOST_ACROSS = 0.05


@dataclass(frozen=True)
class Level:
    """The switches of one level."""

    level: int
    """Number of the level: 1 for leaves, 2 for the switches above them, and so on."""
    switches: int
    """Number of its switches, those that nothing needs left out."""
    hosts: int
    """Number of hosts on them."""
    down: float
    """Capacity towards hosts and lower levels, one direction, in the structure's unit."""
    across: float
    """Capacity of the cables within the level."""
    up: float
    """Capacity towards higher levels."""
    oversubscription: float | None
    """Quotient of `down` and `up`; null where nothing leads up."""


@dataclass(frozen=True)
class Leaf:
    """A switch that holds hosts."""

    switch: str
    """Name of the switch, made unique where others share it."""
    guid: str
    """GUID such as ``0x0002c903006b8ac0``; "" where it is unknown."""
    level: int
    """Level at which it stands."""
    hosts: int
    """Number of hosts on it."""
    down: float
    """Capacity towards hosts and lower levels, one direction, in the structure's unit."""
    across: float
    """Capacity of the cables to switches of its level."""
    up: float
    """Capacity towards higher levels."""
    oversubscription: float | None
    """Quotient of `down` and `up`; null where nothing leads up."""


def switch_levels(fabric: Fabric) -> NDArray[np.int64]:
    """Level of every switch, shape [switches]: from 1; 0: no host can be reached.

    Levels follow from the cables that shortest paths between hosts go up and down by, see the
    core's ``find_levels``: a few hosts on a spine do not make it a leaf.
    """
    return fabric.levels[0].astype(np.int64)


def idle_switches(fabric: Fabric, load: NDArray[np.uint64] | None = None) -> NDArray[np.bool_]:
    """Which switches carry nothing between hosts, shape [switches].

    Args:
        fabric: the fabric.
        load: routes over every channel between switches, shape [2 cables]: those without any are
            idle. Without it, switches that lie on no shortest path between two hosts.
    """
    idle: NDArray[np.bool_]
    if load is None:
        idle = fabric.levels[1] == 0
        return idle
    idle = np.ones(fabric.switches, dtype=np.bool_)
    idle[fabric.host_switch] = False
    used = np.flatnonzero(load.reshape(-1, 2).any(axis=1))
    idle[fabric.cable_from[used]] = False
    idle[fabric.cable_to[used]] = False
    return idle


def is_tree(level: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    """Whether switches stand in levels.

    Args:
        level: of every switch, shape [switches].
        low: one end of every joined pair, shape [pairs].
        high: the other end.
    """
    across = int(np.count_nonzero(level[low] == level[high]))
    return int(level.max(initial=0)) > 1 and across <= _MOST_ACROSS * len(low)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Capacities of every switch, shape [switches]."""

    down: NDArray[np.float64]
    across: NDArray[np.float64]
    up: NDArray[np.float64]


def levels_of(
    fabric: Fabric, level_of: NDArray[np.int64], capacity: Capacities
) -> tuple[Level, ...]:
    """All levels that hold a switch, from the leaves up.

    Args:
        fabric: the fabric.
        level_of: level of every switch, shape [switches]; 0: in none.
        capacity: of its cables.
    """
    sums = _sums(fabric, level_of, capacity)
    hosts = np.bincount(fabric.host_switch, minlength=fabric.switches)
    levels = []
    for level in np.unique(level_of[level_of > 0]).tolist():
        here = level_of == level
        down, up = float(sums.down[here].sum()), float(sums.up[here].sum())
        levels.append(
            Level(
                level=level,
                switches=int(np.count_nonzero(here)),
                hosts=int(hosts[here].sum()),
                down=down,
                # A cable within the level has both its ends there.
                across=float(sums.across[here].sum()) / 2,
                up=up,
                oversubscription=down / up if up else None,
            )
        )
    return tuple(levels)


def leaves_of(
    fabric: Fabric, level_of: NDArray[np.int64], capacity: Capacities
) -> tuple[Leaf, ...]:
    """Every switch that holds hosts, those with the most oversubscription first."""
    sums = _sums(fabric, level_of, capacity)
    hosts = np.bincount(fabric.host_switch, minlength=fabric.switches)
    leaves = []
    for switch in np.flatnonzero(hosts).tolist():
        down, up = float(sums.down[switch]), float(sums.up[switch])
        guid = int(fabric.switch_guid[switch])
        leaves.append(
            Leaf(
                switch=fabric.switch_label[switch],
                guid=f"0x{guid:016x}" if guid else "",
                level=int(level_of[switch]),
                hosts=int(hosts[switch]),
                down=down,
                across=float(sums.across[switch]),
                up=up,
                oversubscription=down / up if up else None,
            )
        )
    return tuple(sorted(leaves, key=lambda leaf: (leaf.level, -(leaf.oversubscription or 0.0))))


def _sums(fabric: Fabric, level_of: NDArray[np.int64], capacity: Capacities) -> _Sums:
    near, far = fabric.cable_from.astype(np.int64), fabric.cable_to.astype(np.int64)
    within = (level_of[near] > 0) & (level_of[far] > 0) & (near != far)
    at = np.concatenate([near[within], far[within]])
    step = np.concatenate(
        [(level_of[far] - level_of[near])[within], (level_of[near] - level_of[far])[within]]
    )
    room = np.tile(capacity.cable[within], 2)
    size = fabric.switches
    to_hosts = np.bincount(fabric.host_switch, capacity.host, size)

    def total(where: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.bincount(at, room * where, size).astype(np.float64)

    return _Sums(down=total(step < 0) + to_hosts, across=total(step == 0), up=total(step > 0))


@dataclass(frozen=True)
class PartSize:
    """The size of a connected part."""

    number: int
    """Number from 1, that with most hosts first."""
    hosts: int
    """Number of hosts."""
    switches: int
    """Number of switches."""
    cables: int
    """Number of cables between its switches."""
    host: str
    """Name of its first host, which stands for the part."""


@dataclass(frozen=True, eq=False)
class Part:
    """Switches that cables join, and their hosts."""

    number: int
    """Number from 1, that with most hosts first."""
    hosts: NDArray[np.int64]
    """Numbers of its hosts in the fabric, shape [hosts]."""
    switches: NDArray[np.int64]
    """Numbers of its switches, shape [switches]."""
    cables: NDArray[np.int64]
    """Numbers of the cables between its switches, shape [cables]."""
    host: str
    """Name of its first host, which stands for the part."""

    @property
    def size(self) -> PartSize:
        """How large it is."""
        return PartSize(
            number=self.number,
            hosts=len(self.hosts),
            switches=len(self.switches),
            cables=len(self.cables),
            host=self.host,
        )

    @property
    def words(self) -> str:
        """``part 2 (16 hosts, such as "node01 mlx5_1")``."""
        return f'part {self.number} ({counted(len(self.hosts), "host")}, such as "{self.host}")'


def parts_of(fabric: Fabric) -> tuple[Part, ...]:
    """The connected parts that have hosts, those with most of them first."""
    part = fabric.switch_part
    of_host, of_cable = part[fabric.host_switch], part[fabric.cable_from]
    hosts = np.bincount(of_host, minlength=int(part.max(initial=-1)) + 1)
    order = np.argsort(-hosts, kind="stable")
    found = []
    for number, index in enumerate(order[hosts[order] > 0].tolist(), 1):
        members = np.flatnonzero(of_host == index)
        found.append(
            Part(
                number=number,
                hosts=members,
                switches=np.flatnonzero(part == index),
                cables=np.flatnonzero(of_cable == index),
                host=fabric.host_label[int(members[0])],
            )
        )
    return tuple(found)


def bare_switches(fabric: Fabric) -> NDArray[np.bool_]:
    """Which switches have neither cables nor hosts, shape [switches]."""
    bare = np.ones(fabric.switches, dtype=bool)
    bare[fabric.cable_from] = bare[fabric.cable_to] = bare[fabric.host_switch] = False
    return bare


def few_hosts(fabric: Fabric) -> NDArray[np.bool_]:
    """Leaves with less than a third of the hosts that half of them have, as for management."""
    hosts = np.bincount(fabric.host_switch, minlength=fabric.switches)
    leaves = (switch_levels(fabric) <= 1) & ~bare_switches(fabric)
    return leaves & (hosts < _FEW * np.median(hosts[leaves | (hosts > 0)]))
