"""The drawing board of the generators: switches, hosts and cables in, a fabric out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from contend.base.errors import UsageError
from contend.fabric.fabric import Fabric, NumberedNames, build


def require(holds: bool, what: str, expected: str, got: object) -> None:
    """Raises UsageError with one line when a parameter does not hold what the family needs."""
    if not holds:
        raise UsageError(f"{what}: expected {expected}, got {got}")


Indices = NDArray[np.int64]

MOST_HOSTS = 1 << 20
MOST_SWITCHES = 1 << 20
MOST_CABLES = 1 << 22
# Port 0 is the switch itself and 0xFFFF means no port in a forwarding table.
MOST_PORTS = 0xFFFE


def check_size(what: str, *, hosts: int, switches: int, cables: int, ports: int) -> None:
    """Refuses what is too large before memory is asked for; `ports` is the widest switch's.

    Raises:
        UsageError: naming the number that is too large.
    """
    for kind, count, most in (
        ("hosts", hosts, MOST_HOSTS),
        ("switches", switches, MOST_SWITCHES),
        ("cables between switches", cables, MOST_CABLES),
        ("ports on a switch", ports, MOST_PORTS),
    ):
        if count > most:
            shown = str(count) if count < 10**15 else "more than 10^15"
            raise UsageError(f"{what}: expected at most {most} {kind}, got {shown}")


class Plan:
    """A fabric being drawn. Switches and hosts are numbered in the order they are added."""

    def __init__(self) -> None:
        self._switch_name: list[str] = []
        self._switch_ports: list[int] = []
        self._host_names: list[Sequence[str]] = []
        self._host_at: list[Indices] = []
        self._cables: list[Indices] = []

    def add_switches(self, names: Sequence[str], ports: int) -> Indices:
        """Adds switches with the same number of ports; returns their numbers, shape [names]."""
        first = len(self._switch_name)
        self._switch_name += names
        self._switch_ports += [ports] * len(names)
        return np.arange(first, len(self._switch_name), dtype=np.int64)

    def add_hosts(self, names: Sequence[str], switch: Indices, port: Indices) -> None:
        """Adds hosts, each on a switch and a port from 1; arrays broadcast to shape [names]."""
        self._host_names.append(names)
        self._host_at.append(_rows(switch, port))

    def add_cables(
        self, near: Indices, near_port: Indices, far: Indices, far_port: Indices
    ) -> None:
        """Adds cables between switches; the arrays broadcast, the cables follow in C order."""
        self._cables.append(_rows(near, near_port, far, far_port))

    def fabric(self, name: str, rate: str = "4xHDR") -> Fabric:
        """Builds the fabric; `rate` is that of every cable."""
        hosts = np.concatenate(self._host_at)
        names = self._host_names
        cables = np.concatenate([*self._cables, np.empty((0, 4), dtype=np.int64)])
        return build(
            name,
            host_name=names[0] if len(names) == 1 else tuple(chain(*names)),
            host_switch=hosts[:, 0],
            host_port=hosts[:, 1],
            switch_name=self._switch_name,
            switch_ports=np.array(self._switch_ports),
            cables=cables,
            rate=rate,
        )


def alike(what: str, switches: int, hosts: int, degree: int, names: Iterable[str]) -> Plan:
    """Switches that each have as many hosts, on their first ports, and room for as many cables.

    Args:
        what: is made, for errors.
        switches: how many; their numbers begin at 0.
        hosts: on each, ``host 1``...
        degree: cables of each.
        names: of the switches, read once they are known to be not too many.

    Raises:
        UsageError: as `check_size` does.
    """
    count, ports = switches * hosts, hosts + degree
    cables = switches * degree // 2
    check_size(what, hosts=count, switches=switches, cables=cables, ports=ports)
    plan = Plan()
    at = np.repeat(plan.add_switches(list(names), ports), hosts)
    plan.add_hosts(NumberedNames("host", count), at, np.tile(np.arange(1, hosts + 1), switches))
    return plan


def ports_in_order(near: Indices, far: Indices, hosts: int) -> tuple[Indices, Indices]:
    """Ports for cables between switches, numbered on each by the switch at the other end.

    Args:
        near: one end of every cable, shape [cables].
        far: the other end.
        hosts: on each switch; cables take the ports after them.
    """
    here, there = np.concatenate([near, far]), np.concatenate([far, near])
    order = np.lexsort((there, here))
    sorted_here = here[order]
    rank = np.arange(len(here)) - np.searchsorted(sorted_here, sorted_here)
    port = np.empty(len(here), dtype=np.int64)
    port[order] = hosts + rank + 1
    return port[: len(near)], port[len(near) :]


def _rows(*columns: Indices) -> Indices:
    """Columns that broadcast against each other, as the columns of one table."""
    whole = np.broadcast_arrays(*columns)
    return np.stack([column.ravel() for column in whole], axis=1).astype(np.int64)


class Draw:
    """A counter-based source of random orders and numbers.

    It takes the raw words of Philox, which are fixed, and not the methods of numpy's Generator,
    whose streams may change between versions.
    """

    def __init__(self, seed: int) -> None:
        self._words = np.random.Philox(seed)

    def order(self, count: int) -> Indices:
        """A random permutation of 0 .. count - 1."""
        return np.argsort(self._raw(count), kind="stable")

    def below(self, bound: int, count: int) -> Indices:
        """Numbers from 0 .. bound - 1; the bias of the remainder is below bound / 2^64."""
        return (self._raw(count) % np.uint64(bound)).astype(np.int64)

    def _raw(self, count: int) -> NDArray[np.uint64]:
        return self._words.random_raw(count)
