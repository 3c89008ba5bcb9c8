"""Hosts: what they are called, what they offer, and how many ranks each gets."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contend.base.errors import UsageError
from contend.base.schema import Size
from contend.base.units import counted

_LOCAL = ("localhost", "127.0.0.1", "::1")
# With a user, as launchers that log in take it; IPv6 addresses have colons. What begins with a dash
# would pass for an option, and blanks and the like would for more of a launcher's file.
_NAME = re.compile(r"(?:[\w][\w.-]*@)?[\w:\[][\w.:%\]-]*", re.ASCII)
_MEMORY = Path("/proc/meminfo")
_PROCESSORS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class HostRanks:
    """A host by the name that launchers reach it by, and the ranks that it gets."""

    name: str
    ranks: int

    def __post_init__(self) -> None:
        """Refuses what is no name: it goes into the command lines and files of launchers.

        Raises:
            UsageError: naming it.
        """
        if _NAME.fullmatch(self.name) is None:
            raise UsageError(
                f"expected a host's name of letters, digits, dots and dashes, got {self.name!r}"
            )


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
    for name, slots_there in room.items():
        taken = min(slots_there, left)
        if taken > 0:
            shared.append(HostRanks(name, taken))
        left -= taken
    if left > 0:
        raise UsageError(
            f"{counted(len(room), 'host')} can hold {counted(sum(room.values()), 'rank')}, "
            f"not {ranks}: name more hosts, or give each more slots or ranks"
        )
    return tuple(shared)


def is_local(hosts: Sequence[HostRanks]) -> bool:
    """Whether all ranks are on this machine, as far as names tell."""
    here = (*_LOCAL, socket.gethostname(), socket.gethostname().split(".")[0])
    return all(host.name in here for host in hosts)


@dataclass(frozen=True)
class HostResources:
    """What a host offers."""

    cpus: int
    """Number of processors that the system schedules on."""
    cores: int
    """Number of cores; fewer than processors where each runs several threads."""
    memory: Size | None = None
    """Bytes that programs can still take; null if it is not known."""


def this_machine(processors: Path = _PROCESSORS, memory: Path = _MEMORY) -> HostResources:
    """This machine, restricted to the processors that this process may run on."""
    allowed = os.sched_getaffinity(0)
    cores = {_core(cpu, processors) for cpu in allowed}
    return HostResources(len(allowed), len(cores), _available(memory))


def _core(cpu: int, processors: Path) -> str:
    """Something that all threads of a core share and no other core has."""
    try:
        return (processors / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()
    except OSError:
        return str(cpu)


def _available(memory: Path) -> int | None:
    try:
        lines = memory.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if words[0] == "MemAvailable:" and words[1].isdecimal():
            return int(words[1]) * 1024
    return None
