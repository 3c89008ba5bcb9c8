"""Forwarding tables: for every switch and address the port to leave by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_PORT = 0xFFFF


@dataclass(frozen=True, eq=False)
class ForwardingTables:
    """One forwarding table per switch, in the order of the fabric's switches.

    Attributes:
        ports: shape [switches, addresses], dtype uint16; entry [s, a] is the port by which switch
            s sends what is meant for address a. 0 is the switch itself, NO_PORT no entry.
            Addresses are the LIDs of the fabric (`Fabric.host_lid`, `Fabric.switch_lid`).
        engine: what made them, such as ``minhop`` or ``opensm:ftree``; "" when read from a file.
    """

    ports: NDArray[np.uint16]
    engine: str = ""

    def __post_init__(self) -> None:
        ports = np.ascontiguousarray(self.ports, dtype=np.uint16)
        ports.flags.writeable = False
        object.__setattr__(self, "ports", ports)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return int(self.ports.shape[0])

    @property
    def addresses(self) -> int:
        """Size of the address space, address 0 included."""
        return int(self.ports.shape[1])
