"""Programs that the machine offers to tests, tried before a test may rely on them.

A name on the search path is no working program: a compiler wrapper may lack its compiler, a
launcher its library, OpenSM the simulator that it is run against. Each is tried once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from contend.lab.mpi import launch_environment

_C = "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }\n"
_FORTRAN = (
    "program try\n  use mpi_f08\n  implicit none\n"
    "  call MPI_Init()\n  call MPI_Finalize()\nend program\n"
)
# What a program needs beside it in a test, whichever test that is: no test asks for it by itself.
_BESIDE = {
    "opensm": ("ibsim",),
    "slurmctld": ("slurmd", "munged", "sinfo", "squeue", "sbatch", "srun", "scancel", "scontrol"),
}
_LIMIT = 60.0
# Debian installs subnet managers where only root's search path looks.
MORE_FOLDERS = "/usr/sbin:/sbin"


@cache
def found(program: str) -> str | None:
    """The path of a program."""
    return shutil.which(program) or shutil.which(program, path=MORE_FOLDERS)


@cache
def lacking(program: str) -> str:
    """Why a test can't use a program, "" if it can."""
    path = found(program)
    if path is None:
        return f"the program {program} is not installed"
    for other in _BESIDE.get(program, ()):
        if why := lacking(other):
            return f"{program} stands alone: {why}"
    if program == "ibsim" and simulated_device() is None:
        return "the library of ibsim is not installed"
    if why := _unloadable(path):
        return f"{program} does not start: {why}"
    kind, _, library = Path(program).name.partition(".")
    if library and kind in ("mpicc", "mpic++", "mpicxx"):
        # Who asks for a wrapper runs what it compiles.
        return unusable(path, f"mpirun.{library}")
    if library and kind in ("mpifort", "mpif90", "mpif77"):
        return _tried(f"{program} does not compile", path, None, "try.f90", _FORTRAN)
    if library and kind in ("mpirun", "mpiexec"):
        return _ended(f"{program} does not launch", [path, "-n", "1", "/bin/true"])
    return ""


@cache
def simulated_device() -> Path | None:
    """The library of ibsim that stands in for the kernel's InfiniBand device."""
    for root in (Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/local/lib")):
        for pattern in ("umad2sim/libumad2sim.so", "*/umad2sim/libumad2sim.so"):
            if libraries := sorted(root.glob(pattern)):
                return libraries[0]
    return None


@cache
def unusable(wrapper: str, launcher: str) -> str:
    """Why programs of an MPI library can't be compiled by one program and run by another."""
    if why := lacking(launcher):
        return why
    name = Path(wrapper).name
    return _tried(f"{name} and {launcher} do not work", wrapper, found(launcher), "try.c", _C)


def _tried(what: str, wrapper: str, launcher: str | None, name: str, text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, name), Path(folder, "try")
        source.write_text(text, encoding="ascii")
        why = _ended(what, [wrapper, str(source), "-o", str(program)])
        if launcher and not why:
            why = _ended(what, [launcher, "-n", "1", str(program)])
        return why


def _ended(what: str, command: Sequence[str], *, again: bool = True) -> str:
    """What is said of a command that fails, with the line that it wrote of it."""
    try:
        ended = subprocess.run(
            command,
            env=launch_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{what}: not done within {_LIMIT:g} s"
    except OSError as error:
        return f"{what}: {error.strerror}"
    if ended.returncode == 0:
        return ""
    # MPICH's launcher now and then dies of a broken pipe, where a program ends at once.
    if ended.returncode < 0 and again:
        return _ended(what, command, again=False)
    lines = [line.strip() for line in ended.stdout.splitlines() if line.strip(" -")]
    errors = [line for line in lines if "error" in line.lower()]
    return f"{what}: {next(iter(errors or lines), f'status {ended.returncode}')}"


def _unloadable(path: str) -> str:
    """The shared libraries that the loader does not find, if it is no script."""
    if shutil.which("ldd") is None:
        return ""
    told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    lost = [line.split()[0] for line in told.splitlines() if line.endswith("not found")]
    return f"it lacks {', '.join(lost)}" if lost else ""
