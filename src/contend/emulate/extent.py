"""Which part of a fabric some hosts use: the channels of all routes between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contend.fabric import Fabric
from contend.routes import ForwardingTables


class Walks:
    """Walks the forwarding tables from host to host; the routes have been found sound before.

    Args:
        fabric: whose routes.
        routes: its forwarding tables.
    """

    def __init__(self, fabric: Fabric, routes: ForwardingTables) -> None:
        self._fabric = fabric
        self._routes = routes
        ends = zip(
            fabric.cable_from.tolist(),
            fabric.cable_from_port.tolist(),
            fabric.cable_to.tolist(),
            fabric.cable_to_port.tolist(),
            strict=True,
        )
        # Channel and switch behind every port that has a cable.
        self._behind: dict[tuple[int, int], tuple[int, int]] = {}
        for cable, (near, out, far, into) in enumerate(ends):
            self._behind[near, out] = (2 * cable, far)
            self._behind[far, into] = (2 * cable + 1, near)

    def route(self, source: int, target: int) -> list[int]:
        """The channels from a host to another, those of both hosts included."""
        fabric = self._fabric
        injection = 2 * fabric.cables + source
        ejection = 2 * fabric.cables + fabric.hosts + target
        leaf = int(fabric.host_switch[source])
        return [injection, *self._between(leaf, target), ejection]

    def used_cables(self, hosts: Sequence[int]) -> set[int]:
        """The cables that routes between these hosts go over."""
        leaves = sorted({int(self._fabric.host_switch[host]) for host in hosts})
        return {
            channel // 2
            for leaf in leaves
            for target in hosts
            for channel in self._between(leaf, target)
        }

    def _between(self, switch: int, target: int) -> Iterator[int]:
        address = int(self._fabric.host_lid[target])
        last = int(self._fabric.host_switch[target])
        while switch != last:
            channel, switch = self._behind[switch, int(self._routes.ports[switch, address])]
            yield channel
