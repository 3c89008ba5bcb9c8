"""How many ranks run, and on which hosts: one shape for every combination that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contend.errors import UsageError
from contend.mpi import HostRanks, share_out
from contend.units import counted

Slots = Sequence[tuple[str, int | None]]
"""Hosts by name, and how many ranks each takes; None where nobody said."""

# Far above any machine: more is a typing error.
_MOST = 1 << 24


@dataclass(frozen=True)
class Shape:
    """Ranks and their places.

    Attributes:
        ranks: in all.
        ranks_per_host: as it was asked for; None where hosts decide.
        hosts: ranks of every host; empty where the launcher decides, or all are on this machine.
    """

    ranks: int
    ranks_per_host: int | None = None
    hosts: tuple[HostRanks, ...] = ()

    @property
    def fullest(self) -> int:
        """Ranks on the host that has most of them; all of them where no hosts are known."""
        if self.hosts:
            return max(host.ranks for host in self.hosts)
        return self.ranks if self.ranks_per_host is None else min(self.ranks_per_host, self.ranks)

    def __str__(self) -> str:
        ranks = counted(self.ranks, "rank")
        if self.hosts:
            return f"{ranks} on {counted(len(self.hosts), 'host')}"
        return ranks if self.ranks_per_host is None else f"{ranks}, {self.ranks_per_host} a host"


def make_shapes(
    ranks: Sequence[int], ranks_per_host: Sequence[int], slots: Slots, *, alone: bool
) -> tuple[Shape, ...]:
    """A shape for every number of ranks and every number of ranks per host.

    Args:
        ranks: numbers of ranks.
        ranks_per_host: numbers on every host; empty leaves it to the hosts.
        slots: hosts to use; empty for those that the launcher knows.
        alone: whether without hosts all ranks are on this machine.

    Raises:
        UsageError: when some combination has no place, or two are the same.
    """
    if not ranks:
        raise UsageError("expected a number of ranks")
    for number in (*ranks, *ranks_per_host):
        if not 1 <= number <= _MOST:
            raise UsageError(f"expected 1 to {_MOST:,} ranks, got {number:,}")
    shapes = [
        _shape(count, each, slots, alone) for count in ranks for each in ranks_per_host or (None,)
    ]
    for shape in shapes:
        if shapes.count(shape) > 1:
            raise UsageError(f"{shape} is asked for twice")
    return tuple(shapes)


def _shape(ranks: int, ranks_per_host: int | None, slots: Slots, alone: bool) -> Shape:
    if slots:
        return Shape(ranks, ranks_per_host, share_out(slots, ranks, ranks_per_host))
    if alone and ranks_per_host is not None:
        if ranks_per_host < ranks:
            needed = -(-ranks // ranks_per_host)
            raise UsageError(
                f"{ranks} ranks with {ranks_per_host} on every host need {needed} hosts, and only "
                "this machine is known: name hosts with --on HOSTFILE"
            )
        return Shape(ranks)
    return Shape(ranks, ranks_per_host)
