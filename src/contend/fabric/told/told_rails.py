"""Which hosts are on which rail of which server, as a file tells it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = "-"
"""Stands for an adapter that a server lacks."""


@dataclass(frozen=True, eq=False)
class ToldRails:
    """Servers and rails that need not be found from names.

    Attributes:
        words: what is told, in a line.
        names: of the servers; "" for one that is called as its hosts' descriptions say.
        adapters: of every server by rail, as they are told; `NONE` where it should have none.
        server: of every host by its place among `names`, shape [hosts]; -1 where nothing is told.
        rail: of every host, from 0, shape [hosts]; -1 likewise.
    """

    words: str
    names: tuple[str, ...]
    adapters: tuple[tuple[str, ...], ...]
    server: NDArray[np.int64]
    rail: NDArray[np.int64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many rails every server has, shape [servers]."""
        return np.array([len(each) for each in self.adapters], dtype=np.int64)

    def of_hosts(self, hosts: NDArray[Any]) -> ToldRails:
        """What is told of some of the hosts, by their numbers."""
        return replace(self, server=self.server[hosts], rail=self.rail[hosts])
