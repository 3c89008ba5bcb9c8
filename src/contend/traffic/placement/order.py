"""Orders in which ranks fill a fabric's hosts, and hosts chosen by where they hang.

A leaf is a switch with hosts. Leaves come in the order in which a breadth-first walk meets them, so
neighbours are few switches apart; hosts of a leaf come by port.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.base.names import natural
from contend.base.units import counted, grouped, listed, verb
from contend.fabric import Fabric, rails_of, servers_of


def by_name(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts in natural order of their names (node9 before node10), then by GUID and port."""
    if _count_up(fabric.host_name):
        return np.arange(fabric.hosts, dtype=np.uint32)
    guid = fabric.host_guid.tolist()
    port = fabric.host_adapter_port.tolist()
    keys = [(natural(name), guid[h], port[h], h) for h, name in enumerate(fabric.host_name)]
    return np.array([key[-1] for key in sorted(keys)], dtype=np.uint32)


def _count_up(names: Sequence[str]) -> bool:
    """Whether names are one stem with the numbers from 1, as generators give them."""
    stem = names[0].removesuffix("1") if names else ""
    if stem[-1:].isdecimal():
        return False
    return all(name == f"{stem}{number}" for number, name in enumerate(names, 1))


def by_guid(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts by the GUID of their adapter, then by its port."""
    return np.lexsort((fabric.host_adapter_port, fabric.host_guid)).astype(np.uint32)


def breadth_first(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts as a breadth-first walk over the switches meets them.

    The walk starts at the leaf of the first host by name and takes cables by port number, so hosts
    that are few switches apart come near each other. What cannot be reached from there follows,
    from its own first host by name.
    """
    neighbours = _neighbours(fabric)
    visited = np.zeros(fabric.switches, dtype=bool)
    rank_of_switch = np.zeros(fabric.switches, dtype=np.int64)
    visits = 0
    for start in fabric.host_switch[by_name(fabric)].tolist():
        if visited[start]:
            continue
        visited[start] = True
        queue = deque([start])
        while queue:
            switch = queue.popleft()
            rank_of_switch[switch] = visits
            visits += 1
            for neighbour in neighbours[switch]:
                if not visited[neighbour]:
                    visited[neighbour] = True
                    queue.append(neighbour)
    order = np.lexsort((fabric.host_port, rank_of_switch[fabric.host_switch]))
    return order.astype(np.uint32)


def round_robin(fabric: Fabric) -> NDArray[np.uint32]:
    """Hosts leaf by leaf in turn: the first of every leaf, then the second of every leaf.

    Leaves come in the order of their first host by name, hosts on a leaf by name.
    """
    turn_of_leaf: dict[int, int] = {}
    taken: dict[int, int] = {}
    keys = []
    for host in by_name(fabric).tolist():
        leaf = int(fabric.host_switch[host])
        turn = turn_of_leaf.setdefault(leaf, len(turn_of_leaf))
        lap = taken.get(leaf, 0)
        taken[leaf] = lap + 1
        keys.append((lap, turn, host))
    return np.array([key[-1] for key in sorted(keys)], dtype=np.uint32)


def leaf_by_leaf(fabric: Fabric, hosts: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Hosts whose servers hang on the same leaves one after the other: for rings through servers.

    Sets of leaves come in the order in which a breadth-first walk meets them, their servers by
    name: few messages from a server to the next leave a leaf.

    Args:
        fabric: whose hosts.
        hosts: those to put in order, each once; those of a server by rail.
    """
    _, at = np.unique(fabric.host_switch[breadth_first(fabric)], return_index=True)
    met = np.zeros(fabric.switches, dtype=np.int64)
    met[np.unique(fabric.host_switch)] = at
    server = servers_of(fabric)
    rail = rails_of(fabric, server)
    turn = np.empty(fabric.hosts, dtype=np.int64)
    turn[by_name(fabric)] = np.arange(fabric.hosts)
    of_server = grouped(hosts.tolist(), lambda host: int(server[host]))
    own = [sorted(each, key=lambda host: int(rail[host])) for each in of_server.values()]
    own.sort(key=lambda each: (sorted(met[fabric.host_switch[each]].tolist()), min(turn[each])))
    return np.array([host for each in own for host in each], dtype=np.uint32)


def by_server(fabric: Fabric, hosts: NDArray[np.integer]) -> NDArray[np.uint32]:
    """The hosts of `seats_by_server`."""
    return seats_by_server(fabric, hosts)[0]


def seats_by_server(fabric: Fabric, hosts: NDArray[np.integer]) -> tuple[NDArray[np.uint32], str]:
    """Hosts server by server, a server's by rail: as libraries number the ranks of GPUs.

    Only servers with the usual number of adapters take part, the one that most hosts share a
    server by, so that all of them have as many. Adapters on no rail take no part.

    Args:
        fabric: whose hosts.
        hosts: those to choose from, each once; servers come in the order of their first.

    Returns:
        shape [servers, adapters of each], and a sentence on the servers that are left out, and why;
        "" where none are.
    """
    server = servers_of(fabric)
    rail = rails_of(fabric, server)
    placed = hosts[rail[hosts] >= 0].tolist()
    of_server = grouped(placed, lambda host: int(server[host]))
    sharing = Counter(len(of_server[int(server[host])]) for host in placed)
    usual = max(sharing, key=lambda size: (sharing[size], size), default=0)
    groups = [own for own in of_server.values() if len(own) == usual]
    ordered = [sorted(own, key=rail.__getitem__) for own in groups]
    seats = np.array(ordered, dtype=np.uint32).reshape(len(ordered), usual)
    own_of = (len(of_server.get(number, ())) for number in np.unique(server[hosts]).tolist())
    return seats, _left_out(Counter(own for own in own_of if own != usual), usual)


def _left_out(sizes: Counter[int], usual: int) -> str:
    """A sentence on servers by how many adapters they have on rails."""
    if not sizes:
        return ""
    servers = sizes.total()
    (most, first), *others = sorted(sizes.items(), reverse=True)
    who = f"{first:,}" if others else ("it" if first == 1 else "they")
    each = [
        f"{who} {verb(first, 'has')} {counted(most, 'adapter')}",
        *(f"{number:,} {verb(number, 'has')} {size}" for size, number in others),
    ]
    return (
        f"{counted(servers, 'server')} {verb(servers, 'does')} not take part: {listed(each)}, "
        f"where the others have {usual}."
    )


ORDERS = {
    "linear": by_name,
    "guid": by_guid,
    "bfs": breadth_first,
    "round-robin": round_robin,
}
"""The orders by the name that a specification gives them."""


def _neighbours(fabric: Fabric) -> list[list[int]]:
    """Neighbouring switches of every switch, by port."""
    ends = np.concatenate((fabric.cable_from, fabric.cable_to)).astype(np.int64)
    ports = np.concatenate((fabric.cable_from_port, fabric.cable_to_port))
    peers = np.concatenate((fabric.cable_to, fabric.cable_from))
    order = np.lexsort((ports, ends))
    bounds = np.searchsorted(ends[order], np.arange(fabric.switches + 1))
    peers = peers[order]
    return [peers[bounds[s] : bounds[s + 1]].tolist() for s in range(fabric.switches)]


FORMS_BY_PLACE = ("same-leaf", "leaves:K", "spread", "port-group:K")

_SPEC = re.compile(r"(same-leaf|spread)|(leaves|port-group):(\d{1,9})")

Leaves = list[list[int]]


@dataclass(frozen=True)
class PlaceSpec:
    """``same-leaf``, ``spread``, or a ``kind`` with its number: ``leaves:2``, ``port-group:9``."""

    kind: str
    number: int

    @classmethod
    def parse(cls, spec: str) -> PlaceSpec | None:
        """What a specification says; None when it does not choose hosts by place."""
        match = _SPEC.fullmatch(spec)
        if match is None or match[3] == "0":
            return None
        return cls(match[1] or match[2], int(match[3] or 0))


def choose_by_place(
    spec: PlaceSpec, fabric: Fabric, among: Collection[int] | None, count: int | None
) -> list[int]:
    """The hosts that a specification means, in rank order.

    Args:
        spec: ``same-leaf``: all on one leaf, the first that has enough; ``leaves:K``: evenly on K
            leaves, one leaf after the other; ``spread``: as few as possible on each leaf, and on
            leaves far apart; ``port-group:K``: on groups of K adjacent ports. A group larger than a
            leaf takes whole leaves.
        fabric: whose hosts.
        among: the hosts to choose from; None is all.
        count: how many; None: the fullest leaf, the K fullest leaves as evenly as they allow, all,
            one group.

    Raises:
        UsageError: when the fabric has not enough.
    """
    leaves = _leaves(fabric, among)
    try:
        return _KINDS[spec.kind](fabric, leaves, spec.number, count)
    except UsageError as error:
        number = f":{spec.number}" if spec.number else ""
        raise UsageError(
            f"placement {spec.kind}{number}: expected {error}, "
            f"{fabric.name} has {counted(sum(map(len, leaves)), 'host')} on "
            f"{counted(len(leaves), 'leaf switch')} to choose from"
        ) from None


def _leaves(fabric: Fabric, among: Collection[int] | None) -> Leaves:
    order = (h for h in breadth_first(fabric).tolist() if among is None or h in among)
    return [list(hosts) for _, hosts in groupby(order, key=lambda h: int(fabric.host_switch[h]))]


def _same_leaf(_: Fabric, leaves: Leaves, __: int, count: int | None) -> list[int]:
    fullest = max(leaves, key=len, default=[])
    if count is None:
        return fullest
    if count > len(fullest):
        raise UsageError(f"a leaf with {counted(count, 'host')}; the fullest has {len(fullest)}")
    return next(leaf for leaf in leaves if len(leaf) >= count)[:count]


def _on_leaves(_: Fabric, leaves: Leaves, number: int, count: int | None) -> list[int]:
    if number > len(leaves):
        raise UsageError(f"{counted(number, 'leaf switch')}")
    if count is None:
        count = number * sorted(map(len, leaves))[-number]
    each, more = divmod(count, number)
    if each == 0:
        raise UsageError(f"at least a host for each of {number} leaves, not {count} in all")
    larger = [leaf for leaf in leaves if len(leaf) > each][:more]
    others = [leaf for leaf in leaves if len(leaf) >= each and leaf not in larger]
    if len(larger) < more or len(others) < number - more:
        raise UsageError(
            f"{_leaves_with(more, each + 1)} and {_leaves_with(number - more, each)}"
            if more
            else _leaves_with(number, each)
        )
    shares = [*((leaf, each + 1) for leaf in larger), *((leaf, each) for leaf in others)][:number]
    return [host for leaf, share in shares for host in leaf[:share]]


def _spread(_: Fabric, leaves: Leaves, __: int, count: int | None) -> list[int]:
    available = sum(map(len, leaves))
    if count is None:
        count = available
    if count > available:
        raise UsageError(counted(count, "host"))
    chosen: list[int] = []
    lap = 0
    while len(chosen) < count:
        open_leaves = [leaf for leaf in leaves if len(leaf) > lap]
        taken = min(count - len(chosen), len(open_leaves))
        chosen += [open_leaves[i * len(open_leaves) // taken][lap] for i in range(taken)]
        lap += 1
    return chosen


def _port_group(fabric: Fabric, leaves: Leaves, number: int, count: int | None) -> list[int]:
    count = number if count is None else count
    if number > max(map(len, leaves), default=0):
        groups = _groups_of_leaves(leaves, number)
        what = "on whole leaves"
    else:
        runs = chain.from_iterable(_runs(fabric, leaf) for leaf in leaves)
        groups = [
            run[start : start + number]
            for run in runs
            for start in range(0, len(run) - number + 1, number)
        ]
        what = "on adjacent ports"
    held = len(groups) * number
    if count > held:
        raise UsageError(
            f"{counted(count, 'host')} in groups of {number} {what}; such groups hold {held}"
        )
    return list(islice(chain.from_iterable(groups), count))


def _groups_of_leaves(leaves: Leaves, number: int) -> Leaves:
    groups: Leaves = []
    group: list[int] = []
    for leaf in leaves:
        group += leaf
        if len(group) >= number:
            groups.append(group[:number])
            group = []
    return groups


def _runs(fabric: Fabric, leaf: list[int]) -> Leaves:
    """The hosts of a leaf, parted where a port between them has none."""
    runs: Leaves = []
    for host in leaf:
        if runs and fabric.host_port[host] == fabric.host_port[runs[-1][-1]] + 1:
            runs[-1].append(host)
        else:
            runs.append([host])
    return runs


def _leaves_with(leaves: int, hosts: int) -> str:
    return f"{counted(leaves, 'leaf switch')} of {counted(hosts, 'host')}"


_KINDS: dict[str, Callable[[Fabric, Leaves, int, int | None], list[int]]] = {
    "same-leaf": _same_leaf,
    "leaves": _on_leaves,
    "spread": _spread,
    "port-group": _port_group,
}
