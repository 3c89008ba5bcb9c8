"""``mpirun`` of Open MPI: version 4 (ORTE), and version 5, which is PRRTE's ``prterun``."""

from __future__ import annotations

import re
from pathlib import Path

from contend.mpi.launches import Death, Launch, LauncherKind, LauncherOptions

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


def options_of_4(launch: Launch, host_file: Path | None) -> LauncherOptions:
    """The options of version 4."""
    return LauncherOptions(_words(launch, host_file, ""), _settings(launch))


def options_of_5(launch: Launch, host_file: Path | None) -> LauncherOptions:
    """The options of version 5: a mapping that is named replaces the policy of the environment."""
    return LauncherOptions(_words(launch, host_file, ":oversubscribe"), _settings(launch))


def _words(launch: Launch, host_file: Path | None, oversubscribe: str) -> tuple[str, ...]:
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
    return (*words, *launch.extra)


def _settings(launch: Launch) -> dict[str, str]:
    """Yielding, where there are more ranks than processors; what is to be passed on by a list."""
    settings = dict(_YIELD) if launch.crowded else {}
    if not launch.local and (listed := launch.variables().get(_LIST)) is not None:
        settings[_LIST] = ";".join(dict.fromkeys([*listed.split(";"), *_to_pass_on(launch)]))
    return settings


def host_file(launch: Launch) -> str:
    """A line ``name slots=ranks`` for every host, which then takes exactly these ranks."""
    return "".join(f"{host.name} slots={host.ranks}\n" for host in launch.hosts)


def death(output: str) -> Death | None:
    """The rank that the launcher noticed; its message may be wrapped."""
    match = _NOTICED.search(" ".join(output.split()))
    if match is None:
        return None
    return Death(int(match[4]), int(match[1]), int(match[2]), match[3])


def _to_pass_on(launch: Launch) -> list[str]:
    named = [name for name in launch.environment if not name.startswith(_PASSED_ON)]
    return sorted({*named, *(name for name in _PATHS if name in launch.variables())})


OPEN_MPI_4 = LauncherKind("mpirun of Open MPI 4", options_of_4, host_file, death)
OPEN_MPI_5 = LauncherKind("mpirun of Open MPI 5", options_of_5, host_file, death)
