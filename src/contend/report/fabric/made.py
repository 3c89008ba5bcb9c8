"""A generated fabric, and the list of generators."""

from __future__ import annotations

from typing import Annotated

import msgspec

from contend.fabric import Fabric, catalogue
from contend.report.document import Document, filled
from contend.report.table import ResultTable
from contend.units import counted


class MadeFabricJson(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a generated fabric."""

    name: Annotated[str, "its specification."]
    hosts: Annotated[int, "number of hosts."]
    switches: Annotated[int, "number of switches."]
    cables: Annotated[int, "number of cables between switches."]
    channels: Annotated[int, "number of directions of cables, including those of hosts."]


class FindingJson(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was left out of the fabric."""

    kind: Annotated[str, "what kind of thing."]
    message: Annotated[str, "the sentence that names it."]


class MadeJson(msgspec.Struct, frozen=True, kw_only=True):
    """A generated fabric."""

    verdict: Annotated[str, "its size, and where it is, in words."]
    spec: Annotated[str, "the generator with its parameters."]
    seed: Annotated[int, "of the choice of what is left out."]
    fabric: Annotated[MadeFabricJson, "its size."]
    engine: Annotated[str | None, "the routing engine; null if no routes were computed."]
    findings: Annotated[list[FindingJson], "what was left out."]
    file: Annotated[str, "where it was written."]


class GeneratorJson(msgspec.Struct, frozen=True, kw_only=True):
    """A generator."""

    name: Annotated[str, "what stands before the colon."]
    form: Annotated[str, "the whole specification; optional parameters are in brackets."]
    summary: Annotated[str, "what it makes."]
    example: Annotated[str, "a small specification that works."]


class GeneratorsJson(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `--list`."""

    families: Annotated[list[GeneratorJson], "all generators."]


def made_document(
    fabric: Fabric, generator: str, output: str, seed: int, *, with_routes: bool
) -> Document:
    """A generated fabric, and which file has it, with its routes or without."""
    engine = None if fabric.routes is None else fabric.routes.engine
    routed = "" if engine is None else f", routes by {engine}"
    if engine is not None and not with_routes:
        routed = f", LIDs as {engine} gave them, but no routes, which such a file does not hold"
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
    return Document(record=record)


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
