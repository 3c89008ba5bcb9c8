"""What does not belong where it stands: switches named like another row, hosts on another rail."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from contend.fabric.composition import cables_per_pair
from contend.fabric.fabric import Fabric
from contend.fabric.servers import rails_and_kinds, server_names, servers_of

# So many of a row, or of the hosts of a leaf, must agree for the others to be out of place.
_MOST = 0.75
_NUMBER = re.compile(r"\d+")


def misnamed_switches(fabric: Fabric) -> list[str]:
    """A sentence for every switch that is called like those of another row than it is cabled to.

    A row are switches with the same neighbours, such as the spines above the same leaves. A name is
    out of place where most of its row are called alike, by all but numbers, and it is called as
    most of another row are. Cost: linear in cables.
    """
    stems = [_NUMBER.sub("#", name.strip()) for name in fabric.switch_name]
    rows = _rows(fabric)
    usual: list[tuple[str, int]] = []
    for row in rows:
        stem, times = Counter(stems[switch] for switch in row).most_common(1)[0]
        usual.append((stem, times if len(row) > 2 and times >= _MOST * len(row) else 0))
    of_rows = {stem: row for row, (stem, times) in zip(rows, usual, strict=True) if times and stem}
    found = []
    for row, (stem, times) in zip(rows, usual, strict=True):
        for switch in row if times and stem else ():
            if stems[switch] == stem or stems[switch] not in of_rows:
                continue
            like = [f'"{fabric.switch_name[other]}"' for other in row if stems[other] == stem]
            elsewhere = next(other for other in of_rows[stems[switch]] if stems[other] != stem)
            found.append(
                f'switch "{fabric.switch_label[switch]}" has the same neighbours as '
                f"{' and '.join(like[:2])}, but is named like "
                f'"{fabric.switch_label[elsewhere]}"'
            )
    return found


def _rows(fabric: Fabric) -> list[list[int]]:
    """Switches with the same neighbours."""
    around: dict[int, list[int]] = defaultdict(list)
    low, high, _ = cables_per_pair(fabric)
    for near, far in zip(low.tolist(), high.tolist(), strict=True):
        around[near].append(far)
        around[far].append(near)
    rows: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for switch, neighbours in around.items():
        rows[tuple(sorted(neighbours))].append(switch)
    return list(rows.values())


def hosts_on_other_rails(fabric: Fabric) -> list[str]:
    """A sentence for every server with adapters on leaves of other rails, where leaves have one.

    A leaf has the rail of most of its hosts, of servers with the same adapters. Where few leaves
    have one the network knows no rails, and nothing is out of place.
    """
    server = servers_of(fabric)
    if len(np.unique(server)) == fabric.hosts:
        return []
    rail, kind = rails_and_kinds(fabric, server)
    leaf = fabric.host_switch.astype(np.int64)
    own = _rail_of_leaf(leaf, rail, kind, np.bincount(server)[server] > 1)
    stray = np.flatnonzero((own >= 0) & (own != rail))
    if len(stray) == 0:
        return []
    names = server_names(fabric)
    strays: dict[int, list[int]] = defaultdict(list)
    for host in stray.tolist():
        strays[int(server[host])].append(host)
    found = []
    for hosts in strays.values():
        where = [
            f'"{fabric.host_name[host].strip()}" on switch '
            f'"{fabric.switch_label[leaf[host]]}" port {int(fabric.host_port[host])}'
            for host in hosts
        ]
        crossed = len(hosts) == 2 and own[hosts[0]] == rail[hosts[1]] != own[hosts[1]]
        crossed = crossed and own[hosts[1]] == rail[hosts[0]]
        verb = (
            "are cabled to each other's rails" if crossed else "are cabled to leaves of other rails"
        )
        if len(hosts) == 1:
            wrong, right = int(own[hosts[0]]) + 1, int(rail[hosts[0]]) + 1
            verb = f"is cabled to a leaf of rail {wrong}, not {right}"
        more = f" and {len(hosts) - 2:,} more" if len(hosts) > 2 else ""
        listed = f"{', '.join(where[:2])}{more}" if more else " and ".join(where)
        found.append(f"server {names[hosts[0]]}: {listed} {verb}")
    return found


def _rail_of_leaf(
    leaf: NDArray[np.int64],
    rail: NDArray[np.int64],
    kind: NDArray[np.int64],
    several: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Of every host the rail that most hosts of its kind on its leaf have, -1 where none is."""
    own = np.full(len(leaf), -1, dtype=np.int64)
    members: dict[tuple[int, int], list[int]] = defaultdict(list)
    for host in np.flatnonzero(several).tolist():
        members[int(kind[host]), int(leaf[host])].append(host)
    agreeing: Counter[int] = Counter()
    rails: dict[int, set[int]] = defaultdict(set)
    for (sort, _), hosts in members.items():
        usual, times = Counter(rail[hosts].tolist()).most_common(1)[0]
        if len(hosts) > 2 and times >= _MOST * len(hosts):
            own[hosts] = usual
            agreeing[sort] += times
            rails[sort].add(usual)
    for sort, count in Counter(kind[several].tolist()).items():
        if len(rails[sort]) < 2 or agreeing[sort] < _MOST * count:
            own[kind == sort] = -1
    return own
