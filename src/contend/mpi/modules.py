"""MPI libraries that environment modules bring (Lmod or Environment Modules)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from contend.mpi.candidate import Candidate, search_path, wrappers_in
from contend.mpi.process import Finished, Run

# Both kinds set these in every shell that has the module command.
_COMMAND_VARIABLES = ("LMOD_CMD", "MODULES_CMD")
_LIMIT = 30.0
_LIBRARY = re.compile(
    r"(?:^|/)(?:(?:intel|oneapi|cray|ibm|hpe|bullx|platform)[-_]?)*"
    r"(?:openmpi|ompi|mpich|mvapich|impi|mpi|hpcx|mpt|spectrum-?mpi|psmpi|parastationmpi)"
    r"\d*(?![a-z0-9])",
    re.IGNORECASE,
)
# The module's own code runs in a shell, which then tells what has become of the environment.
_LOAD = 'code=$("$0" bash load "$1") && eval "$code" && exec env -0'


def find(environment: Mapping[str, str], run: Run) -> list[Candidate]:
    """The wrappers that each module of an MPI library adds to PATH."""
    command = _command(environment)
    if command is None:
        return []
    listed = run([command, "bash", "-t", "avail"], environment, _LIMIT)
    loaded = environment.get("LOADEDMODULES", "").split(":")
    found = []
    for name in mpi_modules(_said(listed)):
        # The wrappers of a loaded module are on PATH already.
        if name not in loaded:
            found += _brought_by(name, command, environment, run)
    return found


def mpi_modules(listing: str) -> list[str]:
    """Those of the modules that ``module -t avail`` lists which are named after an MPI library."""
    lines = (re.sub(r"\(.*\)$|@$", "", line.strip()) for line in listing.splitlines())
    # A line that ends in a colon names a folder of modules, one that ends in a slash a family.
    names = (line for line in lines if line and not line.endswith((":", "/")) and " " not in line)
    return list(dict.fromkeys(name for name in names if _LIBRARY.search(name)))


def _command(environment: Mapping[str, str]) -> str | None:
    for variable in _COMMAND_VARIABLES:
        named = environment.get(variable)
        if named and (found := shutil.which(named)):
            return found
    return shutil.which("modulecmd", path=environment.get("PATH"))


def _said(finished: Finished) -> str:
    # Which of the two streams the list goes to differs between kinds and versions.
    return f"{finished.text}\n{finished.errors.decode(errors='replace')}"


def _brought_by(
    name: str, command: str, environment: Mapping[str, str], run: Run
) -> list[Candidate]:
    origin = f"module {name}"
    loaded = run(["bash", "-c", _LOAD, command, name], environment, _LIMIT)
    changed = _environment(loaded.output) if loaded.status == 0 else {}
    if not changed:
        return [Candidate(origin, None, f"does not load: {loaded.why()}", environment)]
    usual = set(search_path(environment))
    added = [folder for folder in search_path(changed) if folder not in usual]
    wrappers: list[Path] = [wrapper for folder in added for wrapper in wrappers_in(folder)]
    if not wrappers:
        return [Candidate(origin, None, "brings no compiler wrapper", environment)]
    return [Candidate(origin, wrapper, environment=changed) for wrapper in wrappers]


def _environment(listing: bytes) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in listing.decode(errors="surrogateescape").split("\0"))
    return {name: value for name, equals, value in pairs if equals}
