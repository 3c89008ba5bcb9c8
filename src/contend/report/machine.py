"""What contend can do on this machine, and its MPI libraries."""

from __future__ import annotations

from collections.abc import Sequence

from contend.base.units import counted, verb
from contend.lab.machine import Diagnosis
from contend.lab.mpi import Libraries, Library
from contend.report.document import Document
from contend.report.table import Columns, table_of


def diagnosis_document(diagnosis: Diagnosis) -> Document:
    """What this machine can do, what was found, and what to do for the rest."""
    table = table_of(
        "What contend can do here",
        diagnosis.abilities,
        {
            "to": "name",
            "here": lambda ability: "yes" if ability.usable else "no",
            "found": "found",
            "what to do": "remedy",
            "needed for": "purpose",
        },
        tones={"yes": "green", "no": "yellow"},
    )
    return Document(verdict=diagnosis.verdict, tables=[table], record=diagnosis)


def mpi_document(found: Libraries) -> Document:
    """Which libraries are usable, and why others are not."""
    usable = [library for library in found.libraries if library.usable]
    others = [library for library in found.libraries if not library.usable]
    tables = []
    columns: Columns[Library]
    if usable:
        columns = {
            "library": "name",
            "version": lambda library: library.version or "?",
            "standard": "standard",
            "wrapper": "wrapper",
            "launcher": "launcher",
            "found by": "origin",
        }
        note = "\n ".join(_remarks(usable))
        tables.append(table_of("Usable MPI libraries", usable, columns, note=note))
    if others:
        columns = {
            "wrapper": lambda library: library.wrapper or "none",
            "found by": "origin",
            "why": _why,
        }
        tables.append(table_of("Not usable", others, columns))
    return Document(verdict=_verdict(found, usable), tables=tables, record=found)


def _verdict(found: Libraries, usable: Sequence[Library]) -> str:
    """How many are usable, and by which one programs are built where nobody says."""
    if not found.libraries:
        return "No MPI library was found."
    of = f"{len(usable)} of {counted(len(found.libraries), 'MPI library')}"
    first = f"; the first is {usable[0].name} {usable[0].version}".rstrip() if usable else ""
    return f"{of} {verb(len(usable), 'is')} usable{first}."


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
