"""Which form a launcher has: told by its name, or by what it says of its version."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from contend.errors import MissingError, UsageError
from contend.mpi.launch import hydra, openmpi, prefix, prrte, srun
from contend.mpi.launch.form import Form, Launcher
from contend.mpi.launch.request import Launch
from contend.mpi.process import run_process

_LIMIT = 20.0
_OPEN_MPI = re.compile(r"\((?:Open ?MPI|OpenRTE|PRRTE|PMIx Reference RTE)\) (\d+)", re.IGNORECASE)
_HYDRA = re.compile(r"HYDRA build details|Intel\(R\) MPI Library", re.IGNORECASE)
# The bare words mean the library's own launcher, wherever it is.
_OWN = ("mpirun", "mpiexec")


def choose(launch: Launch) -> Launcher:
    """The launcher of a launch, and how to talk to it.

    Raises:
        UsageError: when the command line cannot be read.
        MissingError: when there is no such program.
    """
    words = split(launch.launcher) or [_OWN[0]]
    if words[0] in _OWN and launch.library.launcher:
        words[0] = launch.library.launcher
    program = shutil.which(words[0], path=launch.variables().get("PATH"))
    if program is None:
        raise MissingError(f"the launcher {words[0]} is not installed")
    words[0] = program
    if prefix.has_places(words):
        return Launcher(prefix.PLACES, tuple(words))
    return Launcher(_form(Path(program), launch), tuple(words))


def split(command: str) -> list[str]:
    """The words of a command line.

    Raises:
        UsageError: when a quote is left open.
    """
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--launcher {command}: {error}") from None


def _form(program: Path, launch: Launch) -> Form:
    if program.name == "srun":
        return srun.SRUN
    if not program.name.startswith(("mpirun", "mpiexec", "prterun")):
        return prefix.PREFIX
    told = run_process([str(program), "--version"], launch.variables(), _LIMIT)
    said = f"{told.text}\n{told.errors.decode(errors='replace')}"
    if match := _OPEN_MPI.search(said):
        # prterun counts PRRTE's versions, of which Open MPI 5 is the first to have any.
        five = int(match[1]) >= 5 or program.name == "prterun"
        return prrte.OPEN_MPI_5 if five else openmpi.OPEN_MPI_4
    return hydra.HYDRA if _HYDRA.search(said) else prefix.PREFIX
