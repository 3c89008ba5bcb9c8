"""The MPI libraries of this machine as tables."""

from __future__ import annotations

from collections.abc import Sequence

from contend.mpi import Library
from contend.report.result_table import ResultTable

_NO_NUMBER = "?"


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
    said = []
    for library in libraries:
        said += [f"{library.wrapper}: {note}" for note in library.notes]
        if library.also:
            said.append(f"{library.wrapper}: the same library as {', '.join(library.also)}")
    return said
