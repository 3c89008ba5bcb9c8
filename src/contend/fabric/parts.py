"""Connected parts of networks: planes of a cluster that no cable joins, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contend.units import counted

if TYPE_CHECKING:
    from contend.fabric.fabric import Fabric


@dataclass(frozen=True)
class PartSize:
    """The size of a connected part.

    Attributes:
        number: from 1, that with most hosts first.
        hosts: number of hosts.
        switches: number of switches.
        cables: number of cables between its switches.
        host: what its first host is called; it stands for the part.
    """

    number: int
    hosts: int
    switches: int
    cables: int
    host: str


@dataclass(frozen=True, eq=False)
class Part:
    """Switches that cables join, and their hosts.

    Attributes:
        number: from 1, that with most hosts first.
        hosts: numbers in the fabric, shape [hosts].
        switches: likewise, shape [switches].
        cables: likewise of the cables between its switches, shape [cables].
        host: what its first host is called; it stands for the part.
    """

    number: int
    hosts: NDArray[np.int64]
    switches: NDArray[np.int64]
    cables: NDArray[np.int64]
    host: str

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
