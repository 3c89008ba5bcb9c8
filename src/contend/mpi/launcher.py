"""Which launchers may belong to a wrapper, and how one is asked to start ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from contend.mpi.candidate import Candidate, command_file, is_program, link_names, search_path

_LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra")
# Open MPI refuses root, and more ranks than cores, unless told otherwise; 4 and 5 by other names.
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_MORE_RANKS_THAN_CORES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def launchers(candidate: Candidate) -> list[Path]:
    """Launchers to try for a candidate, the likeliest first, each program once.

    Those beside the wrapper come first, and among them those that share its ending, as
    ``mpicc.mpich`` and ``mpirun.mpich`` do; then what PATH has.
    """
    found: dict[Path, Path] = {}
    for path in _places(candidate):
        if is_program(path):
            # Two names of one launcher act alike, so here all links are followed.
            found.setdefault(path.resolve(), path)
    return list(found.values())


def launch_command(launcher: Path, ranks: int, program: list[str]) -> list[str]:
    """The command that starts a program on a number of ranks."""
    return [str(launcher), "-n", str(ranks), *program]


def launch_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a launcher takes root and more ranks than cores for granted.

    What the user has set stays.
    """
    settings = dict(_MORE_RANKS_THAN_CORES)
    if os.geteuid() == 0:
        settings |= _AS_ROOT
    return {**settings, **environment}


def _places(candidate: Candidate) -> Iterator[Path]:
    if candidate.wrapper is not None:
        names = list(link_names(candidate.wrapper))
        for name in reversed(names):
            if name.suffix and name.stem == "mpicc":
                yield from (name.parent / f"{launcher}{name.suffix}" for launcher in _LAUNCHERS)
        for folder in dict.fromkeys([names[0].parent, command_file(names[0]).parent]):
            yield from (folder / launcher for launcher in _LAUNCHERS)
    for folder in search_path(candidate.environment):
        yield from (folder / launcher for launcher in _LAUNCHERS)
