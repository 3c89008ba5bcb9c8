"""``mpiexec`` of MPICH and its relatives: hydra."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from contend.mpi.launches import Death, Launch, LauncherKind, LauncherOptions

_WHERE = re.compile(r"^=\s+PID (\d+) RUNNING AT (\S+)", re.MULTILINE)
_HOW = re.compile(r"EXIT STRING: .*\(signal (\d+)\)")


def options(launch: Launch, host_file: Path | None) -> LauncherOptions:
    """The options; hydra passes the whole environment on by itself."""
    words = ["-n", str(launch.ranks)]
    if host_file is not None:
        words += ["-f", str(host_file)]
    elif launch.ranks_per_host is not None and not launch.local:
        words += ["-ppn", str(launch.ranks_per_host)]
    if launch.library.name == "Intel MPI":
        pinning = {"I_MPI_PIN": str(int(launch.binds))}
        return LauncherOptions((*words, *launch.extra), pinning)
    words += ["-bind-to", "core" if launch.binds else "none"]
    return LauncherOptions((*words, *launch.extra))


def host_file(launch: Launch) -> str:
    """A line ``name:ranks`` for every host."""
    return "".join(f"{host.name}:{host.ranks}\n" for host in launch.hosts)


def death(output: str) -> Death | None:
    """The process that hydra names, without its rank.

    It is the lowest rank of those that died, and those that hydra ended itself died of SIGKILL.
    """
    how, where = _HOW.search(output), _WHERE.search(output)
    if how is None:
        return None
    if where is None:
        return Death(int(how[1]))
    number = int(how[1])
    return Death(number, pid=int(where[1]), host=where[2], first=number != signal.SIGKILL)


HYDRA = LauncherKind("mpiexec of MPICH", options, host_file, death)
