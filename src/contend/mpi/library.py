"""An MPI library as the trial found it, and how it names itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

# Derived libraries first: they tend to mention what they are made from.
_NAMES = (
    ("Intel MPI", r"Intel\(R\) MPI Library (\d[\w.]*)"),
    ("MVAPICH", r"MVAPICH\w*\s+Version\s*:\s*(\d[\w.]*)"),
    ("Cray MPICH", r"CRAY MPICH version (\d[\w.]*)"),
    ("ParaStation MPI", r"(?:ParaStation MPI|psmpi)\D*(\d[\w.]*)"),
    ("HPE MPT", r"(?:HPE|SGI) (?:HMPT|MPT) (\d[\w.]*)"),
    ("Spectrum MPI", r"Spectrum MPI v(\d[\w.]*)"),
    ("MPICH", r"MPICH\s+Version\s*:\s*(\d[\w.]*)"),
    ("Open MPI", r"Open MPI v(\d[\w.]*)"),
)
LIBRARIES = tuple(name for name, _ in _NAMES)


@dataclass(frozen=True)
class Library:
    """One MPI library of this machine.

    Attributes:
        origin: how it was found, such as ``PATH`` or ``module openmpi/4.1``.
        wrapper: its compiler wrapper; "" when there is none.
        usable: whether a probe compiles and two ranks of it find each other.
        why: why it is not usable, in one line; "" when it is.
        name: such as ``Open MPI``; "" when no probe ran.
        version: the number of its version, as the library reports it.
        standard: version of the MPI standard that it follows, such as ``3.1``.
        reported: the whole text of its MPI_Get_library_version.
        file: the shared library that a probe loads; "" when none could be told.
        launcher: what starts its ranks; "" when nothing does.
        size: how many ranks found each other when two were started; 0 when none ran.
        also: other wrappers that lead to the same library.
        notes: what a user should know, such as a launcher that belongs to another library.
        environment: the whole environment that its programs need.
    """

    origin: str
    wrapper: str
    usable: bool
    why: str = ""
    name: str = ""
    version: str = ""
    standard: str = ""
    reported: str = ""
    file: str = ""
    launcher: str = ""
    size: int = 0
    also: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)


def merge(libraries: Iterable[Library]) -> list[Library]:
    """Every library once: those whose probes load the same file are one.

    The first usable wrapper speaks for the library, the others are its `also`. Libraries that no
    file identifies stay by themselves.
    """
    kept: list[Library] = []
    for library in libraries:
        index = next((at for at, other in enumerate(kept) if _same(other, library)), None)
        if index is None:
            kept.append(library)
            continue
        first, second = kept[index], library
        if second.usable and not first.usable:
            first, second = second, first
        kept[index] = replace(first, also=(*first.also, second.wrapper, *second.also))
    return kept


def recognise(text: str) -> tuple[str, str]:
    """Name and version of the library whose MPI_Get_library_version is `text`.

    A library that is not known is called by the first words of it, and has no version.
    """
    for name, pattern in _NAMES:
        if match := re.search(pattern, text):
            return name, match[1]
    words = re.split(r"[,\n]", text.strip(), maxsplit=1)[0].strip()
    return words[:60] or "unnamed", ""


def _same(first: Library, second: Library) -> bool:
    return bool(first.file) and Path(first.file).resolve() == Path(second.file).resolve()
