"""The MPI libraries of this machine as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from contend.mpi import Library
from contend.report.document import Document
from contend.report.table import ResultTable
from contend.units import counted, verb

_NO_NUMBER = "?"


def mpi_document(libraries: Sequence[Library]) -> Document:
    """Which libraries are usable, and why others are not."""
    return Document(
        tables=mpi_tables(libraries),
        record=LibrariesJson(
            verdict=mpi_verdict(libraries),
            usable=sum(library.usable for library in libraries),
            libraries=msgspec.convert(libraries, list[FoundLibraryJson], from_attributes=True),
        ),
    )


def mpi_verdict(libraries: Sequence[Library]) -> str:
    """How many are usable, and by which one programs are built where nobody says."""
    usable = [library for library in libraries if library.usable]
    if not libraries:
        return "No MPI library was found."
    of = f"{len(usable)} of {counted(len(libraries), 'MPI library')}"
    first = f"; the first is {usable[0].name} {usable[0].version}".rstrip() if usable else ""
    return f"{of} {verb(len(usable), 'is')} usable{first}."


def mpi_tables(libraries: Sequence[Library]) -> list[ResultTable]:
    """A table of what is usable and, where there is any, one of what is not and why."""
    usable = [library for library in libraries if library.usable]
    others = [library for library in libraries if not library.usable]
    tables = []
    if usable:
        tables.append(
            ResultTable(
                title="Usable MPI libraries",
                columns=("library", "version", "standard", "wrapper", "launcher", "found by"),
                rows=tuple(_row(library) for library in usable),
                note="\n ".join(_remarks(usable)),
            )
        )
    if others:
        tables.append(
            ResultTable(
                title="Not usable",
                columns=("wrapper", "found by", "why"),
                rows=tuple(
                    (_wrapper(library), library.origin, _why(library)) for library in others
                ),
            )
        )
    return tables


def _row(library: Library) -> tuple[str, ...]:
    return (
        library.name,
        library.version or _NO_NUMBER,
        library.standard,
        library.wrapper,
        library.launcher,
        library.origin,
    )


def _wrapper(library: Library) -> str:
    return library.wrapper or "none"


def _why(library: Library) -> str:
    name = f"{library.name} {library.version}: ".replace(" :", ":") if library.name else ""
    return f"{name}{library.why}"


def _remarks(libraries: Sequence[Library]) -> list[str]:
    remarks = []
    for library in libraries:
        remarks += [f"{library.wrapper}: {note}" for note in library.notes]
        if library.also:
            remarks.append(f"{library.wrapper}: the same library as {', '.join(library.also)}")
    return remarks


class FoundLibraryJson(msgspec.Struct, frozen=True, kw_only=True):
    """An MPI library; its environment is left out, as it may hold secrets."""

    name: Annotated[str, 'what it calls itself; "" where no probe ran.']
    version: Annotated[str, "its version."]
    standard: Annotated[str, "version of the MPI standard that it follows."]
    usable: Annotated[bool, "whether a probe compiles and two of its ranks find each other."]
    why: Annotated[str, 'why it is not usable; "" where it is.']
    wrapper: Annotated[str, 'its compiler wrapper; "" where there is none.']
    launcher: Annotated[str, 'what starts its ranks; "" where nothing does.']
    size: Annotated[int, "how many ranks found each other when two were started."]
    origin: Annotated[str, "how it was found."]
    file: Annotated[str, "the shared library that a probe loads."]
    also: Annotated[list[str], "other wrappers that lead to the same library."]
    notes: Annotated[list[str], "what a user should know."]
    reported: Annotated[str, "the whole text with which it describes itself."]


class LibrariesJson(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI libraries of a machine."""

    verdict: Annotated[str, "how many can be used, in words."]
    usable: Annotated[int, "how many can be used."]
    libraries: Annotated[list[FoundLibraryJson], "all that were found."]
