"""What a fabric is made of: levels, oversubscription, speeds, servers, parallel cables."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contend.fabric.fabric import Fabric
from contend.units import rate_of


@dataclass(frozen=True)
class FabricSize:
    """The size of a fabric, with which every JSON result begins.

    Attributes:
        name: what it is called.
        hosts: number of hosts.
        switches: number of switches.
        channels: number of channels, those of hosts included.
    """

    name: str
    hosts: int
    switches: int
    channels: int


def size_of(fabric: Fabric) -> FabricSize:
    """The size of a fabric."""
    return FabricSize(fabric.name, fabric.hosts, fabric.switches, fabric.channels)


@dataclass(frozen=True)
class Level:
    """The switches that are equally far from the nearest host.

    Attributes:
        level: 1 for switches with hosts, 2 for their neighbours without, and so on.
        switches: how many there are.
        hosts: hosts on them.
        down: capacity towards hosts and the level below, one direction, in the structure's unit.
        across: capacity of the cables within the level.
        up: capacity towards the level above.
        oversubscription: down / up; None where nothing leads up.
    """

    level: int
    switches: int
    hosts: int
    down: float
    across: float
    up: float
    oversubscription: float | None


@dataclass(frozen=True)
class Structure:
    """What a fabric is made of.

    Attributes:
        cables: number of cables between switches.
        unit: of capacities: ``bytes/s``, or ``cables`` where a rate is unknown.
        levels: from the leaves up.
        unreached_switches: switches from which no host can be reached.
        idle_switches: switches without hosts that join only what is joined below them already, such
            as a director's spare line cards or a chain of management switches. No route needs
            them, and they stand in no level.
        parts: groups of hosts with no path between them; 1 in a whole fabric.
        host_links: number of cables to hosts by rate label (``unknown`` where it is).
        switch_links: the same for cables between switches.
        servers: number of servers.
        hosts_per_server: number of servers by their number of hosts (rails).
        parallel_cables: number of joined pairs of switches by the cables between them.
        left_out: what the topology file holds that carries no traffic here.
    """

    cables: int
    unit: str
    levels: tuple[Level, ...]
    unreached_switches: int
    idle_switches: int
    parts: int
    host_links: dict[str, int]
    switch_links: dict[str, int]
    servers: int
    hosts_per_server: dict[int, int]
    parallel_cables: dict[int, int]
    left_out: tuple[str, ...]


def structure(fabric: Fabric) -> Structure:
    """Describes a fabric. Cost: linear in hosts and cables."""
    level_of = switch_levels(fabric)
    unreached = int(np.count_nonzero(level_of == 0))
    idle = idle_switches(fabric)
    per_server = np.bincount(servers_of(fabric))
    return Structure(
        cables=fabric.cables,
        unit=capacities(fabric).unit,
        levels=_levels(fabric, np.where(idle, 0, level_of)),
        unreached_switches=unreached,
        idle_switches=int(np.count_nonzero(idle & (level_of > 0))),
        parts=int(np.count_nonzero(np.bincount(switch_parts(fabric)[fabric.host_switch]))),
        host_links=_by_rate(fabric, fabric.host_rate),
        switch_links=_by_rate(fabric, fabric.cable_rate),
        servers=len(per_server),
        hosts_per_server=_histogram(per_server),
        parallel_cables=_histogram(cables_per_pair(fabric)[2]),
        left_out=tuple(finding.message for finding in fabric.findings if not finding.wrong),
    )


def switch_levels(fabric: Fabric) -> NDArray[np.int64]:
    """Level of every switch, shape [switches]: 1 + cables to the nearest with hosts; 0: none."""
    level = np.zeros(fabric.switches, dtype=np.int64)
    level[fabric.host_switch] = 1
    ends = np.stack([fabric.cable_from, fabric.cable_to])
    tail, head = np.concatenate([ends, ends[::-1]], axis=1).astype(np.int64)
    for distance in range(1, fabric.switches):
        reached = head[(level[tail] == distance) & (level[head] == 0)]
        if len(reached) == 0:
            break
        level[reached] = distance + 1
    return level


def switch_parts(fabric: Fabric) -> NDArray[np.int64]:
    """Number of the connected part of every switch, shape [switches]."""
    return connected_parts(fabric.switches, fabric.cable_from, fabric.cable_to)


def connected_parts(size: int, near: NDArray[Any], far: NDArray[Any]) -> NDArray[np.int64]:
    """Number of the connected part of every node, shape [size], in the order of the least node.

    Args:
        size: nodes.
        near: one end of every edge, shape [edges].
        far: the other end.
    """
    least = np.arange(size)
    while True:
        joined = np.minimum(least[near], least[far])
        lower = least.copy()
        # The nodes themselves, and those that stood for their parts until now.
        for ends in (near, far, least[near], least[far]):
            np.minimum.at(lower, ends, joined)
        lower = lower[lower]
        if np.array_equal(lower, least):
            return np.unique(least, return_inverse=True)[1].reshape(-1).astype(np.int64)
        least = lower


def cables_per_pair(
    fabric: Fabric,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Joined pairs of switches: the lower, the higher, and the number of cables; shape [pairs]."""
    low = np.minimum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    high = np.maximum(fabric.cable_from, fabric.cable_to).astype(np.int64)
    pairs, counts = np.unique(low * fabric.switches + high, return_counts=True)
    return pairs // fabric.switches, pairs % fabric.switches, counts.astype(np.int64)


def _levels(fabric: Fabric, level_of: NDArray[np.int64]) -> tuple[Level, ...]:
    top = int(level_of.max(initial=0))
    capacity = capacities(fabric)
    near, far = level_of[fabric.cable_from], level_of[fabric.cable_to]
    counted = (near > 0) & (far > 0)
    across = np.bincount(near, capacity.cable * (counted & (near == far)), top + 1)
    rising = np.bincount(np.minimum(near, far), capacity.cable * (counted & (near != far)), top + 1)
    to_hosts = np.bincount(level_of[fabric.host_switch], capacity.host, top + 1)
    switches = np.bincount(level_of, minlength=top + 1)
    hosts = np.bincount(level_of[fabric.host_switch], minlength=top + 1)
    levels = []
    for level in range(1, top + 1):
        down, up = float(to_hosts[level] + rising[level - 1]), float(rising[level])
        levels.append(
            Level(
                level=level,
                switches=int(switches[level]),
                hosts=int(hosts[level]),
                down=down,
                across=float(across[level]),
                up=up,
                oversubscription=down / up if up else None,
            )
        )
    return tuple(levels)


def idle_switches(fabric: Fabric) -> NDArray[np.bool_]:
    """Which switches join only what is joined below them already, shape [switches].

    They lead up to idle switches only, and down to one part of what lies below them. Cables
    between leaves do not count here: a switch above joined leaves is still a way round.
    """
    level_of = switch_levels(fabric)
    low, high, _ = cables_per_pair(fabric)
    near, far = np.concatenate([low, high]), np.concatenate([high, low])
    idle = np.zeros(fabric.switches, dtype=np.bool_)
    for level in range(int(level_of.max(initial=0)), 1, -1):
        inside = (level_of[low] < level) & (level_of[high] < level) & (level > 2)
        part = connected_parts(fabric.switches, low[inside], high[inside])
        here = level_of[near] == level
        below = here & (level_of[far] < level)
        leads_on = here & (level_of[far] >= level) & ~idle[far]
        least = np.full(fabric.switches, fabric.switches)
        most = np.full(fabric.switches, -1)
        np.minimum.at(least, near[below], part[far[below]])
        np.maximum.at(most, near[below], part[far[below]])
        idle |= (level_of == level) & (least >= most)
        idle[near[leads_on]] = False
    return idle


def _by_rate(fabric: Fabric, rate: NDArray[np.uint16]) -> dict[str, int]:
    counts = Counter(fabric.rates[index] or "unknown" for index in rate.tolist())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _histogram(values: NDArray[np.int64]) -> dict[int, int]:
    distinct, counts = np.unique(values, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Capacities:
    """Capacity of every cable in one direction.

    Attributes:
        cable: of the cables between switches, shape [cables].
        host: of the cables to hosts, shape [hosts].
        unit: ``bytes/s``, or ``cables`` where a rate is unknown and each cable counts 1.
    """

    cable: NDArray[np.float64]
    host: NDArray[np.float64]
    unit: str


def capacities(fabric: Fabric) -> Capacities:
    """Capacity of every cable; one unknown rate makes all count 1, as sums need one unit."""
    rate = np.array([rate_of(label) or 0.0 for label in fabric.rates])
    cable, host = rate[fabric.cable_rate], rate[fabric.host_rate]
    if bool(np.all(cable > 0)) and bool(np.all(host > 0)):
        return Capacities(cable, host, "bytes/s")
    return Capacities(np.ones(fabric.cables), np.ones(fabric.hosts), "cables")


# What drivers and subnet managers append to a server's name: mlx5_0, HCA-2, hfi1_0, ib0, qib1.
_END_OF_SERVER = re.compile(r"[\s/:]")
_ADAPTER = re.compile(r"(?:[a-z]+\d*_\d+|HCA-?\d+|ib\d+|qib\d+)", re.IGNORECASE)


def servers_of(fabric: Fabric) -> NDArray[np.int64]:
    """Number of the server of every host, shape [hosts]; servers count from 0 in order of hosts.

    Hosts share a server when they share the adapter, when their adapters report the same system
    GUID, or when the adapters' descriptions differ only in a last word that names an adapter, such
    as ``luna-0164 mlx5_1``. A description that two adapters carry whole is generic (``localhost
    mlx5_0``) and says nothing.
    """
    same: dict[tuple[str, object], list[int]] = {}
    for host, (guid, system) in enumerate(
        zip(fabric.host_guid.tolist(), fabric.host_system_guid.tolist(), strict=True)
    ):
        for key in (("adapter", guid), ("system", system)):
            if key[1]:
                same.setdefault(key, []).append(host)
    for name, members in _by_name(fabric).items():
        same[("name", name)] = members
    groups = [members for members in same.values() if len(members) > 1]
    first = np.repeat([members[0] for members in groups], [len(members) for members in groups])
    other = np.array([host for members in groups for host in members], dtype=np.int64)
    return connected_parts(fabric.hosts, first.astype(np.int64), other)


def server_names(fabric: Fabric) -> list[str]:
    """For every host the name of its server, where its own begins with one, else its own."""
    server = servers_of(fabric).tolist()
    begins = [_END_OF_SERVER.split(name.strip(), maxsplit=1)[0] for name in fabric.host_name]
    owners: dict[str, set[int]] = {}
    for begin, owner in zip(begins, server, strict=True):
        owners.setdefault(begin, set()).add(owner)
    return [
        begin if begin and len(owners[begin]) == 1 else name.strip()
        for begin, name in zip(begins, fabric.host_name, strict=True)
    ]


def _by_name(fabric: Fabric) -> dict[str, list[int]]:
    """Hosts by the server's name that their descriptions begin with, where one does."""
    adapters: dict[str, set[int]] = {}
    members: dict[str, list[int]] = {}
    for host, name in enumerate(fabric.host_name):
        words = name.split()
        if len(words) > 1 and _ADAPTER.fullmatch(words[-1]):
            adapters.setdefault(" ".join(words), set()).add(int(fabric.host_guid[host]))
            members.setdefault(" ".join(words[:-1]), []).append(host)
    shared = Counter(
        whole.rpartition(" ")[0] for whole, guids in adapters.items() if len(guids) > 1
    )
    return {server: hosts for server, hosts in members.items() if server not in shared}
