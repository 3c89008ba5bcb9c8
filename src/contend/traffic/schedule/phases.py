"""All-to-alls in phases that know the routes, and the file of routes that programs make them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contend import _core
from contend.base.errors import UsageError
from contend.base.files import whole_file
from contend.fabric import Fabric
from contend.routes import make_resolver, tables_of


@dataclass(frozen=True, eq=False)
class Phases:
    """An all-to-all in phases: every rank sends to every other rank in one of them.

    In a phase a rank sends one message at most and receives one at most, no channel carries two
    messages, ports of hosts included, and no two ranks send to each other.
    """

    target: NDArray[np.int32]
    """The rank that each rank sends to, -1 for none; shape [ranks, phases], int32."""
    source: NDArray[np.int32]
    """The rank that each rank receives from, -1 for none; shape [ranks, phases], int32."""
    bound: int
    """Number of phases below which no schedule of that kind can be: as many as a rank has messages,
    or as the fullest channel has."""

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.target)

    def __len__(self) -> int:
        return int(self.target.shape[1])

    def __repr__(self) -> str:
        return f"<{len(self)} phases of {self.ranks} ranks, {self.bound} at least>"

    def write(self, path: Path) -> None:
        """Writes a line for every phase: the rank that each rank sends to, ``-`` for none.

        It is what ``contend-alltoall --phases`` takes.
        """
        with whole_file(path) as file:
            file.write(b"# phases of an all-to-all: the rank that every rank sends to\n")
            for phase in self.target.T.tolist():
                words = ("-" if to < 0 else str(to) for to in phase)
                file.write(f"{' '.join(words)}\n".encode())


def phases_by_routes(fabric: Fabric, host_of_rank: Sequence[int] | NDArray[np.integer]) -> Phases:
    """Phases for ranks on hosts of a fabric; the same whenever they are asked for.

    Args:
        fabric: with routes.
        host_of_rank: number of each rank's host, shape [ranks]. Several ranks may share a host.

    Raises:
        UsageError: a host that does not exist, no route, or more than 65,535 ranks.
    """
    hosts = np.asarray(host_of_rank, dtype=np.int64)
    used = np.unique(hosts)
    if not len(used) or not 0 <= used[0] <= used[-1] < fabric.hosts:
        raise UsageError(f"expected hosts 0 .. {fabric.hosts - 1} of ranks, got {hosts.tolist()}")
    resolver = make_resolver(fabric, used.astype(np.uint32), messages=len(used) ** 2)
    found = _core.phases_by_routes(resolver, np.searchsorted(used, hosts).astype(np.uint32))
    return Phases(found["target"], found["source"], found["bound"])


ROUTES = "routes.txt"
"""What the file is called, in the folder of a run and in one of rules."""


def write_routes(fabric: Fabric, names: Sequence[str], path: Path) -> None:
    """Writes which way every host is reached from every switch, by its first address.

    After the number of hosts and of switches there is a line for every host: the switch that it is
    attached to, from 0, and its name. Then for every switch two lines: the switches that its
    channels lead to, and for every host which of these channels leads there, from 0, ``-`` for
    none. Thousands of hosts take some megabytes.

    Args:
        fabric: with routes.
        names: of its hosts, as programs are told them there; shape [hosts].
        path: of the file.

    Raises:
        UsageError: the fabric has no tables, or a name is not one line.
    """
    for name in names:
        if not name.strip() or len(name.splitlines()) != 1:
            raise UsageError(f"expected names of hosts in one line, got {name!r}")
    tables = tables_of(fabric)
    address = np.minimum(fabric.host_lid, tables.addresses - 1)
    channels = _channels(fabric)
    with whole_file(path) as file:
        file.write(f"contend routes 1\n{fabric.hosts} {fabric.switches}\n".encode())
        for switch, name in zip(fabric.host_switch.tolist(), names, strict=True):
            file.write(f"{switch} {name}\n".encode())
        for row, here in zip(tables.ports, channels, strict=True):
            file.write(f"{' '.join(str(switch) for _, switch in here)}\n".encode())
            word = {port: str(index) for index, (port, _) in enumerate(here)}
            ports = np.where(fabric.host_lid > 0, row[address], 0).tolist()
            file.write(f"{' '.join(word.get(port, '-') for port in ports)}\n".encode())


def _channels(fabric: Fabric) -> list[list[tuple[int, int]]]:
    """Of every switch, the port and the switch at the other end of each of its channels."""
    channels: list[list[tuple[int, int]]] = [[] for _ in range(fabric.switches)]
    for near, near_port, far, far_port in fabric.cable_ends():
        channels[near].append((near_port, far))
        channels[far].append((far_port, near))
    return channels
