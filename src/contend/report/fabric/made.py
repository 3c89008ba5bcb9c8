"""A generated fabric, and the list of generators."""

from __future__ import annotations

from dataclasses import dataclass

from contend.base.schema import PythonOnly, told
from contend.base.shown import Shown
from contend.base.units import counted
from contend.fabric import Fabric, Family, Finding, catalogue
from contend.report.document import Document
from contend.report.table import table_of


@dataclass(frozen=True)
class MadeSize:
    """The size of a generated fabric."""

    name: str
    """Its specification."""
    hosts: int
    """Number of hosts."""
    switches: int
    """Number of switches."""
    cables: int
    """Number of cables between switches."""
    channels: int
    """Number of directions of cables, including those of hosts."""


@dataclass(frozen=True, eq=False)
class Made(Shown, told="made_document"):
    """A generated fabric that was written to a file."""

    made: PythonOnly[Fabric]
    """The fabric."""
    spec: str
    """Generator with its parameters."""
    file: str
    """File that it was written to."""
    seed: int
    """Seed of the choice of what is left out."""
    with_routes: PythonOnly[bool]
    """Whether the file holds its routes."""

    @told
    def fabric(self) -> MadeSize:
        """Size of the fabric."""
        made = self.made
        return MadeSize(made.name, made.hosts, made.switches, made.cables, made.channels)

    @told
    def engine(self) -> str | None:
        """Routing engine; null if no routes were computed."""
        return None if self.made.routes is None else self.made.routes.engine

    @told
    def findings(self) -> tuple[Finding, ...]:
        """What was left out."""
        return self.made.findings


@dataclass(frozen=True)
class Generators:
    """The result of `--list`."""

    families: tuple[Family, ...]
    """All generators."""


def made_document(found: Made) -> Document:
    """A generated fabric, and which file has it, with its routes or without."""
    fabric, engine = found.made, found.engine
    routed = "" if engine is None else f", routes by {engine}"
    if engine is not None and not found.with_routes:
        routed = f", LIDs as {engine} gave them, but no routes, which such a file does not hold"
    verdict = (
        f"{fabric.name}: {counted(fabric.hosts, 'host')}, {counted(fabric.switches, 'switch')}, "
        f"{counted(fabric.cables, 'cable')} between them{routed}, written to {found.file}"
    )
    return Document(verdict=verdict, record=found)


def generators_document() -> Document:
    """All generators."""
    families = catalogue()
    columns = {"form": "form", "what it is": "summary", "example": "example"}
    return Document(
        tables=[table_of(counted(len(families), "generator"), families, columns)],
        record=Generators(families),
    )
