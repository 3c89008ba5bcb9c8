"""Fabrics small enough to know every answer, and shortest-path tables for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np

from contend.fabric import Fabric
from contend.fabric.fabric import build
from contend.routes import NO_PORT, ForwardingTables


class Plan:
    """Gives out ports of switches one after the other, to hosts and cables."""

    def __init__(self, switches: int) -> None:
        self.used = [0] * switches
        self.hosts: list[tuple[int, int]] = []
        self.cables: list[tuple[int, int, int, int]] = []

    def host(self, switch: int) -> None:
        self.hosts.append((switch, self._port(switch)))

    def cable(self, one: int, other: int) -> None:
        self.cables.append((one, self._port(one), other, self._port(other)))

    def _port(self, switch: int) -> int:
        self.used[switch] += 1
        return self.used[switch]

    def build(self, name: str, hosts_on: Iterable[int] = ()) -> Fabric:
        for switch in hosts_on:
            self.host(switch)
        at = np.array(self.hosts).reshape(-1, 2)
        return build(
            name,
            host_name=[f"host {h}" for h in range(len(self.hosts))],
            host_switch=at[:, 0],
            host_port=at[:, 1],
            switch_name=[f"switch {s}" for s in range(len(self.used))],
            switch_ports=max(self.used),
            cables=np.array(self.cables, dtype=np.uint32).reshape(-1, 4),
        )


def by_hand(
    name: str,
    hosts: Sequence[Sequence[str]],
    cables: Sequence[Sequence[int]] = (),
    *,
    switches: Sequence[str] | None = None,
    ports: int | Sequence[int] | None = None,
) -> Fabric:
    """Hosts by name on each switch, on ports from 1 on; cables as (switch, port, switch, port)."""
    ends = np.array(cables, dtype=np.int64).reshape(-1, 4)
    most = [len(some) for some in hosts]
    used = int(max(*most, ends[:, [1, 3]].max(initial=0), 1))
    return build(
        name,
        host_name=[host for some in hosts for host in some],
        host_switch=np.repeat(np.arange(len(hosts)), most),
        host_port=np.concatenate([np.arange(1, count + 1) for count in most]),
        switch_name=switches or [f"switch {switch}" for switch in range(len(hosts))],
        switch_ports=used if ports is None else np.array(ports),
        cables=ends,
    )


def crossbar(hosts: int) -> Fabric:
    """One switch."""
    return by_hand("crossbar", [[f"host {host}" for host in range(hosts)]])


def ring(switches: int, hosts_each: int) -> Fabric:
    """Switch i is cabled to i + 1; port hosts_each + 1 leads on (except of switch 0, back)."""
    return torus((switches,), hosts_each)


def unequal_planes() -> Fabric:
    """Two trees that no cable joins, of two leaves with four hosts each below two spines.

    Hosts 0 to 7 and their plane have 4xHDR; the others have 4xEDR and half of the cables up.
    """
    plan = Plan(8)
    for first, up in ((0, 2), (4, 1)):
        for leaf in (first, first + 1):
            for _ in range(4):
                plan.host(leaf)
            for spine in (first + 2, first + 3):
                for _ in range(up):
                    plan.cable(leaf, spine)
    planes = plan.build("two planes")
    return planes.replace(
        rates=("", "4xHDR", "4xEDR"),
        host_rate=np.where(planes.host_switch < 4, 1, 2).astype(np.uint16),
        cable_rate=np.where(planes.cable_from < 4, 1, 2).astype(np.uint16),
    )


def torus(sizes: tuple[int, ...], hosts_each: int = 1) -> Fabric:
    """A torus with `hosts_each` hosts on every switch, switches in row-major order."""
    plan = Plan(int(np.prod(sizes)))
    for switch in range(len(plan.used)):
        for _ in range(hosts_each):
            plan.host(switch)
    place = np.arange(len(plan.used)).reshape(sizes)
    for axis in range(len(sizes)):
        for one, other in zip(place.ravel(), np.roll(place, -1, axis).ravel(), strict=True):
            plan.cable(int(one), int(other))
    return plan.build("torus")


def fat_tree(leaves: int, down: int, tops: int, parallel: int = 1) -> Fabric:
    """Two levels: every leaf with `down` hosts and `parallel` cables to each of `tops`."""
    plan = Plan(leaves + tops)
    for leaf in range(leaves):
        for _ in range(down):
            plan.host(leaf)
        for top in range(tops):
            for _ in range(parallel):
                plan.cable(leaf, leaves + top)
    return plan.build("fat tree")


def three_level_tree(radix: int) -> Fabric:
    """The full fat tree of switches with `radix` ports: radix pods, radix^3 / 4 hosts."""
    half = radix // 2
    leaves = radix * half
    plan = Plan(2 * leaves + half * half)
    for pod in range(radix):
        for i in range(half):
            leaf, middle = pod * half + i, leaves + pod * half + i
            for j in range(half):
                plan.host(leaf)
                plan.cable(leaf, leaves + pod * half + j)
                plan.cable(middle, 2 * leaves + i * half + j)
    return plan.build("three-level tree")


def of_cables(fabric: Fabric, kept: np.ndarray | slice) -> Fabric:
    """The fabric with these of its cables alone, though parts may be joined no more."""
    columns = ("cable_from", "cable_from_port", "cable_to", "cable_to_port", "cable_rate")
    return fabric.replace(**{name: getattr(fabric, name)[kept] for name in columns})


def shuffled(fabric: Fabric, seed: int) -> Fabric:
    """The fabric with its hosts, and the GUIDs of its switches, in another order."""
    draws = np.random.default_rng(seed)
    order = draws.permutation(fabric.hosts)
    return fabric.replace(
        host_switch=fabric.host_switch[order],
        host_port=fabric.host_port[order],
        switch_guid=draws.permutation(fabric.switch_guid),
    )


def of_two_rates(fabric: Fabric) -> Fabric:
    """Every third cable and every fifth host at half the rate of the others."""
    cable = (1 + (np.arange(fabric.cables) % 3 == 0)).astype(np.uint16)
    host = (1 + (np.arange(fabric.hosts) % 5 == 0)).astype(np.uint16)
    return fabric.replace(rates=("", "4xDDR", "4xSDR"), cable_rate=cable, host_rate=host)


def routed(fabric: Fabric) -> Fabric:
    """The fabric with `shortest_path_tables` of it."""
    return fabric.replace(routes=shortest_path_tables(fabric))


def shortest_path_tables(fabric: Fabric) -> ForwardingTables:
    """To each host a shortest path; among equal ports the host's number chooses."""
    neighbours: list[list[tuple[int, int, int]]] = [[] for _ in range(fabric.switches)]
    for one, port, other, far_port in zip(
        fabric.cable_from.tolist(),
        fabric.cable_from_port.tolist(),
        fabric.cable_to.tolist(),
        fabric.cable_to_port.tolist(),
        strict=True,
    ):
        neighbours[one].append((port, other, far_port))
        neighbours[other].append((far_port, one, port))
    top = int(max(fabric.host_lid.max() + 2 ** fabric.host_lmc.max(), fabric.switch_lid.max()))
    ports = np.full((fabric.switches, top + 1), NO_PORT, dtype=np.uint16)
    for host in range(fabric.hosts):
        root = int(fabric.host_switch[host])
        distance = _distances(neighbours, root)
        for i in range(2 ** int(fabric.host_lmc[host])):
            address = int(fabric.host_lid[host]) + i
            ports[root, address] = fabric.host_port[host]
            for s, d in distance.items():
                if s != root:
                    nearer = sorted(p for p, n, _ in neighbours[s] if distance.get(n, d) < d)
                    ports[s, address] = nearer[(host + i) % len(nearer)]
    return ForwardingTables(ports, engine="shortest")


def _distances(neighbours: list[list[tuple[int, int, int]]], root: int) -> dict[int, int]:
    distance = {root: 0}
    queue = deque([root])
    while queue:
        at = queue.popleft()
        for _, other, _ in neighbours[at]:
            if other not in distance:
                distance[other] = distance[at] + 1
                queue.append(other)
    return distance


def with_hosts_on(fabric: Fabric, switches: list[int]) -> Fabric:
    """The fabric with one more host on each of some switches, which get a port for it."""
    ports = fabric.switch_ports.astype(np.int64)
    at = []
    for switch in switches:
        ports[switch] += 1
        at.append(ports[switch])
    return build(
        f"{fabric.name} and {len(switches)} hosts",
        host_name=(*fabric.host_name, *(f"service {number}" for number in range(len(switches)))),
        host_switch=np.append(fabric.host_switch, switches),
        host_port=np.append(fabric.host_port, at),
        switch_name=fabric.switch_name,
        switch_ports=ports,
        cables=_cables(fabric),
    )


def with_cables(fabric: Fabric, pairs: list[tuple[int, int]]) -> Fabric:
    """The fabric with more cables, to switches that need not have been there."""
    more = max(0, max(max(pair) for pair in pairs) + 1 - fabric.switches)
    ports = np.append(fabric.switch_ports, np.zeros(more)).astype(np.int64)
    cables = []
    for pair in pairs:
        ends = []
        for switch in pair:
            ports[switch] += 1
            ends += [switch, int(ports[switch])]
        cables.append(ends)
    names = tuple(f"more {number}" for number in range(more))
    return build(
        f"{fabric.name} and {len(pairs)} cables",
        host_name=fabric.host_name,
        host_switch=fabric.host_switch,
        host_port=fabric.host_port,
        switch_name=fabric.switch_name + names,
        switch_ports=ports,
        cables=np.concatenate([_cables(fabric), cables]),
    )


def _cables(fabric: Fabric) -> np.ndarray:
    columns = (fabric.cable_from, fabric.cable_from_port, fabric.cable_to, fabric.cable_to_port)
    return np.stack(columns, axis=1)


def two_planes() -> Fabric:
    """Two trees that no cable joins: a rail of each of six servers, and one of eight.

    Every plane has a subnet manager of its own: both count LIDs from 1.
    """
    plan = Plan(5 + 6)
    for first, leaves in ((0, 3), (5, 4)):
        for leaf in range(first, first + leaves):
            for _ in range(2):
                plan.host(leaf)
            for top in (first + leaves, first + leaves + 1):
                plan.cable(leaf, top)
    return plan.build("planes").replace(
        host_name=tuple(
            f"node{host + 1} mlx5_{rail}"
            for rail, hosts in enumerate((6, 8))
            for host in range(hosts)
        ),
        host_lid=np.array([*range(1, 7), *range(1, 9)], dtype=np.uint32),
        switch_name=tuple(
            f"plane{rail}-{switch}" for rail, many in enumerate((5, 6)) for switch in range(many)
        ),
        switch_lid=np.array([*range(7, 12), *range(9, 15)], dtype=np.uint32),
    )
