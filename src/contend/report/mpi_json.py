"""The MPI libraries of this machine as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from contend.mpi import Library


def mpi_json(libraries: Sequence[Library]) -> dict[str, Any]:
    """Everything about each library but the environment, which may hold secrets."""
    return {
        "usable": sum(library.usable for library in libraries),
        "libraries": [_library(library) for library in libraries],
    }


def _library(library: Library) -> dict[str, Any]:
    return {
        "name": library.name,
        "version": library.version,
        "standard": library.standard,
        "usable": library.usable,
        "why": library.why,
        "wrapper": library.wrapper,
        "launcher": library.launcher,
        "size": library.size,
        "origin": library.origin,
        "file": library.file,
        "also": library.also,
        "notes": library.notes,
        "reported": library.reported,
    }
