"""``srun`` of Slurm, within a job or as one of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from contend.mpi.launches import Death, Launch, LauncherKind, LauncherOptions, signal_number
from contend.process import run_process

# Which of Slurm's plugins the ranks of a library find each other by, best first.
_PLUGINS = {"Open MPI": ("pmix", "pmi2"), "Cray MPICH": ("cray_shasta", "pmi2")}
_OTHERS = ("pmi2", "pmix")
_LIMIT = 10.0

_LOST = re.compile(r"^srun: error: (\S+): tasks? (\d+)[^:\n]*: ([A-Z][A-Za-z ]+)$", re.MULTILINE)
_QUEUED = re.compile(r"job \d+ queued and waiting for resources")
_STARTED = re.compile(r"job \d+ has been allocated resources")


def options(launch: Launch, host_file: Path | None) -> LauncherOptions:
    """The options; with a host file every rank goes to the host in its line."""
    words = ["-n", str(launch.ranks), "--kill-on-bad-exit=1"]
    settings = {}
    if host_file is not None:
        # The file also says which hosts; they in a list would keep Slurm from sharing out unevenly.
        words += ["--distribution=arbitrary"]
        settings["SLURM_HOSTFILE"] = str(host_file)
    elif launch.ranks_per_host is not None:
        words += [f"--ntasks-per-node={launch.ranks_per_host}"]
    words += ["--cpu-bind=cores" if launch.binds else "--cpu-bind=none"]
    plugin = _plugin(launch)
    if plugin:
        words += [f"--mpi={plugin}"]
    return LauncherOptions((*words, *launch.extra), settings)


def host_file(launch: Launch) -> str:
    """A line for every rank: its host."""
    return "".join(f"{host.name}\n" * host.ranks for host in launch.hosts)


def death(output: str) -> Death | None:
    """The first rank that a signal ended; those that Slurm ends afterwards come later."""
    for match in _LOST.finditer(output):
        if number := signal_number(match[3]):
            return Death(number, int(match[2]), host=match[1])
    return None


def waits(output: str) -> bool:
    """Whether the job is still in the queue."""
    return bool(_QUEUED.search(output)) and not _STARTED.search(output)


def plugins(environment: Mapping[str, str]) -> list[str]:
    """The plugins that this Slurm has, such as ``pmi2`` and ``pmix``."""
    listing = run_process(["srun", "--mpi=list"], environment, _LIMIT).all_text
    return re.findall(r"^\s+([a-z]\w*)$", listing, re.MULTILINE)


def _plugin(launch: Launch) -> str:
    """The plugin to name; "" where the user has chosen or none fits."""
    environment = launch.variables()
    if "SLURM_MPI_TYPE" in environment or any("--mpi" in word for word in launch.launcher.split()):
        return ""
    available = plugins({**os.environ, **environment})
    fitting = _PLUGINS.get(launch.library.name, _OTHERS)
    return next((plugin for plugin in fitting if plugin in available), "")


SRUN = LauncherKind("srun", options, host_file, death, waits)
