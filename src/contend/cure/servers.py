"""The servers of a fabric that jobs may take: their hosts, names and leaves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from contend.fabric import Fabric, server_names, servers_of
from contend.traffic.placement import by_name, by_server, leaf_by_leaf


class Servers:
    """The servers of a fabric: their hosts, their names, and the leaves that they hang on."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._server = servers_of(fabric)
        self._order = by_name(fabric)
        self._by_leaf = leaf_by_leaf(fabric, self._order)
        self._rank = np.empty(fabric.hosts, dtype=np.int64)
        self._rank[self._order] = np.arange(fabric.hosts)
        self._names = server_names(fabric)
        self._hosts: dict[int, list[int]] = {}
        for host in self._order.tolist():
            self._hosts.setdefault(int(self._server[host]), []).append(host)
        self._leaves = {
            server: tuple(sorted({int(fabric.host_switch[host]) for host in hosts}))
            for server, hosts in self._hosts.items()
        }

    def in_order(self, hosts: Collection[int]) -> NDArray[np.uint32]:
        """Hosts in the natural order of their names."""
        return np.array(sorted(hosts, key=self._rank.__getitem__), dtype=np.uint32)

    def of(self, hosts: NDArray[np.uint32]) -> list[int]:
        """The servers of hosts, each once."""
        return list(dict.fromkeys(self._server[hosts].tolist()))

    def allowed(self, hosts: Collection[int] | None) -> list[int]:
        """Servers of which all hosts are among those given and have an address, by name."""
        chosen = range(self._fabric.hosts) if hosts is None else frozenset(hosts)
        routed = self._fabric.tables is None or self._fabric.host_lid > 0
        reached = np.broadcast_to(routed, self._fabric.hosts)
        return [
            server
            for server, own in self._hosts.items()
            if all(host in chosen and reached[host] for host in own)
        ]

    def hosts(self, servers: Collection[int]) -> NDArray[np.uint32]:
        """The hosts of servers, in the natural order of their names."""
        return self.in_order([host for server in servers for host in self._hosts[server]])

    def by_leaf(self, servers: Collection[int]) -> NDArray[np.uint32]:
        """The hosts of servers, those on the same leaves one after the other."""
        chosen = np.isin(self._server[self._by_leaf], list(servers))
        return self._by_leaf[chosen]

    def alike(self, servers: Sequence[int]) -> list[int]:
        """Those with as many adapters as most adapters' servers have."""
        whole = self.of(by_server(self._fabric, self.hosts(servers)).ravel())
        kept = frozenset(whole)
        return [server for server in servers if server in kept]

    def names(self, servers: Collection[int]) -> tuple[str, ...]:
        """What servers are called, in natural order."""
        return self.names_in_order(self.hosts(servers))

    def names_in_order(self, hosts: NDArray[np.uint32]) -> tuple[str, ...]:
        """What the servers of hosts are called, each once, in the order of the hosts."""
        return tuple(dict.fromkeys(self._names[host] for host in hosts.tolist()))

    def groups(self, servers: Collection[int]) -> dict[tuple[int, ...], list[int]]:
        """Servers by the leaves that they hang on, in the order given."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for server in servers:
            groups.setdefault(self._leaves[server], []).append(server)
        return groups

    def leaves(self, servers: Collection[int]) -> int:
        """On how many leaves servers hang."""
        return len({leaf for server in servers for leaf in self._leaves[server]})

    def fewest_leaves(self, count: int, servers: Collection[int]) -> int:
        """On how few leaves so many of these servers hang.

        Leaves are filled from the one with the most servers on. Where servers have several hosts
        and share some of their leaves only, fewer may do.
        """
        groups = self.groups(servers)
        found: set[int] = set()
        for leaves in sorted(groups, key=lambda leaves: (-len(groups[leaves]), leaves)):
            if count <= 0:
                break
            found.update(leaves)
            count -= len(groups[leaves])
        return len(found)
