"""A topology file of any kind, read: the fabric, and the tables where the file carries them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contend.fabric.assemble import assemble
from contend.fabric.fabric import Fabric
from contend.fabric.subnet import Subnet


@dataclass(frozen=True, eq=False)
class Topology:
    """What a topology file holds.

    Attributes:
        fabric: without routes.
        ports: forwarding tables [switches, addresses] in the fabric's order, where the file
            carries them; see `contend.routes.forwarding.ForwardingTables`.
        engine: what made the tables; "" when unknown.
    """

    fabric: Fabric
    ports: NDArray[np.uint16] | None = None
    engine: str = ""


class TopologyReader(Protocol):
    """What a module that reads one kind of topology file offers."""

    def recognises(self, head: bytes) -> bool:
        """Whether the first 64 KiB look like this kind of file."""

    def read(self, chunks: Iterable[bytes], source: str) -> Subnet | Topology:
        """Reads the whole file; `source` is its name in messages."""


def read_topology(reader: TopologyReader, chunks: Iterable[bytes], source: str) -> Topology:
    """Reads a topology with its reader and judges what it says.

    Raises:
        InputError: the file is not what the reader expects, or holds no switch or no host.
    """
    described = reader.read(chunks, source)
    if isinstance(described, Subnet):
        return Topology(assemble(described, source))
    return described
