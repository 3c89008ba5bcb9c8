"""A placement: the hosts in the order in which ranks fill them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contend.errors import UsageError


@dataclass(frozen=True, eq=False)
class Placement:
    """Which rank sits on which host: rank r on ``hosts[r // ranks_per_host]``.

    Attributes:
        name: the specification it was made from, such as ``random`` or ``file:hosts.txt``.
        hosts: shape [slots], uint32: a host for every slot, in rank order; a host may have several.
        ranks_per_host: ranks that share a slot.
        random: True when the slots are shuffled anew for every sample.
    """

    name: str
    hosts: NDArray[np.uint32]
    ranks_per_host: int = 1
    random: bool = False

    def __post_init__(self) -> None:
        if self.ranks_per_host < 1:
            raise UsageError(f"ranks per host must be at least 1, got {self.ranks_per_host}")
        if len(self.hosts) == 0:
            raise UsageError(f"placement {self.name}: no host is left to place ranks on")
        hosts = np.array(self.hosts, dtype=np.uint32)
        hosts.flags.writeable = False
        object.__setattr__(self, "hosts", hosts)

    @property
    def ranks(self) -> int:
        """Number of ranks that have a place."""
        return len(self.hosts) * self.ranks_per_host

    @property
    def host_of_rank(self) -> NDArray[np.uint32]:
        """Host of every rank, shape [ranks], before any shuffling."""
        return np.repeat(self.hosts, self.ranks_per_host)
