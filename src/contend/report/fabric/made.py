"""A generated fabric, and the list of generators, as JSON."""

from __future__ import annotations

import msgspec

from contend.fabric import Fabric, catalogue


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
        spec: the generator with its parameters.
        seed: of the choice of what is left out.
        fabric: its size.
        engine: the routing engine; null if no routes were computed.
        findings: what was left out.
        file: where it was written.
    """

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


def made_json(fabric: Fabric, generator: str, output: str, seed: int) -> MadeJson:
    """The result of ``contend fabric make --json``."""
    return MadeJson(
        spec=generator,
        seed=seed,
        fabric=msgspec.convert(fabric, MadeFabricJson, from_attributes=True),
        engine=None if fabric.routes is None else fabric.routes.engine,
        findings=msgspec.convert(fabric.findings, list[FindingJson], from_attributes=True),
        file=output,
    )


def generators_json() -> GeneratorsJson:
    """The result of ``contend fabric make --list --json``."""
    return GeneratorsJson(
        families=msgspec.convert(catalogue(), list[GeneratorJson], from_attributes=True)
    )
