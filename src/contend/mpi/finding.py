"""Every place where a compiler wrapper of an MPI library may be on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from contend.errors import UsageError
from contend.mpi import modules, wheels
from contend.mpi.candidate import Candidate, command_file, is_program, search_path, wrappers_in
from contend.mpi.process import Run, run_process

_LIMIT = 10.0


def find(
    prefixes: Sequence[Path] = (),
    *,
    environment: Mapping[str, str] | None = None,
    run: Run = run_process,
) -> list[Candidate]:
    """Candidates in the order of their claim: named, on PATH, Debian's, Python's, modules'.

    Args:
        prefixes: folders that hold ``bin/mpicc``, folders that hold ``mpicc``, or wrappers.
        environment: in which to look and compile; None for this process's own.
        run: runs programs.

    Raises:
        UsageError: when a prefix does not exist.
    """
    environment = dict(os.environ if environment is None else environment)
    found = [
        *(named for prefix in prefixes for named in _in_prefix(prefix, environment)),
        *_wrappers("PATH", search_path(environment), environment),
        *_alternatives(environment, run),
        *wheels.find(environment),
        *modules.find(environment, run),
    ]
    return list(_each_once(found))


def _in_prefix(prefix: Path, environment: Mapping[str, str]) -> list[Candidate]:
    if not prefix.exists():
        raise UsageError(f"--mpi {prefix}: no such folder or program")
    origin = f"--mpi {prefix}"
    place = Path(os.path.abspath(prefix))
    if place.is_file():
        return [Candidate(origin, place, environment=environment)]
    found = _wrappers(origin, [place / "bin", place], environment)
    return found or [Candidate(origin, None, "no compiler wrapper there", environment)]


def _wrappers(
    origin: str, folders: Iterable[Path], environment: Mapping[str, str]
) -> list[Candidate]:
    return [
        Candidate(origin, wrapper, environment=environment)
        for folder in folders
        for wrapper in wrappers_in(folder)
    ]


def _alternatives(environment: Mapping[str, str], run: Run) -> list[Candidate]:
    """What Debian's alternatives know; more than PATH only where that leaves out /usr/bin."""
    told = run(["update-alternatives", "--query", "mpi"], environment, _LIMIT)
    listed = map(Path, re.findall(r"^Alternative: (/.*)$", told.text, re.MULTILINE))
    return [
        Candidate("alternatives", path, environment=environment)
        for path in listed
        if is_program(path)
    ]


def _each_once(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    known: set[Path] = set()
    for candidate in candidates:
        if candidate.wrapper is not None:
            file = command_file(candidate.wrapper)
            if file in known:
                continue
            known.add(file)
        yield candidate
