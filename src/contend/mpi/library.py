"""An MPI library as it turned out when it was tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path


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
        place = next((at for at, one in enumerate(kept) if _same(one, library)), None)
        if place is None:
            kept.append(library)
            continue
        first, second = kept[place], library
        if second.usable and not first.usable:
            first, second = second, first
        kept[place] = replace(first, also=(*first.also, second.wrapper, *second.also))
    return kept


def _same(one: Library, other: Library) -> bool:
    return bool(one.file) and Path(one.file).resolve() == Path(other.file).resolve()
