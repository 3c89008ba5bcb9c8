"""Any other launcher: the beginning of a command line, with places for numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from contend.errors import UsageError
from contend.mpi.launches import Death, Launch, LauncherKind, LauncherOptions

_PLACE = re.compile(r"\{(\w*)\}")


def has_places(words: Sequence[str]) -> bool:
    """Whether a command line says itself where numbers go."""
    return any(_PLACE.search(word) for word in words)


def filled(words: Sequence[str], launch: Launch, host_file: Path | None) -> list[str]:
    """The command line with numbers in their places.

    Raises:
        UsageError: for a place that is none, or one that nothing was given for.
    """
    known = {
        "ranks": str(launch.ranks),
        "ranks_per_host": str(launch.fullest),
        "hosts": ",".join(host.name for host in launch.hosts),
        "hostfile": str(host_file or ""),
    }

    def value(match: re.Match[str]) -> str:
        if match[1] not in known:
            names = ", ".join(f"{{{name}}}" for name in known)
            raise UsageError(f"the launcher's command: expected {names}, got {match[0]}")
        if not known[match[1]]:
            raise UsageError(f"the launcher's command uses {match[0]}, but no hosts are given")
        return known[match[1]]

    return [_PLACE.sub(value, word) for word in words]


def options(launch: Launch, _: Path | None) -> LauncherOptions:
    """The number of ranks, which nearly every launcher takes as ``-n``.

    Raises:
        UsageError: for hosts, which each launcher wants told otherwise.
    """
    if launch.hosts or launch.ranks_per_host is not None:
        raise UsageError(
            f"contend cannot pass hosts or ranks per host to {launch.launcher} itself; "
            "put {hostfile}, {hosts} or {ranks_per_host} into its command"
        )
    return LauncherOptions(("-n", str(launch.ranks), *launch.extra))


def _no_more(launch: Launch, _: Path | None) -> LauncherOptions:
    return LauncherOptions(launch.extra)


def host_file(launch: Launch) -> str:
    """A line for every rank: its host."""
    return "".join(f"{host.name}\n" * host.ranks for host in launch.hosts)


def death(_: str) -> Death | None:
    """What such a launcher writes is not known."""
    return None


PREFIX = LauncherKind("launcher", options, host_file, death)
PLACES = LauncherKind("launcher", _no_more, host_file, death)
