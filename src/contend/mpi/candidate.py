"""Where an MPI library may be: a compiler wrapper, before anybody has tried it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Wrappers of C compilers: everybody's, Debian's for each library, and Intel's for each compiler.
_WRAPPERS = ("mpicc", "mpicc.*", "mpicc-*", "mpiicx", "mpiicc", "mpigcc")


@dataclass(frozen=True)
class Candidate:
    """A wrapper and how it was found, or a place where one should be and is not.

    Attributes:
        origin: how it was found, such as ``PATH`` or ``module openmpi/4.1``.
        wrapper: the compiler wrapper; None when there is none.
        missing: why there is no wrapper, or "".
        environment: the whole environment that its programs need.
    """

    origin: str
    wrapper: Path | None
    missing: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def wrappers_in(folder: Path) -> list[Path]:
    """The compiler wrappers in a folder, general names first; two names of one file count once."""
    found: dict[Path, Path] = {}
    for pattern in _WRAPPERS:
        for path in sorted(_matches(folder, pattern)):
            found.setdefault(command_file(path), path)
    return list(found.values())


def command_file(path: Path) -> Path:
    """What a command is in the end, when links between commands are followed.

    The last link is kept where several commands share one program that goes by its own name, as
    Open MPI's wrappers do.
    """
    while path.is_symlink():
        target = path.parent / path.readlink()
        if target.name.endswith("_wrapper"):
            break
        path = target
    return path.parent.resolve() / path.name


def link_names(path: Path) -> Iterator[Path]:
    """A command and the commands that it is a link to, one after the other."""
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path


def search_path(environment: Mapping[str, str]) -> list[Path]:
    """The folders in which the shell looks for commands; missing ones left out."""
    named = environment.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in map(Path, named) if folder.is_absolute() and folder.is_dir()]


def is_program(path: Path) -> bool:
    """Whether this can be started."""
    return path.is_file() and os.access(path, os.X_OK)


def _matches(folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if is_program(path)]
    except OSError:
        return []
