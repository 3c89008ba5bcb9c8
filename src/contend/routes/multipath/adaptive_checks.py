"""Checks of adaptive routing: how much of the tables is adaptive, and what is odd about groups."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.units import counted, verb
from contend.fabric import MOST_DETAILS, Check, Fabric, Status
from contend.routes.addresses import addresses_of_hosts
from contend.routes.multipath.adaptive import AdaptiveTables


@dataclass(frozen=True)
class AdaptiveShare:
    """How much of the tables leaves the choice of a port to the switch."""

    switches: int
    """Number of switches with such entries."""
    lids: int
    """Number of LIDs of hosts for which some switch has such an entry."""
    free: int
    """Number of such entries that choose a port for each packet."""
    hashed: int
    """Number of such entries that choose by a hash of the message."""
    static: int
    """Number of all other entries for LIDs of hosts."""
    group_sizes: dict[int, int]
    """Number of such entries by that of ports that they may use, as text."""


def adaptive_share(fabric: Fabric, routes: AdaptiveTables) -> AdaptiveShare:
    """Counts entries for LIDs of hosts."""
    lids = _host_lids(fabric, routes)[0]
    groups = routes.groups
    of_entry = groups.of_entry[:, lids]
    per_group = np.bincount(of_entry.ravel(), minlength=len(groups.hashed))
    per_group[0] = 0
    sizes = np.bincount(groups.sizes, weights=per_group).astype(np.int64)
    told = np.count_nonzero((routes.ports[:, lids] != 0xFFFF) & (of_entry == 0))
    return AdaptiveShare(
        switches=int(np.count_nonzero(of_entry.any(axis=1))),
        lids=int(np.count_nonzero(of_entry.any(axis=0))),
        free=int(per_group[groups.hashed == 0].sum()),
        hashed=int(per_group[groups.hashed == 1].sum()),
        static=int(told),
        group_sizes={size: count for size, count in enumerate(sizes.tolist()) if count},
    )


def check_groups(
    fabric: Fabric, routes: AdaptiveTables, astray: NDArray[np.uint32]
) -> tuple[Check, ...]:
    """Judges groups of ports, and entries without one among others that have one.

    Args:
        fabric: where the tables lead through.
        routes: the tables.
        astray: as `AdaptiveTables.follow` tells it.
    """
    lids, leaf = _host_lids(fabric, routes)
    live = _LivePorts(fabric, routes)
    return (
        _check_ports(fabric, live, astray),
        _check_static(fabric, routes, lids, leaf),
        _check_equal(fabric, routes, live, lids, leaf),
    )


def _host_lids(
    fabric: Fabric, routes: AdaptiveTables
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """LIDs of hosts within the tables, those of one switch together, and the switch of each."""
    host, lids = addresses_of_hosts(fabric)
    leaf = fabric.host_switch[host].astype(np.int64)
    told = (fabric.host_lid[host] > 0) & (lids < routes.ports.shape[1])
    order = np.argsort(leaf[told], kind="stable")
    return lids[told][order], leaf[told][order]


class _LivePorts:
    """Groups as switches have them: ports that are plugged in, and ports that are not."""

    def __init__(self, fabric: Fabric, routes: AdaptiveTables) -> None:
        width = int(max(fabric.switch_ports.max(initial=0), routes.groups.ports.max(initial=0))) + 1
        plugged = np.zeros((fabric.switches, width), dtype=bool)
        plugged[fabric.cable_from, fabric.cable_from_port] = True
        plugged[fabric.cable_to, fabric.cable_to_port] = True
        plugged[fabric.host_switch, fabric.host_port] = True
        of_entry, groups = routes.groups.of_entry, routes.groups
        self.number = np.zeros((fabric.switches, len(groups.hashed)), dtype=np.int16)
        self.dead: dict[int, set[int]] = defaultdict(set)
        for switch in range(fabric.switches):
            for group in np.unique(of_entry[switch]).tolist():
                ports = groups.ports[groups.first[group] : groups.first[group + 1]]
                up = plugged[switch, ports]
                self.number[switch, group] = np.count_nonzero(up)
                if group and not up.all():
                    self.dead[switch].update(ports[~up].tolist())


def _check_ports(fabric: Fabric, live: _LivePorts, astray: NDArray[np.uint32]) -> Check:
    """Ports of groups that lead nowhere, or no nearer."""
    dead = [(switch, sorted(ports)) for switch, ports in live.dead.items()]
    off = np.flatnonzero(astray).tolist()
    if not dead and not off:
        return Check("group ports", Status.OK, "every port of a group leads nearer to its hosts")
    number = sum(len(ports) for _, ports in dead)
    parts = []
    if dead:
        parts.append(
            f"{counted(number, 'port')} of groups {verb(number, 'has')} nothing plugged in"
        )
    if off:
        parts.append(f"{counted(len(off), 'port')} of groups {verb(len(off), 'leads')} no nearer")
    details = [
        f'switch "{fabric.switch_label[switch]}" has nothing plugged in at '
        f"{_listed('port', ports)} of its groups"
        for switch, ports in dead
    ]
    half = MOST_DETAILS - min(len(off), MOST_DETAILS // 2)
    details = details[:half] + [
        f"{fabric.channel_name(channel)} leads no nearer to {counted(int(astray[channel]), 'LID')}"
        for channel in off
    ]
    return Check(
        "group ports",
        Status.WARNING,
        "; ".join(parts),
        tuple(details[:MOST_DETAILS]),
        "switches pass over ports that are down, so check those cables; a port that leads no "
        "nearer is right only where the engine uses longer routes, as on dragonflies",
    )


def _check_static(
    fabric: Fabric,
    routes: AdaptiveTables,
    lids: NDArray[np.int64],
    leaf: NDArray[np.int64],
) -> Check:
    """LIDs that a switch sends by one port, and others of the same leaf by groups."""
    leaves, begin = np.unique(leaf, return_index=True)
    of_entry = routes.groups.of_entry[:, lids] > 0
    number = np.diff(np.append(begin, len(lids)))
    details, entries, switches = [], 0, 0
    if len(leaves):
        adaptive = np.add.reduceat(of_entry, begin, axis=1, dtype=np.int64)
        mixed = (adaptive > 0) & (adaptive < number)
        mixed[leaves, np.arange(len(leaves))] = False
        at, column = np.nonzero(mixed)
        entries = int((number[column] - adaptive[at, column]).sum())
        switches = len(np.unique(at))
        for switch, place in zip(at[:MOST_DETAILS].tolist(), column.tolist(), strict=False):
            here = slice(int(begin[place]), int(begin[place] + number[place]))
            alone = lids[here][~of_entry[switch, here]].tolist()
            details.append(
                f'switch "{fabric.switch_label[switch]}" sends {_listed("LID", alone)} of the '
                f'{number[place]} on switch "{fabric.switch_label[leaves[place]]}" by one port each'
            )
    if not entries:
        return Check("static entries", Status.OK, "LIDs of one switch are all adaptive or none is")
    return Check(
        "static entries",
        Status.WARNING,
        f"{counted(entries, 'entry')} at {counted(switches, 'switch')} "
        f"{verb(entries, 'is')} static where others to the same switch are adaptive",
        tuple(details),
        "if that is not intended, have the subnet manager route again",
    )


def _check_equal(
    fabric: Fabric,
    routes: AdaptiveTables,
    live: _LivePorts,
    lids: NDArray[np.int64],
    leaf: NDArray[np.int64],
) -> Check:
    """Groups of fewer ports than others of the same level have, as far from the same switch."""
    leaves, begin = np.unique(leaf, return_index=True)
    level = fabric.levels[0].astype(np.int64)
    fewer: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    number = 0
    away = _core.distances(fabric.core, leaves.astype(np.uint32)).astype(np.int64)
    ends = np.append(begin[1:], len(lids))
    for place, (first, last) in enumerate(zip(begin.tolist(), ends.tolist(), strict=True)):
        of_entry = routes.groups.of_entry[:, lids[first:last]]
        ports = np.take_along_axis(live.number, of_entry.astype(np.int64), axis=1).astype(np.int64)
        ports[of_entry == 0] = -1
        ports[leaves[place]] = -1
        most = ports.max(axis=1)
        least = np.where(ports < 0, np.iinfo(np.int64).max, ports).min(axis=1)
        used = np.flatnonzero(most >= 0)
        alike = level[used] * (fabric.switches + 1) + np.minimum(away[place, used], fabric.switches)
        _, kind = np.unique(alike, return_inverse=True)
        best = np.zeros(int(kind.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(best, kind, most[used])
        for row in np.flatnonzero(least[used] < best[kind]).tolist():
            number += 1
            fewer[int(used[row])].append(
                (int(least[used[row]]), int(best[kind[row]]), int(leaves[place]))
            )
    if not number:
        return Check(
            "equal groups", Status.OK, "groups of a level have as many ports as one another"
        )
    details = []
    for switch, found in list(fewer.items())[:MOST_DETAILS]:
        least_ports, best_ports, end = found[0]
        more = f" and {counted(len(found) - 1, 'other switch')}" if len(found) > 1 else ""
        details.append(
            f'switch "{fabric.switch_label[switch]}" has {counted(least_ports, "port")} to '
            f'"{fabric.switch_label[end]}"{more}, others of its level {best_ports}'
        )
    return Check(
        "equal groups",
        Status.WARNING,
        f"{counted(number, 'group')} at {counted(len(fewer), 'switch')} "
        f"{verb(number, 'has')} fewer ports than others of the level have",
        tuple(details),
        "look for cables that are missing or down there; it is "
        "intended where switches of a level are cabled differently",
    )


def _listed(what: str, numbers: list[int]) -> str:
    """``ports 1, 2 and 3``; of many the first."""
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    if len(numbers) > 8:
        return f"{what}s {', '.join(map(str, numbers[:8]))}, ... ({len(numbers)} in all)"
    return f"{what}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
