"""Launchers of ranks: each one's options for ranks, hosts and binding, and how it tells deaths."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from contend.base.errors import UsageError
from contend.base.process import run_process
from contend.lab.mpi.launches import Death, Launch, LauncherKind, LauncherOptions, signal_number

# Which of Slurm's plugins the ranks of a library find each other by, best first.
_PLUGINS = {"Open MPI": ("pmix", "pmi2"), "Cray MPICH": ("cray_shasta", "pmi2")}
_OTHERS = ("pmi2", "pmix")
_LIMIT = 10.0

_LOST = re.compile(r"^srun: error: (\S+): tasks? (\d+)[^:\n]*: ([A-Z][A-Za-z ]+)$", re.MULTILINE)
_QUEUED = re.compile(r"job \d+ queued and waiting for resources")
_STARTED = re.compile(r"job \d+ has been allocated resources")


def srun_options(launch: Launch, host_file: Path | None) -> LauncherOptions:
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


def line_for_each_rank(launch: Launch) -> str:
    """A line for every rank: its host."""
    return "".join(f"{host.name}\n" * host.ranks for host in launch.hosts)


def srun_death(output: str) -> Death | None:
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


SRUN = LauncherKind("srun", srun_options, line_for_each_rank, srun_death, waits)


_WHERE = re.compile(r"^=\s+PID (\d+) RUNNING AT (\S+)", re.MULTILINE)
_HOW = re.compile(r"EXIT STRING: .*\(signal (\d+)\)")


def _hydra_options(launch: Launch, host_file: Path | None) -> LauncherOptions:
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


def _hydra_hosts(launch: Launch) -> str:
    """A line ``name:ranks`` for every host."""
    return "".join(f"{host.name}:{host.ranks}\n" for host in launch.hosts)


def _hydra_death(output: str) -> Death | None:
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


HYDRA = LauncherKind("mpiexec of MPICH", _hydra_options, _hydra_hosts, _hydra_death)


# Waiting ranks give the processor to those that have work; without it they spin for their quantum.
_YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}
# The launcher passes on what begins so by itself, and nothing else, to other hosts.
_PASSED_ON = ("OMPI_", "PRTE_", "PMIX_")
# A list of further variables to pass on. The launcher takes options -x or this, but not both.
_LIST = "OMPI_MCA_mca_base_env_list"
_TUNED = tuple(f"CONTEND_TUNED{end}" for end in ("", "_REPORT", "_RUN", "_SIGN_IN"))
# What ranks on other hosts need of the environment, and what is preloaded into them.
_PATHS = ("LD_LIBRARY_PATH", "LD_PRELOAD", *_TUNED)

_NOTICED = re.compile(
    r"noticed that process rank (\d+) with PID (\d+) on node (\S+) exited on\s+signal (\d+)"
)


def _open_mpi_options(
    launch: Launch, host_file: Path | None, oversubscribe: str = ""
) -> LauncherOptions:
    """Number, hosts, binding and variables; `oversubscribe` follows the mapping."""
    words = ["-n", str(launch.ranks)]
    if host_file is not None:
        words += ["--hostfile", str(host_file), "--map-by", f"slot{oversubscribe}"]
    elif launch.ranks_per_host is not None and not launch.local:
        words += ["--map-by", f"ppr:{launch.ranks_per_host}:node{oversubscribe}"]
    if launch.binds:
        # On hosts that nobody has seen, too few cores are no reason to fail.
        words += ["--bind-to", "core" if launch.local else "core:overload-allowed"]
    else:
        words += ["--bind-to", "none"]
    if not launch.local and _LIST not in launch.variables():
        for name in _to_pass_on(launch):
            words += ["-x", name]
    return LauncherOptions((*words, *launch.extra), _settings(launch))


def _settings(launch: Launch) -> dict[str, str]:
    """Yielding, where there are more ranks than processors; what is to be passed on by a list."""
    settings = dict(_YIELD) if launch.crowded else {}
    if not launch.local and (listed := launch.variables().get(_LIST)) is not None:
        settings[_LIST] = ";".join(dict.fromkeys([*listed.split(";"), *_to_pass_on(launch)]))
    return settings


def _slots(launch: Launch) -> str:
    """A line ``name slots=ranks`` for every host, which then takes exactly these ranks."""
    return "".join(f"{host.name} slots={host.ranks}\n" for host in launch.hosts)


def _noticed_death(output: str) -> Death | None:
    """The rank that the launcher noticed; its message may be wrapped."""
    match = _NOTICED.search(" ".join(output.split()))
    if match is None:
        return None
    return Death(int(match[4]), int(match[1]), int(match[2]), match[3])


def _to_pass_on(launch: Launch) -> list[str]:
    named = [name for name in launch.environment if not name.startswith(_PASSED_ON)]
    return sorted({*named, *(name for name in _PATHS if name in launch.variables())})


OPEN_MPI_4 = LauncherKind("mpirun of Open MPI 4", _open_mpi_options, _slots, _noticed_death)
# There a mapping that is named replaces the policy of the environment.
_options_of_5 = partial(_open_mpi_options, oversubscribe=":oversubscribe")
OPEN_MPI_5 = LauncherKind("mpirun of Open MPI 5", _options_of_5, _slots, _noticed_death)


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


def _number_alone(launch: Launch, _: Path | None) -> LauncherOptions:
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


PREFIX = LauncherKind("launcher", _number_alone, line_for_each_rank)
PLACES = LauncherKind("launcher", _no_more, line_for_each_rank)
