"""A study's plan: patterns on fabrics under routings, and what is known of them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

Name = Annotated[str, Meta(min_length=1, max_length=80)]
Positive = Annotated[int, Meta(ge=1)]
Average = Literal["effective_bandwidth", "of_mean_congestion", "of_max_congestion"]


class FabricEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A fabric of the plan.

    Attributes:
        name: what it is called in tables and figures.
        source: a generator or a topology file.
        routes: a file of forwarding tables.
        engines: routings to compute; None takes the plan's, or the fabric's own when it has
            `routes`. An empty name stands for the fabric's own routes.
    """

    name: Name
    source: Name
    routes: str | None = None
    engines: tuple[str, ...] | None = None


class PatternEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A pattern of the plan; what is None is taken from the plan.

    Attributes:
        name: what it is called in tables and figures.
        pattern: its specification, such as ``neighbour:6``.
        placement: which rank sits on which host.
        samples: how many to draw.
        fabrics: names of the fabrics it runs on; None is all.
    """

    name: Name
    pattern: Name
    placement: str | None = None
    samples: Positive | None = None
    fabrics: tuple[str, ...] | None = None


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """A number known from elsewhere, printed beside ours.

    Attributes:
        fabric: name of a fabric of the plan.
        pattern: name of a pattern of the plan.
        percent: the bandwidth, in per cent of the link speed.
        source: whose number it is.
        engine: the routing it was found with; None: unknown, it stands beside every routing.
        average: which average it is; None is the plan's.
    """

    fabric: str
    pattern: str
    percent: Annotated[float, Meta(gt=0, le=10_000)]
    source: Name
    engine: str | None = None
    average: Average | None = None


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole study.

    Attributes:
        name: what it is called; its run folder, too.
        fabrics: in the order in which they run.
        patterns: in the order in which they run.
        title: what it is about.
        engines: routings for every fabric that names none.
        placement: which rank sits on which host.
        samples: patterns and placements to draw for a cell.
        precision: relative half-width of the interval at which a cell may stop before.
        seed: of all random choices.
        average: which average is compared first.
        references: numbers known from elsewhere.
        notes: sentences that readers of the results must know.
    """

    name: Name
    fabrics: Annotated[tuple[FabricEntry, ...], Meta(min_length=1)] = field(name="fabric")
    patterns: Annotated[tuple[PatternEntry, ...], Meta(min_length=1)] = field(name="pattern")
    title: str = ""
    engines: tuple[str, ...] = ()
    placement: str = "random"
    samples: Positive = 10_000
    precision: Annotated[float, Meta(gt=0, lt=1)] | None = None
    seed: Annotated[int, Meta(ge=0)] = 1
    average: Average = "effective_bandwidth"
    references: tuple[Reference, ...] = field(default=(), name="reference")
    notes: tuple[str, ...] = ()

    def engines_of(self, fabric: FabricEntry) -> tuple[str, ...]:
        """Routings of a fabric; an empty name stands for its own routes."""
        if fabric.engines is not None:
            return fabric.engines or ("",)
        return ("",) if fabric.routes is not None else self.engines or ("",)

    def patterns_of(self, fabric: FabricEntry) -> tuple[PatternEntry, ...]:
        """Patterns that run on a fabric."""
        return tuple(p for p in self.patterns if p.fabrics is None or fabric.name in p.fabrics)

    def cells(self) -> Iterator[Cell]:
        """All cells in the order in which they run: by fabric, routing, pattern."""
        for fabric in self.fabrics:
            for engine in self.engines_of(fabric):
                for pattern in self.patterns_of(fabric):
                    yield Cell(fabric, engine, pattern)

    def only(self, fabrics: tuple[str, ...]) -> Plan:
        """The plan for some of its fabrics."""
        kept = tuple(fabric for fabric in self.fabrics if fabric.name in fabrics)
        return msgspec.structs.replace(self, fabrics=kept)

    def with_samples(self, samples: int) -> Plan:
        """The plan with so many samples for every cell."""
        patterns = tuple(msgspec.structs.replace(p, samples=None) for p in self.patterns)
        return msgspec.structs.replace(self, samples=samples, patterns=patterns)

    def with_seed(self, seed: int) -> Plan:
        """The plan with another seed."""
        return msgspec.structs.replace(self, seed=seed)


@dataclass(frozen=True)
class Cell:
    """One pattern on one fabric under one routing; what a study counts in."""

    fabric: FabricEntry
    engine: str
    pattern: PatternEntry

    @property
    def label(self) -> str:
        """The cell for people."""
        return ", ".join(filter(None, (self.fabric.name, self.engine, self.pattern.name)))
