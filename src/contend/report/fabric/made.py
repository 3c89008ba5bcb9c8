"""A generated fabric, and the list of generators."""

from __future__ import annotations

import msgspec

from contend.fabric import Fabric, catalogue
from contend.report.document import Document, filled
from contend.report.table import ResultTable
from contend.units import counted


class MadeFabricJson(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a generated fabric.

    Attributes:
        name: its specification.
        hosts: number of hosts.
        switches: number of switches.
        cables: number of cables between switches.
        channels: number of directions of cables, including those of hosts.
    """

    name: str
    hosts: int
    switches: int
    cables: int
    channels: int


class FindingJson(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was left out of the fabric.

    Attributes:
        kind: what kind of thing.
        message: the sentence that names it.
    """

    kind: str
    message: str


class MadeJson(msgspec.Struct, frozen=True, kw_only=True):
    """A generated fabric.

    Attributes:
        verdict: its size, and where it is, in words.
        spec: the generator with its parameters.
        seed: of the choice of what is left out.
        fabric: its size.
        engine: the routing engine; null if no routes were computed.
        findings: what was left out.
        file: where it was written.
    """

    verdict: str
    spec: str
    seed: int
    fabric: MadeFabricJson
    engine: str | None
    findings: list[FindingJson]
    file: str


class GeneratorJson(msgspec.Struct, frozen=True, kw_only=True):
    """A generator.

    Attributes:
        name: what stands before the colon.
        form: the whole specification; optional parameters are in brackets.
        summary: what it makes.
        example: a small specification that works.
    """

    name: str
    form: str
    summary: str
    example: str


class GeneratorsJson(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `--list`.

    Attributes:
        families: all generators.
    """

    families: list[GeneratorJson]


def made_document(fabric: Fabric, generator: str, output: str, seed: int) -> Document:
    """A generated fabric, and which file has it."""
    engine = None if fabric.routes is None else fabric.routes.engine
    routed = "" if engine is None else f", routes by {engine}"
    verdict = (
        f"{fabric.name}: {counted(fabric.hosts, 'host')}, {counted(fabric.switches, 'switch')}, "
        f"{counted(fabric.cables, 'cable')} between them{routed}, written to {output}"
    )
    record = MadeJson(
        verdict=verdict,
        spec=generator,
        seed=seed,
        fabric=filled(MadeFabricJson, fabric),
        engine=engine,
        findings=msgspec.convert(fabric.findings, list[FindingJson], from_attributes=True),
        file=output,
    )
    return Document(verdict=verdict, record=record)


def generators_document() -> Document:
    """All generators."""
    families = catalogue()
    return Document(
        tables=[
            ResultTable(
                title=counted(len(families), "generator"),
                columns=("form", "what it is", "example"),
                rows=tuple((each.form, each.summary, each.example) for each in families),
            )
        ],
        record=GeneratorsJson(
            families=msgspec.convert(families, list[GeneratorJson], from_attributes=True)
        ),
    )
