"""How many ranks each host gets."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from contend.errors import UsageError

_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class HostRanks:
    """A host by the name that launchers reach it by, and the ranks that it gets."""

    name: str
    ranks: int


def share_out(
    slots: Sequence[tuple[str, int | None]], ranks: int, ranks_per_host: int | None
) -> tuple[HostRanks, ...]:
    """Fills hosts in their order until all ranks have a place.

    Args:
        slots: names of hosts and the ranks that each takes, None where nobody said; a name that
            comes again adds to its first place.
        ranks: in all.
        ranks_per_host: ranks of every host, in place of its slots; the last host may get fewer.

    Raises:
        UsageError: when the hosts do not take that many ranks.
    """
    if ranks < 1:
        raise UsageError(f"expected at least 1 rank, got {ranks}")
    room: dict[str, int] = {}
    for name, count in slots:
        if ranks_per_host is None:
            room[name] = room.get(name, 0) + (1 if count is None else count)
        else:
            room[name] = ranks_per_host
    shared = []
    left = ranks
    for name, places in room.items():
        taken = min(places, left)
        if taken > 0:
            shared.append(HostRanks(name, taken))
        left -= taken
    if left > 0:
        raise UsageError(
            f"{ranks} ranks do not fit the {sum(room.values())} places of {len(room)} hosts: "
            "name more hosts, or more slots or ranks for each"
        )
    return tuple(shared)


def is_local(hosts: Sequence[HostRanks]) -> bool:
    """Whether all ranks are on this machine, as far as names tell."""
    here = (*_LOCAL, socket.gethostname(), socket.gethostname().split(".")[0])
    return all(host.name in here for host in hosts)
