"""Routes between hosts as a small file, from which programs make phases while they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from contend.errors import UsageError
from contend.fabric import Fabric
from contend.files import whole_file
from contend.routes import tables_of

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
